/**
 * What a search does per posting and per term: sets of documents of postings, substrings of dictionaries. All addresses
 * come from the host; no state is kept between calls. The twins are postings/postings-cursor.ts and
 * dictionary/dictionary.ts.
 */

import { BLOCK_HEADER_BYTES, GROUP, TERMS_PER_BLOCK } from "./layout";
import { unpackDocs } from "./packing";

/** Where the last varint ended. */
let cursor: usize = 0;

/** Reads a varint at `cursor`, below 2^35; zero after `end`. */
function varint(end: usize): u32 {
  let value: u32 = 0;
  for (let shift: u32 = 0; shift < 35 && cursor < end; shift += 7) {
    const byte = <u32>load<u8>(cursor++);
    value |= (byte & 127) << shift;
    if (byte < 128) break;
  }
  return value;
}

/** Sets bits [from, to) of the words at `bits`. */
function setRange(bits: usize, from: u32, to: u32): void {
  for (let doc = from; doc < to; doc++) {
    const at = bits + ((doc >>> 5) << 2);
    if ((doc & 31) === 0 && doc + 32 <= to) {
      store<u32>(at, 0xffffffff);
      doc += 31;
    } else {
      store<u32>(at, load<u32>(at) | (1 << (doc & 31)));
    }
  }
}

/** Gaps of at most this many bits add up to less than 2^31 in a group: documents ascend, whatever the bytes are. */
const SURE_BITS: u32 = 24;

/**
 * Sets the bit of each document of a term in the words at `bits` (docCount bits, in whole u64). `workspace` has 528 bytes.
 * Returns 1, or 0 if the bytes lead outside.
 */
export function postingsSet(
  postings: usize,
  length: u32,
  docFreq: u32,
  docCount: u32,
  bits: usize,
  workspace: usize,
): u32 {
  const blocks = docFreq / GROUP;
  const end = postings + length;
  const packed = postings + blocks * BLOCK_HEADER_BYTES;
  if (packed > end) return 0;
  let before: i32 = -1;
  let behind = packed;
  for (let block: u32 = 0; block < blocks; block++) {
    const header = postings + block * BLOCK_HEADER_BYTES;
    const last = load<u32>(header);
    const docBits = <u32>load<u8>(header + 12);
    const at = packed + load<u32>(header + 4);
    behind = at + 16 * (docBits + load<u8>(header + 13));
    if (docBits > 32 || last >= docCount || behind > end || <i32>last < before + GROUP) return 0;
    if (docBits === 0) {
      setRange(bits, before + 1, last + 1);
    } else {
      unpackDocs(at, docBits, before, workspace);
      if (load<u32>(workspace + 508) !== last) return 0;
      if (docBits <= SURE_BITS) setGroup(workspace, bits);
      else if (!setDocs(workspace, GROUP, docCount, bits)) return 0;
    }
    before = last;
  }
  const tail = docFreq % GROUP;
  if (tail === 0) return 1;
  cursor = behind + 2;
  varint(end);
  for (let index: u32 = 0; index < tail; index++) {
    const code = varint(end);
    before += (code >>> 1) + 1;
    if ((code & 1) === 0) varint(end);
    if (<u32>before >= docCount) return 0;
    const at = bits + ((before >>> 5) << 2);
    store<u32>(at, load<u32>(at) | (1 << (before & 31)));
  }
  return 1;
}

/** Sets the bit of one document. */
@inline
function setDoc(docs: usize, bits: usize): void {
  const doc = load<u32>(docs);
  const at = bits + ((doc >>> 6) << 3);
  store<u64>(at, load<u64>(at) | ((<u64>1) << (<u64>doc & 63)));
}

/**
 * Sets the bits of a group of documents, none of them outside: four that are far from each other in turn, so that none waits
 * for a word that the one before it has just written.
 */
function setGroup(docs: usize, bits: usize): void {
  for (let at = docs; at < docs + 128; at += 4) {
    setDoc(at, bits);
    setDoc(at + 128, bits);
    setDoc(at + 256, bits);
    setDoc(at + 384, bits);
  }
}

/** Sets the bits of ascending documents; false if one is outside. Neighbours share a word, which is written once. */
function setDocs(docs: usize, count: u32, docCount: u32, bits: usize): bool {
  let word: u32 = load<u32>(docs) >>> 6;
  let held: u64 = 0;
  const limit = docCount >>> 6;
  if (word > limit) return false;
  for (let index: u32 = 0; index < count; index++) {
    const doc = load<u32>(docs + (index << 2));
    const next = doc >>> 6;
    if (next !== word) {
      if (next > limit) return false;
      const at = bits + (word << 3);
      store<u64>(at, load<u64>(at) | held);
      held = 0;
      word = next;
    }
    held |= (<u64>1) << (doc & 63);
  }
  const at = bits + (word << 3);
  store<u64>(at, load<u64>(at) | held);
  return true;
}

/** True where the `length` bytes at `needle` begin at an address within text[from..to). */
function holds(text: usize, from: u32, to: u32, needle: usize, length: u32): bool {
  if (to < length) return false;
  const first = load<u8>(needle);
  const last = load<u8>(needle + length - 1);
  for (let at = from; at <= to - length; at++) {
    if (load<u8>(text + at) !== first || load<u8>(text + at + length - 1) !== last) continue;
    let same: u32 = 1;
    while (same < length && load<u8>(text + at + same) === load<u8>(needle + same)) same++;
    if (same >= length) return true;
  }
  return false;
}

/**
 * Finds the terms that hold a needle (at least one byte) in whole blocks of a dictionary: `blocks` begins with the
 * first of them, which holds term number 0 of `terms`. `hasPositions`: as the dictionary says. `text` has space for the
 * longest term. Writes the terms' numbers to the u32 at `out` and returns how many; 0xffffffff where the bytes lead
 * outside.
 */
export function scanTerms(
  blocks: usize,
  length: u32,
  terms: u32,
  hasPositions: u32,
  needle: usize,
  needleLength: u32,
  text: usize,
  textCapacity: u32,
  out: usize,
): u32 {
  const end = blocks + length;
  cursor = blocks;
  let found: u32 = 0;
  let size: u32 = 0;
  let held: bool = false;
  // Where the first occurrence ends at the latest that a following term may share.
  let heldEnd: u32 = 0;
  for (let term: u32 = 0; term < terms; term++) {
    let shared: u32 = 0;
    if (term % TERMS_PER_BLOCK === 0) {
      varint64(end);
      held = false;
    } else {
      shared = varint(end);
    }
    const added = varint(end);
    if (shared > size || shared + added > textCapacity || cursor + added > end) return 0xffffffff;
    copySmall(text + shared, cursor, added);
    cursor += added;
    size = shared + added;
    if (!(held && heldEnd <= shared)) {
      const from = shared >= needleLength ? shared - needleLength + 1 : 0;
      held = holds(text, held ? 0 : from, size, needle, needleLength);
      // Not known exactly: it is found again unless the whole term is shared.
      heldEnd = size;
    }
    if (held) {
      store<u32>(out + (found << 2), term);
      found++;
    }
    skipInfo(end, hasPositions);
  }
  return found;
}

/** Passes over a varint of any length. */
function varint64(end: usize): void {
  while (cursor < end && load<u8>(cursor++) >= 128);
}

function skipInfo(end: usize, hasPositions: u32): void {
  const docFreq = varint(end);
  if (docFreq === 0) return;
  if (docFreq > 1) {
    varint64(end);
    varint64(end);
    if (hasPositions) varint64(end);
    return;
  }
  varint64(end);
  let left = varint(end);
  if (hasPositions === 0) return;
  for (; left > 0 && cursor < end; left--) varint64(end);
}

/** Terms are short: a call of memory.copy costs more than their bytes. Reads and writes up to 15 bytes more. */
function copySmall(to: usize, from: usize, length: u32): void {
  for (let at: u32 = 0; at < length; at += 16) v128.store(to + at, v128.load(from + at));
}
