/** Reads the small parts of a pipeline's text: blanks and comments, names, strings, numbers, regular expressions. */

import type { Diagnostic } from "./diagnostics.ts";
import type { Range, SourceText } from "./syntax-tree.ts";

/** Ends the reading of a construct; the parser continues after it. */
export class SyntaxFault extends Error {
  readonly diagnostic: Diagnostic;

  constructor(range: Range, message: string, hint = "") {
    super(message);
    this.diagnostic = { severity: "error", range, message, hint };
  }
}

const BLANKS = /(?:[ \t\r\n]+|#[^\n]*)+/y;
const NAME = /[A-Za-z0-9_-]+/y;
const BAREWORD = /[A-Za-z_][A-Za-z0-9_]+/y;
const NUMBER = /-?[0-9]+(?:\.[0-9]*)?/y;
const DOUBLE_QUOTED = /"((?:\\"|\\(?!")|[^"\\])*)"/y;
const SINGLE_QUOTED = /'((?:\\'|\\(?!')|[^'\\])*)'/y;
const REGEXP = /\/((?:\\\/|\\(?!\/)|[^/\\])*)\//y;
const ESCAPE = /\\(["'\\nrt0])/g;
const SELECTOR = /(?:\[[^\][,]+\])+/y;

/** What the letter of an escape sequence stands for; another character stands for itself. */
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", 0: "\0" };

export class Scanner {
  readonly source: SourceText;
  /** Offset of the next character. */
  at = 0;
  readonly #text: string;

  constructor(source: SourceText) {
    this.source = source;
    this.#text = source.text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** Returns the range from `start` to here, or to `end`. */
  range(start: number, end = this.at): Range {
    return { source: this.source, start, end };
  }

  /** Returns a fault at the next character, or at `range`. */
  fault(
    message: string,
    hint = "",
    range = this.range(this.at, Math.min(this.at + 1, this.#text.length)),
  ): SyntaxFault {
    return new SyntaxFault(range, message, hint);
  }

  /** Passes over blanks and comments; returns whether there were any. */
  blanks(): boolean {
    return this.#take(BLANKS) !== undefined;
  }

  /** Returns true where `text` comes next. */
  sees(text: string): boolean {
    return this.#text.startsWith(text, this.at);
  }

  /** Takes `text` where it comes next. */
  takes(text: string): boolean {
    if (!this.sees(text)) return false;
    this.at += text.length;
    return true;
  }

  /** Takes a whole word where it comes next. */
  takesWord(word: string): boolean {
    if (!this.sees(word) || /[A-Za-z0-9_-]/.test(this.#text[this.at + word.length] ?? "")) return false;
    this.at += word.length;
    return true;
  }

  /** Returns what comes next for a message: a character in quotes, or "the end of the file". */
  nextShown(): string {
    const next = this.#text[this.at];
    if (next === undefined) return "the end of the file";
    return next === "\n" ? "the end of the line" : `"${next}"`;
  }

  peek(ahead = 0): string {
    return this.#text[this.at + ahead] ?? "";
  }

  name(): string | undefined {
    return this.#take(NAME)?.[0];
  }

  bareword(): string | undefined {
    return this.#take(BAREWORD)?.[0];
  }

  /** Returns the content of a quoted text, as it is written unless the file has escapes; undefined if no quote comes next. */
  string(): string | undefined {
    const quote = this.peek();
    if (quote !== '"' && quote !== "'") return undefined;
    const found = this.#take(quote === '"' ? DOUBLE_QUOTED : SINGLE_QUOTED);
    if (found !== undefined) return this.source.hasEscapes ? unescaped(found[1]!) : found[1];
    const hint = `add the closing ${quote}; a text that ends in a backslash can't be written, as \\${quote} means the quote itself`;
    throw this.fault(`the text that begins here is never closed`, hint);
  }

  /** Returns a number; one that begins with 0 is octal. */
  number(): number | undefined {
    const start = this.at;
    const text = this.#take(NUMBER)?.[0];
    if (text === undefined) return undefined;
    if (text.includes(".")) return Number(text);
    const digits = text.replace("-", "");
    if (!digits.startsWith("0") || digits === "0") return Number(text);
    if (/[89]/.test(digits)) {
      throw this.fault(
        `${text} is not a number`,
        "a number that begins with 0 is octal; leave the 0 out",
        this.range(start),
      );
    }
    return (text.startsWith("-") ? -1 : 1) * Number.parseInt(digits, 8);
  }

  /** Returns the inside of `/…/`. */
  regexp(): string | undefined {
    if (this.peek() !== "/") return undefined;
    const found = this.#take(REGEXP);
    if (found === undefined)
      throw this.fault("the regular expression that begins here is never closed", "add the closing /");
    return found[1];
  }

  /** Returns `[a][b]` as it is written. */
  selector(): string | undefined {
    return this.#take(SELECTOR)?.[0];
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.at = pattern.lastIndex;
    return found;
  }
}

function unescaped(text: string): string {
  return text.replace(ESCAPE, (_, letter: string) => ESCAPED[letter] ?? letter);
}
