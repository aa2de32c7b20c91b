/** Bracketed classes: POSIX names, nested sets and Ruby's escapes, compiled to one flat JavaScript class. */

import { RegexpFault } from "./regexp-tree.ts";

/** POSIX brackets as Ruby reads them: by Unicode. */
const POSIX: Readonly<Record<string, string>> = {
  alnum: "\\p{L}\\p{M}\\p{Nd}",
  alpha: "\\p{L}\\p{M}",
  ascii: "\\x00-\\x7f",
  blank: " \\t",
  cntrl: "\\p{Cc}",
  digit: "\\p{Nd}",
  graph: "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}",
  lower: "\\p{Ll}",
  print: "\\p{L}\\p{M}\\p{N}\\p{P}\\p{S}\\p{Zs}",
  punct: "\\p{P}\\p{S}",
  space: "\\s\\x85",
  upper: "\\p{Lu}",
  word: "\\p{L}\\p{M}\\p{Nd}\\p{Pc}",
  xdigit: "0-9A-Fa-f",
};

/** Ruby's escapes inside of a class that JavaScript has otherwise or not at all. */
const ESCAPES: Readonly<Record<string, string>> = {
  h: "0-9A-Fa-f",
  s: " \\t-\\r",
  e: "\\x1b",
  a: "\\x07",
  d: "\\d",
  D: "\\D",
  w: "\\w",
  W: "\\W",
  S: "\\x00-\\x08\\x0e-\\x1f!-\\uffff",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  f: "\\f",
  v: "\\v",
  b: "\\b",
  "0": "\\0",
};

export interface ClassText {
  /** JavaScript source with its brackets. */
  readonly source: string;
  /** Needs the u flag. */
  readonly unicode: boolean;
  /** Offset after the class. */
  readonly end: number;
}

/** Reads the class whose `[` is at `at`. Throws RegexpFault. */
export function readClass(text: string, at: number): ClassText {
  const negated = text[at + 1] === "^";
  const reader = new ClassReader(text, at + (negated ? 2 : 1));
  const inner = reader.read();
  return { source: `[${negated ? "^" : ""}${inner}]`, unicode: reader.unicode, end: reader.at };
}

/** Returns the JavaScript source of an escape `\p{…}` at `at`, without brackets, and its end. */
export function readProperty(text: string, at: number): { source: string; end: number } {
  const found = /^\\([pP])\{(\^?)([A-Za-z_]+)\}/.exec(text.slice(at, at + 64));
  if (found === null) throw new RegexpFault(`\\p at ${at + 1} is not closed; write \\p{Alpha}`);
  const [whole, letter = "p", caret = "", name = ""] = found;
  const posix = POSIX[name.toLowerCase()];
  const negated = (letter === "P") !== (caret === "^");
  const end = at + whole.length;
  if (posix === undefined) return { source: `\\${negated ? "P" : "p"}{${name}}`, end };
  if (negated) throw new RegexpFault(`\\P{${name}} at ${at + 1}: write [^[:${name.toLowerCase()}:]]`);
  return { source: posix, end };
}

class ClassReader {
  at: number;
  unicode = false;
  readonly #text: string;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  /** Reads to the closing bracket; returns what is inside. */
  read(): string {
    const text = this.#text;
    let source = "";
    const start = this.at;
    for (;;) {
      const character = text[this.at];
      if (character === undefined) throw new RegexpFault(`the class that begins at ${start} is never closed`);
      if (character === "]" && this.at > start) {
        this.at++;
        return source;
      }
      if (text.startsWith("&&", this.at))
        throw new RegexpFault(`&& in a class (at ${this.at + 1}) isn't supported; write the class out`);
      if (character === "[") source += this.#nested();
      else if (character === "\\") source += this.#escape();
      else source += this.#plain();
    }
  }

  /** `[:alpha:]`, or a set within the set. */
  #nested(): string {
    const posix = /^\[:(\^?)([a-z]+):\]/.exec(this.#text.slice(this.at, this.at + 16));
    if (posix !== null) {
      const [whole, caret = "", name = ""] = posix;
      const source = POSIX[name];
      if (source === undefined || caret !== "") throw new RegexpFault(`${whole} isn't a class`);
      this.at += whole.length;
      this.unicode ||= source.includes("\\p");
      return source;
    }
    if (this.#text[this.at + 1] === "^")
      throw new RegexpFault(
        `a negated set within a set (at ${this.at + 1}) isn't supported; write the class out`,
      );
    this.at++;
    return this.read();
  }

  #escape(): string {
    const text = this.#text;
    const letter = text[this.at + 1] ?? "";
    if (letter === "p" || letter === "P") {
      const { source, end } = readProperty(text, this.at);
      this.at = end;
      this.unicode = true;
      return source;
    }
    if (letter === "x" || letter === "u") {
      const found = /^\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})/.exec(text.slice(this.at, this.at + 6));
      if (found !== null) {
        this.at += found[0].length;
        return found[0];
      }
    }
    this.at += 2;
    const known = ESCAPES[letter];
    if (known !== undefined) return known;
    return /[\^$\\.*+?()[\]{}|/-]/.test(letter) ? `\\${letter}` : letter;
  }

  #plain(): string {
    const character = this.#text[this.at]!;
    this.at++;
    if (character !== "-") return /[\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
    // A hyphen that can't mean a range stands for itself, which the u flag wants to be explicit.
    const before = this.#text[this.at - 2];
    const after = this.#text[this.at];
    const afterSet = /\\[dwshDWSH]$|:\]$/.test(this.#text.slice(Math.max(0, this.at - 3), this.at - 1));
    const beforeSet = after === "[" || /^\\[dwshDWSHp]/.test(this.#text.slice(this.at, this.at + 2));
    const literal =
      before === "[" ||
      (before === "^" && this.#text[this.at - 3] === "[") ||
      after === "]" ||
      afterSet ||
      beforeSet;
    return literal ? "\\-" : "-";
  }
}
