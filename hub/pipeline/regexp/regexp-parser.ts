/** Reads a Ruby (Onigmo) regular expression into its tree. */

import { readClass, readProperty } from "./character-class.ts";
import { RegexpFault, type RegexpNode } from "./regexp-tree.ts";

/** Groups within groups. */
const MAX_DEPTH = 200;

/** Escapes outside of classes that JavaScript has otherwise or not at all. */
const ESCAPES: Readonly<Record<string, string>> = {
  h: "[0-9A-Fa-f]",
  H: "[^0-9A-Fa-f]",
  s: "[ \\t-\\r]",
  S: "[^ \\t-\\r]",
  R: "(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])",
  A: "(?:^)",
  z: "(?:$)",
  Z: "(?=\\n?$)",
  e: "\\x1b",
  a: "\\x07",
  d: "\\d",
  D: "\\D",
  w: "\\w",
  W: "\\W",
  b: "\\b",
  B: "\\B",
  n: "\\n",
  r: "\\r",
  t: "\\t",
  f: "\\f",
  v: "\\v",
  "0": "\\0",
};

const UNSUPPORTED: Readonly<Record<string, string>> = {
  G: "\\G (end of the last match)",
  K: "\\K (forget what was matched)",
  g: "\\g (a group called like a function)",
  X: "\\X (a grapheme)",
};

/** Returns the tree of `text`. Unnamed groups capture (under their number from 1) where `unnamedCapture` says so. Throws RegexpFault. */
export function parseRegexp(text: string, unnamedCapture: boolean): RegexpNode {
  return new RegexpParser(text, unnamedCapture).parse();
}

class RegexpParser {
  readonly #text: string;
  readonly #unnamedCapture: boolean;
  #at = 0;
  #depth = 0;
  #unnamed = 0;
  /** (?x): blanks and comments mean nothing. */
  #extended = false;

  constructor(text: string, unnamedCapture: boolean) {
    this.#text = text;
    this.#unnamedCapture = unnamedCapture;
  }

  parse(): RegexpNode {
    const node = this.#choice();
    if (this.#at < this.#text.length) throw new RegexpFault(`a ) at ${this.#at + 1} closes nothing`);
    return node;
  }

  /** Reads up to the end or a closing parenthesis. */
  #choice(): RegexpNode {
    if (++this.#depth > MAX_DEPTH) throw new RegexpFault(`more than ${MAX_DEPTH} nested groups`);
    const extended = this.#extended;
    const options = [this.#sequence()];
    while (this.#text[this.#at] === "|") {
      this.#at++;
      options.push(this.#sequence());
    }
    this.#extended = extended;
    this.#depth--;
    return options.length === 1 ? options[0]! : { kind: "choice", options };
  }

  #sequence(): RegexpNode {
    const items: RegexpNode[] = [];
    for (;;) {
      const character = this.#text[this.#at];
      if (character === undefined || character === "|" || character === ")") break;
      if (this.#extended && this.#skipBlank(character)) continue;
      const atom = this.#atom(character);
      if (atom !== undefined) items.push(this.#repeated(atom));
    }
    return items.length === 1 ? items[0]! : { kind: "sequence", items };
  }

  #skipBlank(character: string): boolean {
    if (/\s/.test(character)) {
      this.#at++;
      return true;
    }
    if (character !== "#") return false;
    const end = this.#text.indexOf("\n", this.#at);
    this.#at = end < 0 ? this.#text.length : end;
    return true;
  }

  /** Undefined: it stands for nothing. */
  #atom(character: string): RegexpNode | undefined {
    if (character === "(") return this.#group();
    if (character === "[") {
      const { source, unicode, end } = readClass(this.#text, this.#at);
      this.#at = end;
      return { kind: "text", source, unicode };
    }
    if (character === "\\") return this.#escape();
    this.#at++;
    if (character === "^") return { kind: "lineStart" };
    if (character === "$") return { kind: "lineEnd" };
    if (/[*+?]/.test(character)) throw new RegexpFault(`${character} at ${this.#at} repeats nothing`);
    if (/[{}\]/]/.test(character)) return { kind: "text", source: `\\${character}` };
    const code = this.#text.codePointAt(this.#at - 1)!;
    if (code <= 0xffff) return { kind: "text", source: character };
    this.#at++;
    return { kind: "text", source: String.fromCodePoint(code), unicode: true };
  }

  #escape(): RegexpNode {
    const text = this.#text;
    const letter = text[this.#at + 1];
    if (letter === undefined) throw new RegexpFault("a backslash ends the expression");
    const unsupported = UNSUPPORTED[letter];
    if (unsupported !== undefined) throw new RegexpFault(`${unsupported} at ${this.#at + 1} isn't supported`);
    if (letter === "p" || letter === "P") {
      const { source, end } = readProperty(text, this.#at);
      this.#at = end;
      return { kind: "text", source: `[${source}]`, unicode: true };
    }
    const rest = text.slice(this.#at, this.#at + 80);
    const special =
      /^\\(?:x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4})/.exec(rest) ??
      /^\\k<([^>]+)>/.exec(rest) ??
      /^\\([1-9])/.exec(rest);
    if (special !== null) {
      this.#at += special[0].length;
      return special[1] === undefined
        ? { kind: "text", source: special[0] }
        : { kind: "reference", name: special[1] };
    }
    this.#at += 2;
    const known = ESCAPES[letter];
    if (known !== undefined) return { kind: "text", source: known };
    return { kind: "text", source: /[\^$\\.*+?()[\]{}|/]/.test(letter) ? `\\${letter}` : letter };
  }

  #group(): RegexpNode | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 256);
    if (rest.startsWith("(?#")) {
      const end = this.#text.indexOf(")", this.#at);
      if (end < 0) throw new RegexpFault(`the comment at ${this.#at + 1} is never closed`);
      this.#at = end + 1;
      return undefined;
    }
    const named = /^\(\?<([^=!>][^>]*)>/.exec(rest) ?? /^\(\?'([^']+)'/.exec(rest);
    if (named !== null) return { kind: "capture", name: named[1]!, body: this.#inside(named[0].length) };
    if (rest.startsWith("(?>")) return { kind: "atomic", body: this.#inside(3) };
    const look = /^\((\?<?[=!])/.exec(rest);
    if (look !== null) return { kind: "special", opening: look[1]!, body: this.#inside(look[0].length) };
    if (rest.startsWith("(?~")) return absent(this.#inside(3));
    if (rest.startsWith("(?:")) return { kind: "group", body: this.#inside(3) };
    const modifiers = /^\(\?([mix]*)(?:-([mix]*))?([:)])/.exec(rest);
    if (modifiers !== null) return this.#modified(modifiers);
    if (rest.startsWith("(?"))
      throw new RegexpFault(`${rest.slice(0, 4)} at ${this.#at + 1} isn't supported`);
    if (!this.#unnamedCapture) return { kind: "group", body: this.#inside(1) };
    const name = String(++this.#unnamed);
    return { kind: "capture", name, body: this.#inside(1) };
  }

  /** `(?i:…)`, or `(?i)` which holds to the end of the group around it. */
  #modified([whole, on = "", off = "", end]: RegExpExecArray): RegexpNode {
    const before = this.#extended;
    if (on.includes("x")) this.#extended = true;
    if (off.includes("x")) this.#extended = false;
    const names = (letters: string): string => letters.replace("x", "").replace("m", "s");
    const [added, taken] = [names(on), names(off)];
    const opening = `?${added}${taken === "" ? "" : `-${taken}`}:`;
    let body: RegexpNode;
    if (end === ":") {
      body = this.#inside(whole.length);
      this.#extended = before;
    } else {
      this.#at += whole.length;
      body = this.#choice();
    }
    return added === "" && taken === "" ? { kind: "group", body } : { kind: "special", opening, body };
  }

  /** Reads the inside of the group whose opening is `length` long, and its closing parenthesis. */
  #inside(length: number): RegexpNode {
    const start = this.#at;
    this.#at += length;
    const body = this.#choice();
    if (this.#text[this.#at] !== ")") throw new RegexpFault(`the ( at ${start + 1} is never closed`);
    this.#at++;
    return body;
  }

  #repeated(atom: RegexpNode): RegexpNode {
    let node = atom;
    for (;;) {
      const found = /^(?:[*+?]|\{\d+(?:,\d*)?\}|\{,\d+\})/.exec(this.#text.slice(this.#at, this.#at + 24));
      if (found === null) return node;
      const count = found[0].replace("{,", "{0,");
      this.#at += found[0].length;
      const next = this.#text[this.#at];
      const isPossessive = next === "+" && !count.startsWith("{");
      const mode = isPossessive ? "possessive" : next === "?" ? "lazy" : "greedy";
      if (mode !== "greedy") this.#at++;
      // `.?*` is `.*`: an optional repeated at will.
      const isOptional = node.kind === "repeat" && node.count === "?" && node.mode === "greedy";
      node = { kind: "repeat", body: isOptional && node.kind === "repeat" ? node.body : node, count, mode };
    }
  }
}

/** Any text in which `body` doesn't match anywhere. */
function absent(body: RegexpNode): RegexpNode {
  const notHere: RegexpNode = { kind: "special", opening: "?!", body };
  const any: RegexpNode = { kind: "text", source: "[\\s\\S]" };
  const each: RegexpNode = { kind: "group", body: { kind: "sequence", items: [notHere, any] } };
  return { kind: "repeat", body: each, count: "*", mode: "greedy" };
}
