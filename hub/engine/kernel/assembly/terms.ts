/**
 * The inverted index of a segment buffer: terms of all fields in one open-addressing hash table, their documents and
 * positions in slices of one growing run of bytes (as Lucene's ByteSlicePool). The twin is segment/term-pool.ts.
 */

import { at, length, reserve, setLength } from "./buffer";
import { copyShort } from "./copy";
import { grow } from "./host";
import {
  BUFFER_AT,
  BUFFER_CAPACITY,
  POOL_MASK,
  POOL_SLICES,
  POOL_TABLE,
  POOL_TERM_COUNT,
  POOL_TERMS,
  POOL_TEXT,
  SLOT_BYTES,
  TERM_BYTES,
  TERM_DOC_AT,
  TERM_DOC_END,
  TERM_DOC_FREQ,
  TERM_DOC_HEAD,
  TERM_FIELD_LENGTH,
  TERM_FIRST_POSITION,
  TERM_HASH,
  TERM_LAST_DELTA,
  TERM_LAST_DOC,
  TERM_LAST_FREQ,
  TERM_LAST_POSITION,
  TERM_POSITION_AT,
  TERM_POSITION_END,
  TERM_POSITION_HEAD,
  TERM_TEXT,
} from "./layout";

/** Bytes of the offset at the end of a slice. */
const LINK_BYTES: u32 = 4;

/** Bytes that one occurrence can take in the slices: a slice of the largest size for its document and for its position. */
const OCCURRENCE_SLICE_BYTES: u32 = 600;

/** Odd, spreads the bits of a hash upwards: 2^64 divided by the golden ratio. */
const HASH_FINISH: u64 = ((0x9e37_79b9 as u64) << 32) | 0x7f4a_7c15;

/** Sizes of slices of the levels 0..7 in eighths, a byte each from the lowest. */
const SLICE_EIGHTHS: u64 = ((0x2014_0c08 as u64) << 32) | 0x0503_0201;

/** Random, set by `seedHash`: nobody can choose terms that collide. */
let hashSeed: u64 = 1;
let hashFactor: u64 = 1;

/** Sets what the hash of this instance depends on; before the first term. */
export function seedHash(seed: u64, factor: u64): void {
  hashSeed = seed;
  hashFactor = factor | 1;
}

/** Hash of bytes in a field, eight at a time; reads up to 7 bytes behind them. */
export function hashOf(field: u32, text: usize, count: u32): u32 {
  let h = hashSeed + ((field as u64) << 32) + (count as u64);
  let place = text;
  let left = count;
  while (left >= 8) {
    h = (h ^ load<u64>(place)) * hashFactor;
    h ^= h >>> 32;
    place += 8;
    left -= 8;
  }
  if (left > 0) {
    h = (h ^ (load<u64>(place) & ((1 << ((left as u64) << 3)) - 1))) * hashFactor;
    h ^= h >>> 32;
  }
  return ((h * HASH_FINISH) >>> 32) as u32;
}

/** Whether two runs of `count` bytes are equal; reads up to 7 bytes behind each. */
export function equals(a: usize, b: usize, count: u32): bool {
  let left = count;
  while (left >= 8) {
    if (load<u64>(a) !== load<u64>(b)) return false;
    a += 8;
    b += 8;
    left -= 8;
  }
  return left === 0 || (load<u64>(a) ^ load<u64>(b)) << (64 - ((left as u64) << 3)) === 0;
}

/** Makes room for `occurrences` occurrences whose new terms have `textBytes` bytes together. */
export function reserveOccurrences(pool: usize, occurrences: u32, textBytes: u32): void {
  reserve(pool + POOL_TERMS, occurrences * TERM_BYTES);
  reserve(pool + POOL_TEXT, textBytes);
  reserve(pool + POOL_SLICES, occurrences * OCCURRENCE_SLICE_BYTES);
  const terms = load<u32>(pool, POOL_TERM_COUNT) + occurrences;
  let slots = load<u32>(pool, POOL_MASK) + 1;
  if (terms * 2 <= slots) return;
  while (terms * 2 > slots) slots *= 2;
  rehash(pool, slots);
}

function rehash(pool: usize, slots: u32): void {
  const table = pool + POOL_TABLE;
  // Its length stays 0: the old slots need no copy, the terms know their hashes.
  if (slots * SLOT_BYTES > load<u32>(table, BUFFER_CAPACITY)) grow(table, slots * SLOT_BYTES);
  const slotsAt = at(table);
  memory.fill(slotsAt, 0, slots * SLOT_BYTES);
  const mask = slots - 1;
  store<u32>(pool, mask, POOL_MASK);
  const count = load<u32>(pool, POOL_TERM_COUNT);
  let term = at(pool + POOL_TERMS);
  for (let id: u32 = 0; id < count; id++) {
    const hash = load<u32>(term, TERM_HASH);
    let slot = hash & mask;
    while (load<u32>(slotsAt + slot * SLOT_BYTES, 4) !== 0) slot = (slot + 1) & mask;
    store<u32>(slotsAt + slot * SLOT_BYTES, hash);
    store<u32>(slotsAt + slot * SLOT_BYTES, id + 1, 4);
    term += TERM_BYTES;
  }
}

/** Returns the address of a term's record, made where it is new. Room must have been made. */
export function internTerm(pool: usize, field: u32, text: usize, count: u32): usize {
  const hash = hashOf(field, text, count);
  const fieldLength = (field << 16) | count;
  const slots = load<u32>(pool, POOL_TABLE);
  const terms = load<u32>(pool, POOL_TERMS);
  const texts = load<u32>(pool, POOL_TEXT);
  const mask = load<u32>(pool, POOL_MASK);
  let slot = slots + (hash & mask) * SLOT_BYTES;
  for (;;) {
    const id = load<u32>(slot, 4);
    if (id === 0) break;
    if (load<u32>(slot) === hash) {
      const term = terms + (id - 1) * TERM_BYTES;
      if (
        load<u32>(term, TERM_FIELD_LENGTH) === fieldLength &&
        equals(texts + load<u32>(term, TERM_TEXT), text, count)
      )
        return term;
    }
    slot = slots + ((((slot - slots) / SLOT_BYTES + 1) as u32) & mask) * SLOT_BYTES;
  }
  return insert(pool, slot, hash, fieldLength, text, count);
}

function insert(pool: usize, slot: usize, hash: u32, fieldLength: u32, text: usize, count: u32): usize {
  const id = load<u32>(pool, POOL_TERM_COUNT);
  store<u32>(pool, id + 1, POOL_TERM_COUNT);
  store<u32>(slot, hash);
  store<u32>(slot, id + 1, 4);
  const term = load<u32>(pool, POOL_TERMS) + id * TERM_BYTES;
  setLength(pool + POOL_TERMS, (id + 1) * TERM_BYTES);
  const used = length(pool + POOL_TEXT);
  copyShort(at(pool + POOL_TEXT) + used, text, count);
  setLength(pool + POOL_TEXT, used + count);
  const zeros = i8x16.splat(0);
  v128.store(term, zeros);
  v128.store(term, zeros, 16);
  v128.store(term, zeros, 32);
  v128.store(term, zeros, 48);
  store<u32>(term, hash, TERM_HASH);
  store<u32>(term, fieldLength, TERM_FIELD_LENGTH);
  store<u32>(term, used, TERM_TEXT);
  return term;
}

/** Notes an occurrence in `doc`; `position` < 0: the document counts, once. Room must have been made. */
export function addOccurrence(pool: usize, term: usize, doc: u32, position: i32): void {
  const docFreq = load<u32>(term, TERM_DOC_FREQ);
  if (docFreq === 0) {
    store<u32>(term, 1, TERM_DOC_FREQ);
    store<u32>(term, doc, TERM_LAST_DOC);
    store<u32>(term, doc, TERM_LAST_DELTA);
    store<u32>(term, 1, TERM_LAST_FREQ);
    store<i32>(term, position, TERM_FIRST_POSITION);
    store<i32>(term, position, TERM_LAST_POSITION);
    return;
  }
  const lastDoc = load<u32>(term, TERM_LAST_DOC);
  if (lastDoc !== doc) {
    const freq = load<u32>(term, TERM_LAST_FREQ);
    const one: u32 = freq === 1 ? 1 : 0;
    writeVarint(pool, term, TERM_DOC_HEAD, load<u32>(term, TERM_LAST_DELTA) * 2 + one);
    if (one === 0) writeVarint(pool, term, TERM_DOC_HEAD, freq);
    store<u32>(term, docFreq + 1, TERM_DOC_FREQ);
    store<u32>(term, doc - lastDoc, TERM_LAST_DELTA);
    store<u32>(term, doc, TERM_LAST_DOC);
    store<u32>(term, 1, TERM_LAST_FREQ);
    store<u32>(term, 0, TERM_LAST_POSITION);
  } else if (position < 0) {
    return;
  } else {
    store<u32>(term, load<u32>(term, TERM_LAST_FREQ) + 1, TERM_LAST_FREQ);
  }
  if (position >= 0) {
    writeVarint(pool, term, TERM_POSITION_HEAD, position - load<i32>(term, TERM_LAST_POSITION));
    store<i32>(term, position, TERM_LAST_POSITION);
  }
}

/** Appends to the stream whose head, place and end stand at `term + stream`. */
function writeVarint(pool: usize, term: usize, stream: usize, value: u32): void {
  const links = term + stream;
  if (load<u32>(links) === 0) {
    const start = newSlice(pool, links, 0);
    store<u32>(links, start);
    store<u32>(links, start, 4);
  }
  const slices = load<u32>(pool + POOL_SLICES, BUFFER_AT);
  let place = load<u32>(links, 4);
  let limit = load<u32>(links, 8);
  let rest = value;
  for (;;) {
    if (place === limit) {
      place = nextSlice(pool, links, slices, limit);
      limit = load<u32>(links, 8);
    }
    if (rest < 0x80) break;
    store<u8>(slices + place, (rest & 0x7f) | 0x80);
    place++;
    rest >>>= 7;
  }
  store<u8>(slices + place, rest);
  store<u32>(links, place + 1, 4);
}

/** Bytes of a slice of `level` 0..7: 8, 16, 24, 40, 64, 96, 160, 256. */
function sliceBytes(level: u32): u32 {
  return (((SLICE_EIGHTHS >>> ((level as u64) << 3)) & 0xff) as u32) << 3;
}

/** Makes a slice: a byte for the level, data, the link. Returns where the data begins, an offset above 0. */
function newSlice(pool: usize, links: usize, level: u32): u32 {
  const buffer = pool + POOL_SLICES;
  const start = length(buffer);
  const size = sliceBytes(level);
  setLength(buffer, start + size);
  const slice = load<u32>(buffer, BUFFER_AT) + start;
  store<u8>(slice, level);
  const limit = start + size - LINK_BYTES;
  // The level is needed again when the slice is full; until then the link's place is free for it.
  store<u8>(slice + size - LINK_BYTES, level);
  store<u32>(links, limit, 8);
  return start + 1;
}

function nextSlice(pool: usize, links: usize, slices: usize, limit: u32): u32 {
  const level = load<u8>(slices + limit) as u32;
  const start = newSlice(pool, links, level < 7 ? level + 1 : 7);
  store<u32>(slices + limit, start - 1);
  return start;
}

/** Place of the data of the slice that begins at offset `start`. */
export function sliceData(slices: usize, start: u32): usize {
  return slices + start + 1;
}

/** Place of the link of the slice that begins at offset `start`. */
export function sliceLink(slices: usize, start: u32): usize {
  return slices + start + sliceBytes(load<u8>(slices + start)) - LINK_BYTES;
}
