/** Writes JSON as bytes into one growing buffer, without strings in between. */

import { freeBytes } from "#proto/kit/large-bytes.ts";

const BACKSLASH = 0x5c;

/** How a byte is written in a JSON string: 0 as itself, 'u' as \u00XX, else as a backslash and this letter. */
const ESCAPES = new Uint8Array(256);
ESCAPES.fill(0x75, 0, 0x20);
ESCAPES[0x08] = 0x62;
ESCAPES[0x09] = 0x74;
ESCAPES[0x0a] = 0x6e;
ESCAPES[0x0c] = 0x66;
ESCAPES[0x0d] = 0x72;
ESCAPES[0x22] = 0x22;
ESCAPES[BACKSLASH] = BACKSLASH;
ESCAPES[0x7f] = 0;

/** Bytes that one byte takes at most in a JSON string: \u00XX. */
export const MAX_ESCAPED_BYTES = 6;

/** Up to this length a loop copies faster than the call of the runtime's copy. */
const LOOP_BYTES = 32;

/** Up to this length a loop writes text faster than the call of the runtime's encoder. */
const SHORT_TEXT = 24;

const QUOTE = 0x22;
const HEX = "0123456789abcdef";
const ENCODER = new TextEncoder();

/** What JSON writes in another way: control characters, quotes, backslashes; characters of two halves are looked into. */
const ESCAPED = /[^ !#-[\]-\ud7ff\ue000-\uffff]/;

/** `bytes` up to `at` is the output. Callers reserve before they write, unless a method grows the buffer itself. */
export class JsonWriter {
  bytes: Buffer<ArrayBuffer>;
  at = 0;

  /** `capacity`: first size of the buffer, bytes. */
  constructor(capacity: number) {
    this.bytes = Buffer.from(new ArrayBuffer(capacity));
  }

  /** Reserves space for `count` further bytes. */
  reserve(count: number): void {
    const needed = this.at + count;
    if (needed <= this.bytes.length) return;
    // In this order: the work may be stopped at any point by its time limit, and begins again with this writer.
    const before = this.bytes;
    const larger = Buffer.from(new ArrayBuffer(Math.max(needed, before.length * 2)));
    larger.set(before.subarray(0, this.at));
    this.bytes = larger;
    freeBytes(before);
  }

  /** Copies bytes that are JSON already. */
  raw(piece: Uint8Array): void {
    const { length } = piece;
    if (length > LOOP_BYTES) this.bytes.set(piece, this.at);
    else for (let index = 0; index < length; index++) this.bytes[this.at + index] = piece[index]!;
    this.at += length;
  }

  /** Copies `source` from `start` to `end`, which is JSON already. */
  copy(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let { at } = this;
    for (let index = start; index < end; index++) bytes[at++] = source[index]!;
    this.at = at;
  }

  /** Writes UTF-8 text as the inside of a JSON string. Takes up to MAX_ESCAPED_BYTES per byte. */
  escaped(source: Uint8Array, start: number, end: number): void {
    const { bytes } = this;
    let { at } = this;
    for (let index = start; index < end; ) {
      // Fast path: four bytes without an escape, as nearly all are.
      for (const last = end - 4; index <= last; index += 4) {
        const first = source[index]!;
        const second = source[index + 1]!;
        const third = source[index + 2]!;
        const fourth = source[index + 3]!;
        if ((ESCAPES[first]! | ESCAPES[second]! | ESCAPES[third]! | ESCAPES[fourth]!) !== 0) break;
        bytes[at] = first;
        bytes[at + 1] = second;
        bytes[at + 2] = third;
        bytes[at + 3] = fourth;
        at += 4;
      }
      for (const stop = Math.min(index + 4, end); index < stop; index++) {
        const byte = source[index]!;
        if (ESCAPES[byte] === 0) bytes[at++] = byte;
        else at = putEscape(bytes, at, byte);
      }
    }
    this.at = at;
  }

  /** Writes UTF-8 text as a JSON string; grows the buffer itself. */
  quoted(source: Uint8Array, start: number, end: number): void {
    this.reserve((end - start) * MAX_ESCAPED_BYTES + 2);
    this.bytes[this.at++] = QUOTE;
    this.escaped(source, start, end);
    this.bytes[this.at++] = QUOTE;
  }

  /** Writes a byte; grows the buffer itself. */
  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.at++] = value;
  }

  /** Writes a text as a JSON string, as JSON.stringify does; grows the buffer itself. */
  string(text: string): void {
    if (text.length > SHORT_TEXT ? ESCAPED.test(text) : !this.#short(text)) this.text(JSON.stringify(text));
    else if (text.length > SHORT_TEXT) {
      this.reserve(text.length * 3 + 2);
      this.bytes[this.at++] = QUOTE;
      this.at += this.bytes.write(text, this.at);
      this.bytes[this.at++] = QUOTE;
    }
  }

  /** Writes a short text; returns false, and writes nothing if one of its characters isn't a byte or needs an escape. */
  #short(text: string): boolean {
    this.reserve(SHORT_TEXT + 2);
    const { bytes } = this;
    let { at } = this;
    bytes[at++] = QUOTE;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code >= 0x80 || ESCAPES[code] !== 0) return false;
      bytes[at++] = code;
    }
    bytes[at++] = QUOTE;
    this.at = at;
    return true;
  }

  /** Writes an integer from 0 to 2^53. Takes up to 16 bytes. */
  integer(value: number): void {
    let digits = 1;
    for (let limit = 10; value >= limit; limit *= 10) digits++;
    let rest = value;
    for (let index = this.at + digits - 1; index >= this.at; index--) {
      const quotient = Math.floor(rest / 10);
      this.bytes[index] = 0x30 + (rest - quotient * 10);
      rest = quotient;
    }
    this.at += digits;
  }

  /** Writes text that is JSON already; grows the buffer itself. */
  text(json: string): void {
    this.reserve(json.length * 3);
    this.at += this.bytes.write(json, this.at);
  }
}

/** Writes the escape of a byte; returns the offset after it. */
function putEscape(bytes: Uint8Array, at: number, byte: number): number {
  const letter = ESCAPES[byte]!;
  bytes[at] = BACKSLASH;
  bytes[at + 1] = letter;
  if (letter !== 0x75) return at + 2;
  bytes[at + 2] = 0x30;
  bytes[at + 3] = 0x30;
  bytes[at + 4] = HEX.charCodeAt(byte >> 4);
  bytes[at + 5] = HEX.charCodeAt(byte & 15);
  return at + 6;
}

/** Returns the bytes of a text that is written often. */
export function piece(text: string): Uint8Array {
  return ENCODER.encode(text);
}
