/**
 * Documents in which two terms occur at a given distance: the core of a phrase. The twin is PhraseScorer in
 * hub/search/execute/nodes/phrase.ts. A term's state at `term`: see TERM_… below; the host fills the first five
 * numbers.
 */

import { BLOCK_HEADER_BYTES, GROUP } from "./layout";
import { unpackDocs, unpackGroup } from "./packing";

/** Address of postings, their bytes, address of positions, their bytes, documents of the term. */
const POSTINGS: usize = 0;
const POSTINGS_BYTES: usize = 4;
const POSITIONS: usize = 8;
const POSITIONS_BYTES: usize = 12;
const DOC_FREQ: usize = 16;
/** Number of the block decoded + 1, its documents, the current one, the first position of it in its block. */
const BLOCK: usize = 20;
const SIZE: usize = 24;
const INDEX: usize = 28;
const START: usize = 32;
/** Positions of the block are decoded: 1. */
const HAS_POSITIONS: usize = 36;
/** Address and number of the u32 that the block's positions have space for. */
const ROOM: usize = 40;
const ROOM_NUMBERS: usize = 44;
/** 128 u32 each (528 bytes with what a load reads more). */
const DOCS: usize = 48;
const FREQS: usize = 576;

const NO_MORE_DOCS: u32 = 0x7fffffff;

/** Something led outside, or is more than there is space for: the twin has to do it. */
let failed: bool = false;
let cursor: usize = 0;

function varint(end: usize): u32 {
  let value: u32 = 0;
  for (let shift: u32 = 0; shift < 35; shift += 7) {
    if (cursor >= end) {
      failed = true;
      return 0;
    }
    const byte = <u32>load<u8>(cursor++);
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

/** Decodes block number `block` (the number of full blocks: the tail); false after the last. */
function loadBlock(term: usize, block: u32, docCount: u32): bool {
  const postings = load<u32>(term, POSTINGS) as usize;
  const end = postings + load<u32>(term, POSTINGS_BYTES);
  const blocks = load<u32>(term, DOC_FREQ) / GROUP;
  const packed = postings + blocks * BLOCK_HEADER_BYTES;
  store<u32>(term, block + 1, BLOCK);
  store<u32>(term, 0, INDEX);
  store<u32>(term, 0, START);
  store<u32>(term, 0, HAS_POSITIONS);
  store<u32>(term, 0, SIZE);
  const before: i32 = block === 0 ? -1 : load<i32>(postings + (block - 1) * BLOCK_HEADER_BYTES);
  if (block < blocks) {
    const header = postings + block * BLOCK_HEADER_BYTES;
    const docBits = <u32>load<u8>(header + 12);
    const freqBits = <u32>load<u8>(header + 13);
    const at = packed + load<u32>(header + 4);
    if (docBits > 32 || freqBits > 32 || at + 16 * (docBits + freqBits) > end) {
      failed = true;
      return false;
    }
    unpackDocs(at, docBits, before, term + DOCS);
    unpackGroup(at + 16 * docBits, freqBits, term + FREQS);
    const one = i32x4.splat(1);
    for (let row: usize = 0; row < 512; row += 16)
      v128.store(term + FREQS + row, i32x4.add(v128.load(term + FREQS + row), one));
    store<u32>(term, GROUP, SIZE);
  } else {
    const count = load<u32>(term, DOC_FREQ) % GROUP;
    if (block > blocks || count === 0) return false;
    loadTail(term, blocks, count, before, end);
  }
  if (load<u32>(term + DOCS + ((load<u32>(term, SIZE) - 1) << 2)) >= docCount) failed = true;
  return !failed;
}

function loadTail(term: usize, blocks: u32, count: u32, before: i32, end: usize): void {
  const postings = load<u32>(term, POSTINGS) as usize;
  cursor = postings;
  if (blocks > 0) {
    const header = postings + (blocks - 1) * BLOCK_HEADER_BYTES;
    const bits = <u32>load<u8>(header + 12) + <u32>load<u8>(header + 13);
    cursor = postings + blocks * BLOCK_HEADER_BYTES + load<u32>(header + 4) + 16 * bits;
  }
  cursor += 2;
  // Read again by loadPositions.
  varint(end);
  let doc: i32 = before;
  for (let index: u32 = 0; index < count; index++) {
    const code = varint(end);
    doc += (code >>> 1) + 1;
    store<u32>(term + DOCS + (index << 2), doc);
    store<u32>(term + FREQS + (index << 2), code & 1 ? 1 : varint(end));
  }
  store<u32>(term, count, SIZE);
}

/** Moves to the first document at or after `target` and returns it. */
function advance(term: usize, target: u32, docCount: u32): u32 {
  while (true) {
    const size = load<u32>(term, SIZE);
    let index = load<u32>(term, INDEX);
    if (size > 0 && load<u32>(term + DOCS + ((size - 1) << 2)) >= target) {
      let start = load<u32>(term, START);
      while (load<u32>(term + DOCS + (index << 2)) < target) {
        start += load<u32>(term + FREQS + (index << 2));
        index++;
      }
      store<u32>(term, index, INDEX);
      store<u32>(term, start, START);
      return load<u32>(term + DOCS + (index << 2));
    }
    // Blocks whose last document lies before are passed over by their headers.
    const blocks = load<u32>(term, DOC_FREQ) / GROUP;
    let block = load<u32>(term, BLOCK);
    const postings = load<u32>(term, POSTINGS) as usize;
    while (block < blocks && load<u32>(postings + block * BLOCK_HEADER_BYTES) < target) block++;
    if (!loadBlock(term, block, docCount)) return NO_MORE_DOCS;
  }
}

/** Decodes the positions of the current block: distances within each document. */
function loadPositions(term: usize): void {
  const size = load<u32>(term, SIZE);
  let total: u32 = 0;
  for (let index: u32 = 0; index < size; index++) total += load<u32>(term + FREQS + (index << 2));
  const positions = load<u32>(term, POSITIONS) as usize;
  const end = positions + load<u32>(term, POSITIONS_BYTES);
  if (total > load<u32>(term, ROOM_NUMBERS)) {
    failed = true;
    return;
  }
  const postings = load<u32>(term, POSTINGS) as usize;
  const blocks = load<u32>(term, DOC_FREQ) / GROUP;
  const block = load<u32>(term, BLOCK) - 1;
  let offset: u32 = 0;
  if (block < blocks) offset = load<u32>(postings + block * BLOCK_HEADER_BYTES + 8);
  else {
    cursor = postings + 2;
    if (blocks > 0) {
      const header = postings + (blocks - 1) * BLOCK_HEADER_BYTES;
      const bits = <u32>load<u8>(header + 12) + <u32>load<u8>(header + 13);
      cursor = postings + blocks * BLOCK_HEADER_BYTES + load<u32>(header + 4) + 16 * bits + 2;
    }
    offset = varint(postings + load<u32>(term, POSTINGS_BYTES));
  }
  let at = positions + offset;
  const room = load<u32>(term, ROOM) as usize;
  let done: u32 = 0;
  for (; done + GROUP <= total; done += GROUP) {
    const bits = at < end ? <u32>load<u8>(at) : 33;
    if (bits > 32 || at + 1 + 16 * bits > end) {
      failed = true;
      return;
    }
    unpackGroup(at + 1, bits, room + (done << 2));
    at += 1 + 16 * bits;
  }
  cursor = at;
  for (; done < total; done++) store<u32>(room + (done << 2), varint(end));
  store<u32>(term, 1, HAS_POSITIONS);
}

/** True where a position of `second` is one of `first` plus `distance`, in the current document. */
function areNear(first: usize, second: usize, distance: u32): bool {
  if (load<u32>(first, HAS_POSITIONS) === 0) loadPositions(first);
  if (load<u32>(second, HAS_POSITIONS) === 0) loadPositions(second);
  if (failed) return false;
  let a = (load<u32>(first, ROOM) as usize) + (load<u32>(first, START) << 2);
  let b = (load<u32>(second, ROOM) as usize) + (load<u32>(second, START) << 2);
  const aEnd = a + (load<u32>(first + FREQS + (load<u32>(first, INDEX) << 2)) << 2);
  const bEnd = b + (load<u32>(second + FREQS + (load<u32>(second, INDEX) << 2)) << 2);
  let left = load<u32>(a) + distance;
  let right = load<u32>(b);
  while (true) {
    if (left === right) return true;
    if (left < right) {
      a += 4;
      if (a >= aEnd) return false;
      left += load<u32>(a);
    } else {
      b += 4;
      if (b >= bEnd) return false;
      right += load<u32>(b);
    }
  }
}

/**
 * Sets the bits (docCount of them, at `bits`) of the documents in which `second` occurs `distance` positions after
 * `first`. Returns 1, or 0 if the twin has to do it: the bytes lead outside, or a block has more positions than there
 * is space for.
 */
export function nearSet(first: usize, second: usize, distance: u32, docCount: u32, bits: usize): u32 {
  failed = false;
  let doc: u32 = 0;
  while (true) {
    const left = advance(first, doc, docCount);
    if (left === NO_MORE_DOCS) break;
    const right = advance(second, left, docCount);
    if (right === NO_MORE_DOCS) break;
    doc = right;
    if (left !== right) continue;
    if (areNear(first, second, distance)) {
      const at = bits + ((doc >>> 5) << 2);
      store<u32>(at, load<u32>(at) | (1 << (doc & 31)));
    }
    if (failed) break;
    doc++;
  }
  return failed ? 0 : 1;
}
