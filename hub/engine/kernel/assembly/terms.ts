/**
 * The terms of a segment buffer: those of all fields in one open-addressing hash table, each with a number in the order
 * of their first occurrence. What fits is stored in the term's record, so that a look-up touches one slot and one
 * record. Where terms occur is recorded by field (field.ts). The twin is test/oracles/engine/term-pool.ts.
 */

import { at, length, reserve, setLength } from "./buffer";
import { copyShort } from "./copy";
import { grow } from "./host";
import {
  BUFFER_CAPACITY,
  POOL_MASK,
  POOL_TABLE,
  POOL_TERM_COUNT,
  POOL_TERMS,
  POOL_TEXT,
  SHORT_TERM_BYTES,
  SLOT_BYTES,
  TERM_BYTES,
  TERM_FIELD_LENGTH,
  TERM_HASH,
  TERM_TEXT,
  TERM_TEXT_AT,
} from "./layout";

/** Odd, spreads the bits of a hash upwards: 2^64 divided by the golden ratio. */
const HASH_FINISH: u64 = ((0x9e37_79b9 as u64) << 32) | 0x7f4a_7c15;

/** Random, set by `seedHash`: nobody can choose terms that collide. */
export let hashSeed: u64 = 1;
export let hashFactor: u64 = 1;

/** Sets what the hash of this instance depends on; before the first term. */
export function seedHash(seed: u64, factor: u64): void {
  hashSeed = seed;
  hashFactor = factor | 1;
}

/** Hash of bytes in a field, eight at a time; reads up to 7 bytes after them. */
export function hashOf(field: u32, text: usize, count: u32): u32 {
  let h = hashSeed + ((field as u64) << 32) + (count as u64);
  let address = text;
  let left = count;
  while (left >= 8) {
    h = (h ^ load<u64>(address)) * hashFactor;
    h ^= h >>> 32;
    address += 8;
    left -= 8;
  }
  if (left > 0) {
    h = (h ^ (load<u64>(address) & ((1 << ((left as u64) << 3)) - 1))) * hashFactor;
    h ^= h >>> 32;
  }
  return ((h * HASH_FINISH) >>> 32) as u32;
}

/** Whether two runs of `count` bytes are equal; reads up to 7 bytes after each. */
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

/** Reserves space for `count` new terms that have `textBytes` bytes together. */
export function reserveTerms(pool: usize, count: u32, textBytes: u32): void {
  reserve(pool + POOL_TERMS, count * TERM_BYTES);
  reserve(pool + POOL_TEXT, textBytes);
  const terms = load<u32>(pool, POOL_TERM_COUNT) + count;
  let slots = load<u32>(pool, POOL_MASK) + 1;
  if (terms * 2 <= slots) return;
  while (terms * 2 > slots) slots *= 2;
  rehash(pool, slots);
}

function rehash(pool: usize, slots: u32): void {
  const table = pool + POOL_TABLE;
  // Its length stays 0: the old slots need no copy, the terms contain their hashes.
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

/** Returns the id of a term, new or not. Space must have been reserved. Up to 31 bytes after the text are read. */
export function internTerm(pool: usize, field: u32, text: usize, count: u32): u32 {
  if (count > (SHORT_TERM_BYTES as u32)) return internLong(pool, field, text, count);
  const first = load<u64>(text) & firstBytes(count);
  let second: u64 = 0;
  let third: u64 = 0;
  let h = (hashSeed + ((field as u64) << 32) + (count as u64)) ^ first;
  h *= hashFactor;
  h ^= h >>> 32;
  if (count > 8) {
    second = load<u64>(text, 8) & firstBytes(count - 8);
    h = (h ^ second) * hashFactor;
    h ^= h >>> 32;
    if (count > 16) {
      third = load<u64>(text, 16) & firstBytes(count - 16);
      h = (h ^ third) * hashFactor;
      h ^= h >>> 32;
    }
  }
  const hash = ((h * HASH_FINISH) >>> 32) as u32;
  const fieldLength = (field << 16) | count;
  const slots = load<u32>(pool, POOL_TABLE) as usize;
  const terms = load<u32>(pool, POOL_TERMS) as usize;
  const mask = load<u32>(pool, POOL_MASK);
  let index = hash & mask;
  let slot = slots + index * SLOT_BYTES;
  for (;;) {
    const id = load<u32>(slot, 4);
    if (id === 0) break;
    if (load<u32>(slot) === hash) {
      const term = terms + (id - 1) * TERM_BYTES;
      const difference =
        (load<u64>(term, TERM_TEXT) ^ first) |
        (load<u64>(term, TERM_TEXT + 8) ^ second) |
        (load<u64>(term, TERM_TEXT + 16) ^ third);
      if (difference === 0 && load<u32>(term, TERM_FIELD_LENGTH) === fieldLength) return id - 1;
    }
    index = (index + 1) & mask;
    slot = slots + index * SLOT_BYTES;
  }
  const term = insert(pool, slot, hash, fieldLength);
  store<u64>(term, first, TERM_TEXT);
  store<u64>(term, second, TERM_TEXT + 8);
  store<u64>(term, third, TERM_TEXT + 16);
  return load<u32>(pool, POOL_TERM_COUNT) - 1;
}

/** Mask of the first `count` bytes of eight; of all if there are more. */
@inline
function firstBytes(count: u32): u64 {
  const some: u64 = count === 0 ? 0 : u64.MAX_VALUE >>> (64 - ((count as u64) << 3));
  return count >= 8 ? u64.MAX_VALUE : some;
}

/** Like `internTerm`, of a text that isn't in the record. */
function internLong(pool: usize, field: u32, text: usize, count: u32): u32 {
  const hash = hashOf(field, text, count);
  const fieldLength = (field << 16) | count;
  const mask = load<u32>(pool, POOL_MASK);
  let index = hash & mask;
  let slot = at(pool + POOL_TABLE) + index * SLOT_BYTES;
  for (;;) {
    const id = load<u32>(slot, 4);
    if (id === 0) break;
    const term = at(pool + POOL_TERMS) + (id - 1) * TERM_BYTES;
    if (
      load<u32>(slot) === hash &&
      load<u32>(term, TERM_FIELD_LENGTH) === fieldLength &&
      equals(at(pool + POOL_TEXT) + load<u32>(term, TERM_TEXT_AT), text, count)
    )
      return id - 1;
    index = (index + 1) & mask;
    slot = at(pool + POOL_TABLE) + index * SLOT_BYTES;
  }
  const used = length(pool + POOL_TEXT);
  copyShort(at(pool + POOL_TEXT) + used, text, count);
  setLength(pool + POOL_TEXT, used + count);
  const term = insert(pool, slot, hash, fieldLength);
  store<u64>(term, load<u64>(text), TERM_TEXT);
  store<u32>(term, used, TERM_TEXT_AT);
  return load<u32>(pool, POOL_TERM_COUNT) - 1;
}

/** Makes the record of a new term, except for its text. */
function insert(pool: usize, slot: usize, hash: u32, fieldLength: u32): usize {
  const id = load<u32>(pool, POOL_TERM_COUNT);
  store<u32>(pool, id + 1, POOL_TERM_COUNT);
  setLength(pool + POOL_TERMS, (id + 1) * TERM_BYTES);
  store<u32>(slot, hash);
  store<u32>(slot, id + 1, 4);
  const term = load<u32>(pool, POOL_TERMS) + id * TERM_BYTES;
  store<u32>(term, fieldLength, TERM_FIELD_LENGTH);
  store<u32>(term, hash, TERM_HASH);
  return term;
}

/** Length of a term's text in bytes. */
@inline
export function textBytes(term: usize): u32 {
  return load<u16>(term, TERM_FIELD_LENGTH) as u32;
}

/** Where a term's text is; `texts` is the start of the long ones. */
@inline
export function textAt(term: usize, texts: usize): usize {
  return textBytes(term) <= (SHORT_TERM_BYTES as u32) ? term + TERM_TEXT : texts + load<u32>(term, TERM_TEXT_AT);
}
