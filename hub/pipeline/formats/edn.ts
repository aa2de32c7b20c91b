/** Extensible Data Notation (github.com/edn-format/edn), as values of JSON. */

import { decimal, isRawJson } from "#proto/codec/json.ts";
import { isHash, valueText } from "#proto/event.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Deepest nesting of lists and tables. */
const MAX_DEPTH = 64;

/** Commas are blanks. */
const BLANKS = /(?:[\s,]+|;[^\n]*)+/y;
const STRING = /"((?:[^"\\]|\\[\s\S])*)"/y;
/** After a backslash a letter, or a name and no further letter. */
const CHARACTER =
  /\\(newline|return|space|tab|formfeed|backspace|u[0-9a-fA-F]{4}|o[0-3]?[0-7]{1,2}|[^\s])(?![A-Za-z0-9])/y;
const NUMBER = /[+-]?\d+(?:\.\d*)?(?:[eE][+-]?\d+)?[NM]?(?![^\s,()[\]{}"])/y;
const SYMBOL = /:?[A-Za-z0-9.*+!\-_?$%&=<>/:#|][A-Za-z0-9.*+!\-_?$%&=<>/:#|']*/y;
/** Numbers that JSON hasn't; they are read as the text of their symbol. */
const SYMBOLIC = /(?:NaN|-?Inf)(?![A-Za-z0-9])/y;

const CHARACTERS: Readonly<Record<string, string>> = {
  newline: "\n",
  return: "\r",
  space: " ",
  tab: "\t",
  formfeed: "\f",
  backspace: "\b",
};
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f" };

const CLOSING: Readonly<Record<string, string>> = { "(": ")", "[": "]", "{": "}" };

/** Returns the values of a text. Throws RangeError for what is none, or nests too deep. */
export function readEdn(text: string): unknown[] {
  const reader = new EdnReader(text);
  const values: unknown[] = [];
  for (let value = reader.next(0); value !== END; value = reader.next(0)) values.push(value);
  reader.checkEnd();
  return values;
}

/** Stands for no further value. */
const END = Symbol("end");

class EdnReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Throws where a bracket closes nothing. */
  checkEnd(): void {
    if (this.#at < this.#text.length) throw new RangeError(`the bracket at ${this.#at} closes nothing`);
  }

  /** Returns the next value; END where the text or what is around ends. */
  next(depth: number): unknown {
    if (depth > MAX_DEPTH) throw new RangeError("values are nested too deeply");
    this.#skip(depth);
    const start = this.#text[this.#at];
    if (start === undefined || start === ")" || start === "]" || start === "}") return END;
    if (start === "(" || start === "[") return this.#items(CLOSING[start]!, depth);
    if (start === "{") return table(this.#items("}", depth));
    if (start === "#") return this.#dispatched(depth);
    if (start === '"') return this.#string();
    const character = this.#take(CHARACTER)?.[1];
    if (character !== undefined) return characterOf(character);
    const number = this.#take(NUMBER)?.[0];
    if (number !== undefined) return numberOf(number.replace(/[NM]$/, ""));
    const symbol = this.#take(SYMBOL)?.[0];
    if (symbol === undefined) throw new RangeError(`"${start}" at ${this.#at} begins no value`);
    return symbolOf(symbol);
  }

  /** Reads values to the bracket that closes them. */
  #items(closing: string, depth: number): unknown[] {
    this.#at++;
    const items: unknown[] = [];
    for (let value = this.next(depth + 1); value !== END; value = this.next(depth + 1)) items.push(value);
    if (this.#text[this.#at] !== closing) throw new RangeError(`a "${closing}" is missing at ${this.#at}`);
    this.#at++;
    return items;
  }

  /** Skips blanks, and as many values as there are `#_` before them. */
  #skip(depth: number): void {
    for (let discarded = 0; ; ) {
      this.#take(BLANKS);
      if (this.#text.startsWith("#_", this.#at)) {
        this.#at += 2;
        discarded++;
      } else if (discarded > 0) {
        if (this.next(depth + 1) === END) throw new RangeError("a #_ has no value after it");
        discarded--;
      } else return;
    }
  }

  /** `#{` a set, `##` a number that JSON hasn't, `#name` the name of a value's type. */
  #dispatched(depth: number): unknown {
    const sign = this.#text[this.#at + 1];
    this.#at += sign === "#" ? 2 : 1;
    if (sign === "{") return this.#items("}", depth);
    if (sign === "#") return this.#take(SYMBOLIC)?.[0] ?? fail("a ## has no number after it");
    if (this.#take(SYMBOL) === undefined) throw new RangeError("a # has no name after it");
    const value = this.next(depth + 1);
    return value === END ? fail("a # has no value after it") : value;
  }

  #string(): string {
    const content = this.#take(STRING)?.[1];
    if (content === undefined) throw new RangeError(`the text that begins at ${this.#at} is never closed`);
    return content.replace(/\\(u[0-9a-fA-F]{4}|[\s\S])/g, (_, name: string) =>
      name.length > 1 ? characterOf(name) : (ESCAPES[name] ?? name),
    );
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }
}

function fail(message: string): never {
  throw new RangeError(message);
}

function characterOf(name: string): string {
  if (name.length > 1 && name.startsWith("o")) return String.fromCharCode(Number.parseInt(name.slice(1), 8));
  if (name.length > 1 && name.startsWith("u")) return String.fromCharCode(Number.parseInt(name.slice(1), 16));
  return CHARACTERS[name] ?? name;
}

/** An integer that a number doesn't hold is a text. */
function numberOf(written: string): unknown {
  const value = Number(written);
  if (!/^[+-]?\d+$/.test(written)) return decimal(value);
  return Number.isSafeInteger(value) ? value : written;
}

function symbolOf(symbol: string): unknown {
  if (symbol === "nil") return null;
  if (symbol === "true" || symbol === "false") return symbol === "true";
  return symbol.startsWith(":") ? symbol.slice(1) : symbol;
}

function table(items: readonly unknown[]): JsonObject {
  if (items.length % 2 !== 0) throw new RangeError("a table has a key without a value");
  const entries = Array.from({ length: items.length / 2 }, (_, index) => [
    valueText(items[2 * index]),
    items[2 * index + 1],
  ]);
  return Object.fromEntries(entries) as JsonObject;
}

/** Returns a value of JSON as EDN; keys of tables are texts. */
export function writeEdn(value: unknown): string {
  if (value === null || value === undefined) return "nil";
  if (isRawJson(value)) return value.rawJSON;
  if (Array.isArray(value)) return `[${value.map(writeEdn).join(" ")}]`;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (!isHash(value)) return quoted(valueText(value));
  return `{${Object.entries(value)
    .map(([key, each]) => `${quoted(key)} ${writeEdn(each)}`)
    .join(", ")}}`;
}

/** JSON's escapes are EDN's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
