/** LZ4 blocks in TypeScript: the reference for the kernel's packLz4, byte for byte, and for its unpackLz4. */

import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";

const SLOTS = 8192;
const MIN_MATCH = 4;
/**
 * A match begins at least MATCH_START_MARGIN bytes before the end and ends at least MATCH_END_MARGIN before it (format,
 * end conditions).
 */
const MATCH_START_MARGIN = 12;
const MATCH_END_MARGIN = 5;
const MAX_DISTANCE = 65_535;
/** After 2^5 positions without a match the steps get longer. */
const SKIP_SHIFT = 5;
const LOW_FACTOR = 2_654_435_761;
const HIGH_FACTOR = 2_246_822_519;
const HASH_SHIFT = 19;

/** Lower halves of places; 0 where nothing is known, as everything may begin like the first bytes. */
const table = new Uint16Array(SLOTS);

/** Returns `bytes` packed. */
export function packLz4(bytes: Uint8Array): Uint8Array {
  const out = new ByteBuffer(bytes.length + Math.ceil(bytes.length / 255) + 32);
  table.fill(0);
  const startLimit = bytes.length - MATCH_START_MARGIN;
  const endLimit = bytes.length - MATCH_END_MARGIN;
  let anchor = 0;
  let place = 1;
  let misses = 1 << SKIP_SHIFT;
  while (place < startLimit) {
    const slot = slotOf(bytes, place);
    // The lower half of an address is enough: what it doesn't follow is a block further to the front.
    const distance = (place - table[slot]!) & MAX_DISTANCE;
    table[slot] = place;
    let candidate = place - distance;
    if (distance === 0 || !startsAlike(bytes, candidate, place)) {
      place += misses++ >>> SKIP_SHIFT;
      continue;
    }
    let stop = place + MIN_MATCH;
    while (stop < endLimit && bytes[stop] === bytes[stop - distance]) stop++;
    while (place > anchor && candidate > 0 && bytes[place - 1] === bytes[candidate - 1]) {
      place--;
      candidate--;
    }
    const more = stop - place - MIN_MATCH;
    putLiterals(out, bytes, anchor, place, Math.min(more, 15));
    out.u8(distance & 0xff);
    out.u8(distance >>> 8);
    if (more >= 15) putLength(out, more - 15);
    place = stop;
    anchor = stop;
    misses = 1 << SKIP_SHIFT;
    if (place < startLimit) table[slotOf(bytes, place - 2)] = place - 2;
  }
  putLiterals(out, bytes, anchor, bytes.length, 0);
  return out.view().slice();
}

/** Slot of the next six bytes: shorter matches are seldom worth their two bytes and a token. */
function slotOf(bytes: Uint8Array, at: number): number {
  const low = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
  const high = bytes[at + 4]! | (bytes[at + 5]! << 8);
  return ((Math.imul(low, LOW_FACTOR) + Math.imul(high, HIGH_FACTOR)) | 0) >>> HASH_SHIFT;
}

function startsAlike(bytes: Uint8Array, a: number, b: number): boolean {
  for (let index = 0; index < MIN_MATCH; index++) if (bytes[a + index] !== bytes[b + index]) return false;
  return true;
}

/** Writes a token and the literals; `low` is the token's lower half. */
function putLiterals(out: ByteBuffer, bytes: Uint8Array, from: number, to: number, low: number): void {
  const count = to - from;
  out.u8((Math.min(count, 15) << 4) | low);
  if (count >= 15) putLength(out, count - 15);
  out.append(bytes, from, to);
}

function putLength(out: ByteBuffer, length: number): void {
  let rest = length;
  for (; rest >= 255; rest -= 255) out.u8(255);
  out.u8(rest);
}

/** Returns the `size` bytes that were packed; null where `packed` is damaged. */
export function unpackLz4(packed: Uint8Array, size: number): Uint8Array | null {
  const out = new Uint8Array(size);
  const end = packed.length;
  let from = 0;
  let to = 0;
  let total = 0;
  /** Reads the bytes that make a length of 15 longer; false at the end of the input. */
  const readMore = (): boolean => {
    for (let byte = 255; byte === 255; total += byte) {
      if (from >= end) return false;
      byte = packed[from++]!;
    }
    return true;
  };
  while (from < end) {
    const token = packed[from++]!;
    total = token >>> 4;
    if (total === 15 && !readMore()) return null;
    if (total > end - from || total > size - to) return null;
    out.set(packed.subarray(from, from + total), to);
    to += total;
    from += total;
    if (from === end) return to === size ? out : null;
    if (end - from < 2) return null;
    const distance = packed[from]! | (packed[from + 1]! << 8);
    from += 2;
    total = token & 15;
    if (total === 15 && !readMore()) return null;
    total += MIN_MATCH;
    if (distance === 0 || distance > to || total > size - to) return null;
    for (const stop = to + total; to < stop; to++) out[to] = out[to - distance]!;
  }
  return null;
}
