/**
 * Lists the postings of a term as a segment has them, under the numbers that its documents have in a merged one: what
 * postings.ts writes next. The twins are postings/postings-cursor.ts and merge/merge-terms.ts.
 */

import { at, length, reserve, setLength } from "./buffer";
import {
  BLOCK_HEADER_BYTES,
  GROUP,
  SCRATCH_DOCS,
  SCRATCH_FREQS,
  SCRATCH_POSITIONS,
} from "./layout";
import {
  NO_DOCUMENT,
  WALK_BASE,
  WALK_BLOCKS,
  WALK_DOCS,
  WALK_DOC_FREQ,
  WALK_INLINE_AT,
  WALK_MAP,
  WALK_POSITIONS_BYTES,
  WALK_POSTINGS,
  WALK_POSTINGS_AT,
  WALK_POSTINGS_BYTES,
  WALK_TOTAL_FREQ,
} from "./layout-merge";
import { unpackDocs, unpackGroup } from "./packing";
import { beginPostings, packedGaps, packGroups, takeList } from "./postings";
import { scratch } from "./scratch";
import { cursor, readAt, readVarint } from "./varint";

/** Occurrences of one term beyond which the bytes can't be right: a segment has fewer. */
const MAX_OCCURRENCES: u32 = 0x1000_0000;

/** Documents of a term at which a list is packed; those that a walk has may come to as many. */
const LISTED_AT_ONCE: u32 = 0x4000;

/** Bytes of a group that is not packed. */
const GROUP_BYTES: usize = GROUP * 4;

/** What was listed so far: documents, gaps between positions, occurrences. */
let listed: u32 = 0;
let gaps: u32 = 0;
let occurrences: u32 = 0;
/** Documents that were packed and aren't in the list any more. */
let packed: u32 = 0;

/** Begins a term's list. */
export function beginList(): void {
  listed = 0;
  gaps = 0;
  occurrences = 0;
  packed = 0;
  beginPostings();
}

/** Ends the list; `endPostings` may be called. */
export function endList(): void {
  setLength(scratch + SCRATCH_DOCS, 0);
  setLength(scratch + SCRATCH_FREQS, 0);
  setLength(scratch + SCRATCH_POSITIONS, 0);
  takeList(packed + listed, occurrences);
}

/** Packs the full groups of a long list, and moves what is left to its beginning. */
function packList(norms: usize, hasPositions: bool): void {
  const groups = listed / GROUP;
  packGroups(groups, norms, hasPositions);
  const taken = groups * GROUP;
  listed -= taken;
  packed += taken;
  shift(SCRATCH_DOCS, taken, listed);
  shift(SCRATCH_FREQS, taken, listed);
  if (!hasPositions) return;
  gaps -= packedGaps;
  shift(SCRATCH_POSITIONS, packedGaps, gaps);
}

/** Moves the `count` numbers from number `from` on to the beginning of a buffer. */
function shift(buffer: usize, from: u32, count: u32): void {
  memory.copy(at(scratch + buffer), at(scratch + buffer) + from * 4, count * 4);
}

/** Adds the live documents of the term of a walk; false where its bytes are damaged. `norms`: as SEAL_NORMS. */
export function listTerm(walk: usize, norms: usize, hasPositions: bool): bool {
  const docFreq = load<u32>(walk, WALK_DOC_FREQ);
  const total = load<u32>(walk, WALK_TOTAL_FREQ);
  if (docFreq === 0) return true;
  if (docFreq > load<u32>(walk, WALK_DOCS) || total > MAX_OCCURRENCES || total < docFreq) return false;
  // A group takes a byte at least, where all its gaps are 0.
  const positions = load<u32>(walk, WALK_POSITIONS_BYTES) as u64;
  if (hasPositions && docFreq > 1 && (total as u64) > positions * GROUP) return false;
  makeRoom(SCRATCH_DOCS, listed, min(docFreq, LISTED_AT_ONCE));
  makeRoom(SCRATCH_FREQS, listed, min(docFreq, LISTED_AT_ONCE));
  return docFreq === 1
    ? listInlined(walk, total, hasPositions)
    : listBlocks(walk, docFreq, total, norms, hasPositions);
}

/** Space for `more` numbers, and for what unpacking a group writes too much, after `used` ones that stay. */
function makeRoom(buffer: usize, used: u32, more: u32): void {
  setLength(scratch + buffer, used * 4);
  reserve(scratch + buffer, (more + GROUP) * 4);
}

/** A term that one document has. */
function listInlined(walk: usize, total: u32, hasPositions: bool): bool {
  const stop = at(walk + WALK_BLOCKS) + length(walk + WALK_BLOCKS);
  readAt(at(walk + WALK_BLOCKS) + load<u32>(walk, WALK_INLINE_AT));
  const docs = at(scratch + SCRATCH_DOCS) + listed * 4;
  store<u32>(docs, readVarint(stop));
  store<u32>(at(scratch + SCRATCH_FREQS) + listed * 4, readVarint(stop));
  if (hasPositions) {
    makeRoom(SCRATCH_POSITIONS, gaps, total);
    const out = at(scratch + SCRATCH_POSITIONS) + gaps * 4;
    for (let index: u32 = 0; index < total; index++) store<u32>(out + index * 4, readVarint(stop));
  }
  return takeDocs(walk, 1, total, hasPositions);
}

function listBlocks(walk: usize, docFreq: u32, total: u32, norms: usize, hasPositions: bool): bool {
  const postings = at(walk + WALK_POSTINGS) + load<u32>(walk, WALK_POSTINGS_AT);
  const stop = postings + load<u32>(walk, WALK_POSTINGS_BYTES);
  const positionsStop = stop + load<u32>(walk, WALK_POSITIONS_BYTES);
  const blocks = docFreq / GROUP;
  let address = postings + blocks * BLOCK_HEADER_BYTES;
  let positions = stop;
  let before: i32 = -1;
  let left = total;
  if (address > stop) return false;
  for (let block: u32 = 0; block < blocks; block++) {
    const header = postings + block * BLOCK_HEADER_BYTES;
    const docBits = load<u8>(header, 12) as u32;
    const freqBits = load<u8>(header, 13) as u32;
    if (docBits > 32 || freqBits > 32 || address + 16 * (docBits + freqBits) > stop) return false;
    const docs = at(scratch + SCRATCH_DOCS) + listed * 4;
    unpackDocs(address, docBits, before, docs);
    unpackFreqs(address + 16 * docBits, freqBits, at(scratch + SCRATCH_FREQS) + listed * 4);
    address += 16 * (docBits + freqBits);
    before = load<i32>(docs, GROUP * 4 - 4);
    const sum = sumOfFreqs(GROUP);
    if (sum > left) return false;
    left -= sum;
    if (hasPositions) positions = readGaps(positions, positionsStop, sum);
    if (positions === 0 || !takeDocs(walk, GROUP, sum, hasPositions)) return false;
    if (listed >= LISTED_AT_ONCE) packList(norms, hasPositions);
  }
  const count = docFreq % GROUP;
  if (count === 0) return left === 0;
  if (!readTail(address + 2, stop, count, before) || sumOfFreqs(count) !== left) return false;
  if (hasPositions) positions = readGaps(positions, positionsStop, left);
  return positions !== 0 && takeDocs(walk, count, left, hasPositions);
}

function unpackFreqs(packed: usize, bits: u32, out: usize): void {
  unpackGroup(packed, bits, out);
  const one = i32x4.splat(1);
  for (let row: usize = 0; row < GROUP_BYTES; row += 16)
    v128.store(out + row, i32x4.add(v128.load(out + row), one));
}

/** Documents after the last full block, as writeTail of postings.ts leaves them after the impact. */
function readTail(address: usize, stop: usize, count: u32, last: u32): bool {
  if (address > stop) return false;
  const docs = at(scratch + SCRATCH_DOCS) + listed * 4;
  const freqs = at(scratch + SCRATCH_FREQS) + listed * 4;
  let doc = last;
  readAt(address);
  readVarint(stop);
  for (let index: u32 = 0; index < count; index++) {
    const code = readVarint(stop);
    doc += (code >>> 1) + 1;
    store<u32>(docs + index * 4, doc);
    store<u32>(freqs + index * 4, (code & 1) !== 0 ? 1 : readVarint(stop));
  }
  return cursor <= stop;
}

/** Occurrences of the `count` documents after those listed. */
function sumOfFreqs(count: u32): u32 {
  const freqs = at(scratch + SCRATCH_FREQS) + listed * 4;
  let sum: u64 = 0;
  for (let index: u32 = 0; index < count; index++) sum += load<u32>(freqs + index * 4);
  return sum > MAX_OCCURRENCES ? u32.MAX_VALUE : (sum as u32);
}

/** Reads `count` gaps between positions after those listed; returns the address after them, 0 if they are damaged. */
function readGaps(from: usize, stop: usize, count: u32): usize {
  makeRoom(SCRATCH_POSITIONS, gaps, count);
  let out = at(scratch + SCRATCH_POSITIONS) + gaps * 4;
  let address = from;
  let left = count;
  for (; left >= (GROUP as u32); left -= GROUP) {
    if (address >= stop) return 0;
    const bits = load<u8>(address) as u32;
    if (bits > 32 || address + 1 + 16 * bits > stop) return 0;
    unpackGroup(address + 1, bits, out);
    address += 1 + 16 * bits;
    out += GROUP_BYTES;
  }
  readAt(address);
  for (; left > 0; left--) {
    store<u32>(out, readVarint(stop));
    out += 4;
  }
  return cursor;
}

/** Gives the `count` documents that were read their new numbers and keeps those that live. */
function takeDocs(walk: usize, count: u32, sum: u32, hasPositions: bool): bool {
  const docs = at(scratch + SCRATCH_DOCS) + listed * 4;
  const limit = load<u32>(walk, WALK_DOCS);
  const map = load<u32>(walk, WALK_MAP) as usize;
  if (load<u32>(docs + ((count - 1) << 2)) >= limit) return false;
  if (map !== 0) return keepLive(map, limit, count, hasPositions);
  const base = load<u32>(walk, WALK_BASE);
  for (let index: u32 = 0; index < count; index++) store<u32>(docs + index * 4, load<u32>(docs + index * 4) + base);
  listed += count;
  occurrences += sum;
  if (hasPositions) gaps += sum;
  return true;
}

/** Moves the documents that live, their frequencies and their positions together. */
function keepLive(map: usize, limit: u32, count: u32, hasPositions: bool): bool {
  const docs = at(scratch + SCRATCH_DOCS);
  const freqs = at(scratch + SCRATCH_FREQS);
  const positions = at(scratch + SCRATCH_POSITIONS);
  const first = listed;
  let from = gaps;
  for (let index = first; index < first + count; index++) {
    const doc = load<u32>(docs + index * 4);
    const freq = load<u32>(freqs + index * 4);
    if (doc >= limit) return false;
    const kept = load<u32>(map + doc * 4);
    if (kept !== NO_DOCUMENT) {
      store<u32>(docs + listed * 4, kept);
      store<u32>(freqs + listed * 4, freq);
      listed++;
      occurrences += freq;
      if (hasPositions) {
        if (gaps !== from) memory.copy(positions + gaps * 4, positions + from * 4, freq * 4);
        gaps += freq;
      }
    }
    from += freq;
  }
  return true;
}
