/**
 * Reads JSON (RFC 8259) from bytes without making objects or strings: the caller walks the document and takes the
 * byte ranges it wants. Strict: whatever JSON.parse refuses is refused here, except for ill-formed UTF-8, which reads as U+FFFD.
 */

import { AppError } from "#proto/kit/errors.ts";
import { BACKSLASH, decodeUtf8, ESCAPES, hexValue, QUOTE, unescapeJson } from "./text.ts";

export const OBJECT = 1;
export const ARRAY = 2;
export const STRING = 3;
export const NUMBER = 4;
export const TRUE = 5;
export const FALSE = 6;
export const NULL = 7;

/** Objects and arrays within each other; deeper documents are refused before the stack runs out. */
const MAX_DEPTH = 256;

/** Whole numbers of this many characters are below 2^53. */
const MAX_EXACT_DIGITS = 15;

/** Bytes of a string that end its fast path: quote, backslash, control characters. */
const STRING_STOP = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === QUOTE || byte === BACKSLASH || byte < 0x20 ? 1 : 0,
);
const IS_SPACE = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte === 0x20 || byte === 0x09 || byte === 0x0a || byte === 0x0d ? 1 : 0,
);

/**
 * A cursor over one document. `value()` reads the start of a value and returns its kind; for an object call `key(first)`
 * until it is false, reading one value after each; for an array likewise `element(first)`.
 */
export class JsonScanner {
  bytes: Uint8Array = new Uint8Array(0);
  /** Next byte to read. */
  at = 0;
  end = 0;
  /** Range of the last string's content or number's text. */
  start = 0;
  stop = 0;
  /** True where the last string has escapes. */
  escaped = false;
  /** True where the last string is ASCII. */
  ascii = true;
  /** True where the last number has neither fraction nor exponent. */
  integer = false;
  #depth = 0;

  /** Starts a document at bytes[from..to). */
  reset(bytes: Uint8Array, from = 0, to = bytes.length): void {
    this.bytes = bytes;
    this.at = from;
    this.end = to;
    this.#depth = 0;
  }

  /** Reads the start of a value (all of it unless OBJECT or ARRAY) and returns its kind. Throws mapping_parse. */
  value(): number {
    this.#space();
    const byte = this.at < this.end ? this.bytes[this.at]! : -1;
    switch (byte) {
      case 0x7b:
        return this.#open(OBJECT);
      case 0x5b:
        return this.#open(ARRAY);
      case QUOTE:
        this.#string();
        return STRING;
      case 0x74:
        return this.#literal("true", TRUE);
      case 0x66:
        return this.#literal("false", FALSE);
      case 0x6e:
        return this.#literal("null", NULL);
      default:
        this.#number(byte);
        return NUMBER;
    }
  }

  /** Within an object: reads the next key (its range in start..stop) with its colon; false at the end. */
  key(first: boolean): boolean {
    this.#space();
    if (this.#closes(0x7d)) return false;
    if (!first) this.#expect(0x2c, "a comma or }");
    this.#space();
    if (this.bytes[this.at] !== QUOTE || this.at >= this.end) throw this.#error("a field name in quotes");
    this.#string();
    this.#space();
    this.#expect(0x3a, "a colon");
    return true;
  }

  /** Within an array: true if another element follows. */
  element(first: boolean): boolean {
    this.#space();
    if (this.#closes(0x5d)) return false;
    if (!first) this.#expect(0x2c, "a comma or ]");
    return true;
  }

  /** Reads the rest of a value of `kind` that `value()` has begun. */
  skip(kind: number): void {
    if (kind === OBJECT) {
      for (let first = true; this.key(first); first = false) this.skip(this.value());
    } else if (kind === ARRAY) {
      for (let first = true; this.element(first); first = false) this.skip(this.value());
    }
  }

  /** Checks that nothing but space follows. */
  finish(): void {
    this.#space();
    if (this.at < this.end) throw this.#error("the end of the document");
  }

  /** The last number where it is whole and short enough to be exact; else NaN. */
  wholeNumber(): number {
    const { bytes, stop } = this;
    if (!this.integer || stop - this.start > MAX_EXACT_DIGITS) return Number.NaN;
    const isNegative = bytes[this.start] === 0x2d;
    let value = 0;
    for (let at = isNegative ? this.start + 1 : this.start; at < stop; at++)
      value = value * 10 + bytes[at]! - 0x30;
    return isNegative ? 0 - value : value;
  }

  /** The last string or number as text, escapes resolved. */
  text(): string {
    if (this.escaped) return unescapeJson(this.bytes, this.start, this.stop);
    return decodeUtf8(this.bytes, this.start, this.stop);
  }

  /**
   * Writes the last string to `out` with its escapes resolved and returns its length; -1 if an escape stands for a
   * character beyond ASCII or `out` is too short. The string must be `ascii`.
   */
  unescapeAscii(out: Uint8Array): number {
    const { bytes, stop } = this;
    if (stop - this.start > out.length) return -1;
    let length = 0;
    for (let at = this.start; at < stop; at++) {
      let byte = bytes[at]!;
      if (byte === BACKSLASH) {
        const letter = bytes[++at]!;
        if (letter === 0x75) return -1;
        byte = ESCAPES[letter]!;
      }
      out[length++] = byte;
    }
    return length;
  }

  #open(kind: number): number {
    this.at++;
    if (++this.#depth > MAX_DEPTH) throw this.#error(`more than ${MAX_DEPTH} nested objects and arrays`);
    return kind;
  }

  #closes(byte: number): boolean {
    if (this.at >= this.end || this.bytes[this.at] !== byte) return false;
    this.at++;
    this.#depth--;
    return true;
  }

  #space(): void {
    const { bytes, end } = this;
    let at = this.at;
    while (at < end && IS_SPACE[bytes[at]!] === 1) at++;
    this.at = at;
  }

  #expect(byte: number, what: string): void {
    if (this.at >= this.end || this.bytes[this.at] !== byte) throw this.#error(what);
    this.at++;
  }

  #string(): void {
    const { bytes, end } = this;
    let at = this.at + 1;
    let high = 0;
    this.start = at;
    this.escaped = false;
    for (;;) {
      while (at < end && STRING_STOP[bytes[at]!] === 0) high |= bytes[at++]!;
      if (at >= end) throw this.#error("the closing quote of a string");
      if (bytes[at] === QUOTE) break;
      this.at = at;
      if (bytes[at] !== BACKSLASH) throw this.#error("an escape for a control character");
      this.escaped = true;
      at += this.#escape(at + 1);
    }
    this.stop = at;
    this.ascii = high < 0x80;
    this.at = at + 1;
  }

  /** Length of the escape whose letter is at `at`, backslash included. */
  #escape(at: number): number {
    const letter = at < this.end ? this.bytes[at]! : -1;
    if (letter === 0x75) {
      for (let digit = at + 1; digit < at + 5; digit++) {
        if (digit >= this.end || hexValue(this.bytes[digit]!) < 0)
          throw this.#error("four hexadecimal digits after \\u");
      }
      return 6;
    }
    if (ESCAPES[letter] === undefined) throw this.#error('an escape of ["\\/bfnrtu]');
    return 2;
  }

  #literal(word: string, kind: number): number {
    for (let index = 0; index < word.length; index++) {
      if (this.at + index >= this.end || this.bytes[this.at + index] !== word.charCodeAt(index)) {
        throw this.#error(`the word ${word}`);
      }
    }
    this.at += word.length;
    return kind;
  }

  #number(first: number): void {
    const { bytes, end } = this;
    let at = this.at;
    this.start = at;
    this.escaped = false;
    this.ascii = true;
    this.integer = true;
    if (first === 0x2d) at++;
    const digits = at;
    at = skipDigits(bytes, at, end);
    if (at === digits) throw this.#error("a value");
    if (bytes[digits] === 0x30 && at > digits + 1) throw this.#error("a number without leading zero");
    if (at < end && bytes[at] === 0x2e) {
      this.integer = false;
      const fraction = at + 1;
      at = skipDigits(bytes, fraction, end);
      if (at === fraction) throw this.#error("digits after the decimal point");
    }
    if (at < end && (bytes[at]! | 0x20) === 0x65) {
      this.integer = false;
      at++;
      if (at < end && (bytes[at] === 0x2b || bytes[at] === 0x2d)) at++;
      const exponent = at;
      at = skipDigits(bytes, exponent, end);
      if (at === exponent) throw this.#error("digits of the exponent");
    }
    this.stop = at;
    this.at = at;
  }

  #error(expected: string): AppError {
    if (this.end === 0) return new AppError("mapping_parse", "failed to parse, document is empty");
    const found = this.at < this.end ? JSON.stringify(String.fromCharCode(this.bytes[this.at]!)) : "the end";
    return new AppError("mapping_parse", "failed to parse", {
      data: {
        caused_by: {
          type: "json_parse_exception",
          reason: `expected ${expected} at byte ${this.at}, found ${found}`,
        },
      },
    });
  }
}

function skipDigits(bytes: Uint8Array, from: number, end: number): number {
  let at = from;
  while (at < end && bytes[at]! >= 0x30 && bytes[at]! <= 0x39) at++;
  return at;
}
