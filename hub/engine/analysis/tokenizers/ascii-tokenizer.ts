/**
 * The fast path of the standard analyzer: ASCII bytes in, lower-case words with their hashes out, without creating
 * strings. Gives the same words as standard-tokenizer.ts followed by the lowercase filter. In production the kernel
 * does this.
 */

/** Takes the words of a text one by one. `bytes[0..length)` holds the word and is overwritten by the next one. */
export interface TermSink {
  term(bytes: Uint8Array, length: number, hash: number, position: number): void;
}

/** Longest word in bytes; longer ones are cut. Same as the standard tokenizer's. */
const MAX_TOKEN_LENGTH = 255;

const LETTER = 1;
const DIGIT = 2;
const CONNECTOR = 3;
const MID_LETTER = 4;
const MID_NUMBER = 5;
const MID_BOTH = 6;

const CLASS = classTable();
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) => (byte >= 65 && byte <= 90 ? byte + 32 : byte));

/** Hash of terms: FNV-1a over the bytes from a seed; finished by `mixHash`. */
export const HASH_PRIME = 0x0100_0193;

/** Spreads the bits of an FNV hash; the result is an unsigned 32-bit number. */
export function mixHash(hash: number): number {
  let h = hash ^ (hash >>> 15);
  h = Math.imul(h, 0x2c1b_3c6d);
  h ^= h >>> 12;
  return h >>> 0;
}

/** Returns the hash of `length` bytes under `seed`, as the tokenizer gives it. */
export function hashTerm(bytes: Uint8Array, from: number, length: number, seed: number): number {
  let hash = seed;
  for (let at = from; at < from + length; at++) hash = Math.imul(hash ^ bytes[at]!, HASH_PRIME);
  return mixHash(hash);
}

const scratch = new Uint8Array(MAX_TOKEN_LENGTH);

/**
 * Gives the words of the ASCII text `bytes[from..to)` to `sink` with positions from `position`; returns the position
 * after the last one. `seed` is the hash's, different for each field.
 */
export function tokenizeAscii(
  bytes: Uint8Array,
  from: number,
  to: number,
  seed: number,
  position: number,
  sink: TermSink,
): number {
  let next = position;
  let at = from;
  while (at < to) {
    let kind = CLASS[bytes[at]!]!;
    if (kind === 0 || kind > CONNECTOR) {
      at++;
      continue;
    }
    let length = 0;
    let hash = seed;
    let isWord = false;
    for (;;) {
      if (kind !== CONNECTOR) isWord = true;
      const byte = LOWER[bytes[at++]!]!;
      scratch[length++] = byte;
      hash = Math.imul(hash ^ byte, HASH_PRIME);
      if (at >= to || length === MAX_TOKEN_LENGTH) break;
      const following = CLASS[bytes[at]!]!;
      if (following !== 0 && following <= CONNECTOR) {
        kind = following;
        continue;
      }
      if (!isJoint(following, kind, bytes, at + 1, to) || length + 2 > MAX_TOKEN_LENGTH) break;
      const joint = bytes[at++]!;
      scratch[length++] = joint;
      hash = Math.imul(hash ^ joint, HASH_PRIME);
    }
    if (isWord) sink.term(scratch, length, mixHash(hash), next++);
  }
  return next;
}

/** True where punctuation of class `middle` is between two letters or two digits. */
function isJoint(middle: number, before: number, bytes: Uint8Array, behind: number, to: number): boolean {
  if (middle < MID_LETTER || behind >= to || before === CONNECTOR) return false;
  if (CLASS[bytes[behind]!] !== before) return false;
  return middle === MID_BOTH || middle === (before === LETTER ? MID_LETTER : MID_NUMBER);
}

function classTable(): Uint8Array {
  const table = new Uint8Array(256);
  for (let letter = 0; letter < 26; letter++) {
    table[65 + letter] = LETTER;
    table[97 + letter] = LETTER;
  }
  for (let digit = 0; digit < 10; digit++) table[48 + digit] = DIGIT;
  table["_".charCodeAt(0)] = CONNECTOR;
  table[":".charCodeAt(0)] = MID_LETTER;
  table[",".charCodeAt(0)] = MID_NUMBER;
  table[";".charCodeAt(0)] = MID_NUMBER;
  table[".".charCodeAt(0)] = MID_BOTH;
  table["'".charCodeAt(0)] = MID_BOTH;
  return table;
}
