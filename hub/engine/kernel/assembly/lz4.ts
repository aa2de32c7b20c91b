/**
 * LZ4 blocks (github.com/lz4/lz4, doc/lz4_Block_format.md). The packer is greedy with one candidate per hash, like the
 * reference's fast one; the unpacker trusts no number. The twin, which gives the same bytes, is test/oracles/engine/lz4.ts.
 */

import { at, end, length, reserve, setEnd, setLength } from "./buffer";
import { copyShort, copyUpwards } from "./copy";
import { LZ4_SLOTS, SCRATCH_MATCHES, SCRATCH_PACKED, SCRATCH_PLAIN } from "./layout";
import { scratch } from "./scratch";

const MIN_MATCH: u32 = 4;
/**
 * A match begins at least this many bytes before the end and ends at least this many before it (format, end
 * conditions).
 */
const MATCH_START_MARGIN: u32 = 12;
const MATCH_END_MARGIN: u32 = 5;
/** Bytes that are compared at once. */
const KNOWN_BYTES: u32 = 8;
const MAX_DISTANCE: u32 = 65535;
/** After 2^5 positions without a match the steps get longer. */
const SKIP_SHIFT: u32 = 5;
const LOW_FACTOR: u32 = 2654435761;
const HIGH_FACTOR: u32 = 2246822519;
const HASH_SHIFT: u32 = 19;

/** Packs the `count` bytes of the plain scratch buffer into the packed one; returns the length. */
export function packLz4(count: u32): u32 {
  const packed = scratch + SCRATCH_PACKED;
  setLength(packed, 0);
  packBlock(at(scratch + SCRATCH_PLAIN), count, packed);
  return length(packed);
}

/** Appends the `count` bytes at `from`, packed, to the buffer `out`, which they aren't in. Up to 7 bytes after them are read. */
export function packBlock(from: usize, count: u32, out: usize): void {
  const matches = scratch + SCRATCH_MATCHES;
  setLength(matches, 0);
  reserve(out, count + count / 255 + 32);
  reserve(matches, LZ4_SLOTS * 2);
  const table = at(matches);
  memory.fill(table, 0, LZ4_SLOTS * 2);
  let to = end(out);
  let anchor: u32 = 0;
  const startLimit = count > MATCH_START_MARGIN ? count - MATCH_START_MARGIN : 0;
  const endLimit = count - MATCH_END_MARGIN;
  let offset: u32 = 1;
  let misses: u32 = 1 << SKIP_SHIFT;
  while (offset < startLimit) {
    const word = load<u64>(from + offset);
    const slot = table + (slotOf(word) << 1);
    // The lower half of an offset is enough: what it doesn't follow is a block further to the front.
    const distance = (offset - (load<u16>(slot) as u32)) & MAX_DISTANCE;
    store<u16>(slot, offset);
    let candidate = offset - distance;
    const difference = load<u64>(from + candidate) ^ word;
    if ((difference as u32) !== 0 || distance === 0) {
      offset += misses++ >>> SKIP_SHIFT;
      continue;
    }
    let stop = offset;
    if (difference !== 0) stop += (ctz(difference) >>> 3) as u32;
    else stop += matchLength(from + candidate, from + offset, endLimit - offset);
    while (offset > anchor && candidate > 0 && load<u8>(from + offset - 1) === load<u8>(from + candidate - 1)) {
      offset--;
      candidate--;
    }
    to = putSequence(to, from + anchor, offset - anchor, distance, stop - offset);
    offset = stop;
    anchor = stop;
    misses = 1 << SKIP_SHIFT;
    if (offset < startLimit) store<u16>(table + (slotOf(load<u64>(from + offset - 2)) << 1), offset - 2);
  }
  setEnd(out, putLiterals(to, from + anchor, count - anchor, 0));
}

/** Slot of the next six bytes, of eight: shorter matches are seldom worth their two bytes and a token. */
@inline
function slotOf(word: u64): usize {
  const low = (word as u32) * LOW_FACTOR;
  const high = ((word >>> 32) as u32 & 0xffff) * HIGH_FACTOR;
  return ((low + high) >>> HASH_SHIFT) as usize;
}

/** Bytes that two addresses have in common, at most `limit`, of which eight are known. */
function matchLength(candidate: usize, address: usize, limit: u32): u32 {
  let length = KNOWN_BYTES;
  while (length + 8 <= limit) {
    const difference = load<u64>(candidate + length) ^ load<u64>(address + length);
    if (difference !== 0) return length + ((ctz(difference) >>> 3) as u32);
    length += 8;
  }
  while (length < limit && load<u8>(candidate + length) === load<u8>(address + length)) length++;
  return length;
}

@inline
function putSequence(to: usize, literals: usize, count: u32, distance: u32, bytes: u32): usize {
  const more = bytes - MIN_MATCH;
  let next = putLiterals(to, literals, count, min(more, 15));
  store<u16>(next, distance);
  next += 2;
  return more >= 15 ? putLength(next, more - 15) : next;
}

/** Writes a token and the literals; `low` is the token's lower half. */
@inline
function putLiterals(to: usize, literals: usize, count: u32, low: u32): usize {
  store<u8>(to, (min(count, 15) << 4) | low);
  const next = count >= 15 ? putLength(to + 1, count - 15) : to + 1;
  copyShort(next, literals, count);
  return next + count;
}

function putLength(to: usize, length: u32): usize {
  let rest = length;
  while (rest >= 255) {
    store<u8>(to++, 255);
    rest -= 255;
  }
  store<u8>(to++, rest);
  return to;
}

/** Unpacks the `count` bytes of the plain scratch buffer into the packed one; false unless that gives `size` bytes. */
export function unpackLz4(count: u32, size: u32): bool {
  const packed = scratch + SCRATCH_PACKED;
  setLength(packed, 0);
  reserve(packed, size);
  let from = at(scratch + SCRATCH_PLAIN);
  const end = from + count;
  const start = at(packed);
  const limit = start + size;
  let to = start;
  while (from < end) {
    const token = load<u8>(from++) as u32;
    let literals = token >>> 4;
    if (literals === 15) {
      let byte: u32 = 255;
      while (byte === 255) {
        if (from >= end) return false;
        byte = load<u8>(from++) as u32;
        literals += byte;
      }
    }
    if (literals > ((end - from) as u32) || literals > ((limit - to) as u32)) return false;
    copyShort(to, from, literals);
    to += literals;
    from += literals;
    if (from === end) return to === limit;
    if (end - from < 2) return false;
    const distance = load<u16>(from) as u32;
    from += 2;
    let length = token & 15;
    if (length === 15) {
      let byte: u32 = 255;
      while (byte === 255) {
        if (from >= end) return false;
        byte = load<u8>(from++) as u32;
        length += byte;
      }
    }
    length += MIN_MATCH;
    if (distance === 0 || distance > ((to - start) as u32) || length > ((limit - to) as u32)) return false;
    copyMatch(to, distance, length);
    to += length;
  }
  return false;
}

/** Copies bytes that may overlap what they become. */
function copyMatch(to: usize, distance: u32, length: u32): void {
  const from = to - distance;
  if (distance >= length || distance >= 16) {
    copyUpwards(to, from, length);
    return;
  }
  let copied: u32 = 0;
  if (distance >= 8) {
    for (; copied + 8 <= length; copied += 8) store<u64>(to + copied, load<u64>(from + copied));
  }
  for (; copied < length; copied++) store<u8>(to + copied, load<u8>(from + copied));
}
