/** What each byte is where documents and texts are cut. */

import { COLUMNAR_KINDS } from "../layout-columnar";

/** Outside of texts: no punctuation, white space or quote. */
export const SCALAR: u32 = 1;
/** In texts: digits; letters, underscores and bytes beyond ASCII. */
export const DIGIT: u32 = 2;
export const LETTER: u32 = 4;
export const WORD: u32 = DIGIT | LETTER;

export const QUOTE: u32 = 0x22;
export const BACKSLASH: u32 = 0x5c;
export const COLON: u32 = 0x3a;
export const SPACE: u32 = 0x20;

/** Address of the table. */
let kinds: usize = 0;

/** Fills the table of a writer, which `kindOf` reads from now on. */
export function makeKinds(state: usize): void {
  kinds = state + COLUMNAR_KINDS;
  for (let byte: u32 = 0; byte < 256; byte++) {
    let kind: u32 = 0;
    const letter = byte | 0x20;
    if (byte - 0x30 < 10) kind = DIGIT;
    else if (letter - 0x61 < 26 || byte === 0x5f || byte >= 0x80) kind = LETTER;
    const isPunctuation = letter === 0x7b || letter === 0x7d || byte === 0x2c || byte === COLON;
    if (byte > SPACE && byte !== QUOTE && !isPunctuation) kind |= SCALAR;
    store<u8>(kinds + byte, kind);
  }
}

@inline
export function kindOf(byte: u32): u32 {
  return load<u8>(kinds + byte) as u32;
}

/** Whether two ranges have the same bytes; up to 7 bytes after them are read. */
@inline
export function isSame(a: usize, b: usize, count: u32): bool {
  let left = count;
  while (left >= 8) {
    if (load<u64>(a) !== load<u64>(b)) return false;
    a += 8;
    b += 8;
    left -= 8;
  }
  return left === 0 || (load<u64>(a) ^ load<u64>(b)) << ((64 - 8 * left) as u64) === 0;
}
