/**
 * The shape of a JSON document as a number: its nested names, without the values. Documents of one
 * shape have the same fields, so the result of looking up one document's fields is valid for all of them.
 */

import { randomInt } from "node:crypto";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;

/** In the hash: a value that is neither object, array nor null. */
const SCALAR = 0x100;
/** In the hash: null, which has no type. */
const NULL = 0x101;

/** Odd factors of the two halves of the hash. */
const FACTOR_A = 0x0100_0193;
const FACTOR_B = 0x85eb_ca6b;

/** Random, so that a sender can't construct two shapes with one hash. */
const SEED_A = randomInt(2 ** 31);
const SEED_B = randomInt(2 ** 31);

/** Kinds of bytes outside of strings: ignored, a bracket, a name or text, the first byte of a number or literal. */
const IGNORED = 0;
const OPENING_LIST = 2;
const TEXT = 3;
const LITERAL = 4;
const BRACKET = 1;
const KINDS = Uint8Array.from({ length: 256 }, (_, byte) => kindOf(String.fromCharCode(byte)));

/** Bytes that end a run of characters of a string. */
const STOPS = Uint8Array.from({ length: 256 }, (_, byte) => (byte === QUOTE || byte === BACKSLASH ? 1 : 0));

function kindOf(character: string): number {
  if (character === '"') return TEXT;
  if (character === "[") return OPENING_LIST;
  if ("{}]".includes(character)) return BRACKET;
  return /[-0-9tfn]/.test(character) ? LITERAL : IGNORED;
}

/**
 * Returns the shape of the JSON document `bytes[from..to)`, 0 to 2^53. Equal for equal names in equal order with values
 * of the same kinds (object, array, null, other); a list of plain values has one shape however many there are. Of bytes
 * that aren't JSON it is any number. Differs from process to process and thread to thread.
 */
export function jsonShape(bytes: Uint8Array, from = 0, to = bytes.length): number {
  let a = SEED_A;
  let b = SEED_B;
  let last = 0;
  let at = from;
  while (at < to) {
    const byte = bytes[at++]!;
    const kind = KINDS[byte]!;
    if (kind === IGNORED) continue;
    let event: number = byte;
    if (kind === TEXT) {
      const start = at;
      at = endOfText(bytes, at, to);
      if (bytes[at + 1] === COLON || isName(bytes, at + 1, to)) {
        for (let index = start; index < at; index++) {
          a = Math.imul(a ^ bytes[index]!, FACTOR_A);
          b = Math.imul(b ^ (b >>> 15) ^ bytes[index]!, FACTOR_B);
        }
        event = COLON;
      } else event = SCALAR;
      at++;
    } else if (kind === LITERAL) {
      event = byte === 0x6e ? NULL : SCALAR;
      while (at < to && KINDS[bytes[at]!]! !== BRACKET && bytes[at] !== 0x2c) at++;
    }
    // A value directly after a value is a further item of a list.
    if (event === SCALAR && last === SCALAR) continue;
    last = event;
    a = Math.imul(a ^ event, FACTOR_A);
    b = Math.imul(b ^ (b >>> 15) ^ event, FACTOR_B);
  }
  return (a >>> 0) * 2 ** 21 + ((b ^ (b >>> 13)) >>> 11);
}

/** Offset of the quote that ends the text which begins at `from`; `to` without one. */
function endOfText(bytes: Uint8Array, from: number, to: number): number {
  let at = from;
  while (at < to) {
    if (STOPS[bytes[at]!] === 0) at++;
    else if (bytes[at] === BACKSLASH) at += 2;
    else return at;
  }
  return to;
}

/** Returns true if the next byte after white space is a colon. */
function isName(bytes: Uint8Array, from: number, to: number): boolean {
  let at = from;
  while (at < to && bytes[at]! <= 0x20) at++;
  return bytes[at] === COLON;
}
