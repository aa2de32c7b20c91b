/**
 * Walks the terms of one segment's dictionary, a window of whole blocks at a time.
 * The twin is dictionary/term-walk.ts.
 */

import { at, length, reserve, setLength } from "./buffer";
import { copyShort } from "./copy";
import { TERMS_PER_BLOCK } from "./layout";
import {
  WALK_AT,
  WALK_BLOCKS,
  WALK_DOC_FREQ,
  WALK_HERE,
  WALK_INLINE_AT,
  WALK_NUMBER,
  WALK_POSITIONS_BYTES,
  WALK_POSTINGS,
  WALK_POSTINGS_AT,
  WALK_POSTINGS_BYTES,
  WALK_POSTINGS_FROM,
  WALK_PREFIX,
  WALK_STANDS,
  WALK_STATE,
  WALK_TEXT,
  WALK_TOTAL_FREQ,
} from "./layout-merge";
import { cursor, readAt, readVarint } from "./varint";

/** Longest term in bytes. */
const MAX_TERM_BYTES: u32 = 32766;

/** Reads the next term, which the window holds; false if its bytes are damaged. */
export function readTerm(walk: usize, hasPositions: bool): bool {
  const blocks = at(walk + WALK_BLOCKS);
  const stop = blocks + length(walk + WALK_BLOCKS);
  const number = load<u32>(walk, WALK_NUMBER);
  let shared: u32 = 0;
  let postingsAt: u32 = 0;
  readAt(blocks + load<u32>(walk, WALK_AT));
  if (number % TERMS_PER_BLOCK === 0) {
    postingsAt = readVarint(stop) - load<u32>(walk, WALK_POSTINGS_FROM);
  } else {
    postingsAt =
      load<u32>(walk, WALK_POSTINGS_AT) +
      load<u32>(walk, WALK_POSTINGS_BYTES) +
      load<u32>(walk, WALK_POSITIONS_BYTES);
    shared = readVarint(stop);
  }
  store<u32>(walk, postingsAt, WALK_POSTINGS_AT);
  if (!readText(walk, shared, readVarint(stop), stop) || !readNumbers(walk, stop, hasPositions)) return false;
  store<u32>(walk, (cursor - blocks) as u32, WALK_AT);
  store<u32>(walk, number + 1, WALK_NUMBER);
  store<u32>(walk, load<u32>(walk, WALK_HERE) - 1, WALK_HERE);
  store<u32>(walk, WALK_STANDS, WALK_STATE);
  return true;
}

/** Puts `added` bytes after the first `shared` ones of the term before. */
function readText(walk: usize, shared: u32, added: u32, stop: usize): bool {
  const text = walk + WALK_TEXT;
  if (shared > length(text) || added > MAX_TERM_BYTES || added > ((stop - cursor) as u32)) return false;
  setLength(text, shared);
  reserve(text, added);
  copyShort(at(text) + shared, cursor, added);
  const bytes = shared + added;
  setLength(text, bytes);
  const first = bswap(load<u64>(at(text)));
  const mask: u64 = bytes === 0 ? 0 : u64.MAX_VALUE << ((8 - (min(bytes, 8) as u64)) << 3);
  store<u64>(walk, first & mask, WALK_PREFIX);
  readAt(cursor + added);
  return true;
}

/** Reads how often the term occurs and how long its postings are; skips what is in the dictionary itself. */
function readNumbers(walk: usize, stop: usize, hasPositions: bool): bool {
  const docFreq = readVarint(stop);
  let total: u32 = 0;
  let postings: u32 = 0;
  let positions: u32 = 0;
  if (docFreq === 1) {
    store<u32>(walk, (cursor - at(walk + WALK_BLOCKS)) as u32, WALK_INLINE_AT);
    readVarint(stop);
    total = readVarint(stop);
    let left = hasPositions ? total : 0;
    for (; left > 0 && cursor < stop; left--) readVarint(stop);
    if (left > 0) return false;
  } else if (docFreq > 1) {
    total = docFreq + readVarint(stop);
    postings = readVarint(stop);
    if (hasPositions) positions = readVarint(stop);
  }
  store<u32>(walk, docFreq, WALK_DOC_FREQ);
  store<u32>(walk, total, WALK_TOTAL_FREQ);
  store<u32>(walk, postings, WALK_POSTINGS_BYTES);
  store<u32>(walk, positions, WALK_POSITIONS_BYTES);
  const end = (load<u32>(walk, WALK_POSTINGS_AT) as u64) + postings + positions;
  return cursor <= stop && (docFreq < 2 || end <= length(walk + WALK_POSTINGS));
}

/** Negative, 0 or positive as the current term of one walk sorts before, with or after that of another. */
export function compareTerms(a: usize, b: usize): i32 {
  const left = load<u64>(a, WALK_PREFIX);
  const right = load<u64>(b, WALK_PREFIX);
  if (left !== right) return left < right ? -1 : 1;
  const aLength = length(a + WALK_TEXT);
  const bLength = length(b + WALK_TEXT);
  const aText = at(a + WALK_TEXT);
  const bText = at(b + WALK_TEXT);
  const common = min(aLength, bLength);
  let index: u32 = 8;
  for (; index + 8 <= common; index += 8) {
    const mine = load<u64>(aText + index);
    const other = load<u64>(bText + index);
    if (mine !== other) return bswap(mine) < bswap(other) ? -1 : 1;
  }
  for (; index < common; index++) {
    const difference = (load<u8>(aText + index) as i32) - (load<u8>(bText + index) as i32);
    if (difference !== 0) return difference;
  }
  return (aLength as i32) - (bLength as i32);
}
