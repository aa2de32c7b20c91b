/** Puts the terms of a segment buffer in order: by field, then by their bytes. */

import { at, reserve } from "./buffer";
import { copyShort } from "./copy";
import { POOL_TERM_COUNT, POOL_TERMS, POOL_TEXT, TERM_BYTES, TERM_FIELD_LENGTH, TERM_TEXT } from "./layout";
import { textAt, textBytes } from "./terms";

/** Counts of the values of eight bytes, u32. */
const COUNTS_BYTES: u32 = 8 * 256 * 4;

/** Terms of a run that are put in order one by one before runs are merged. */
const SHORT_RUN: u32 = 8;

/** So many terms are merged at once: less than the counts of the distribution take. */
const FEW_TERMS: u32 = 128;

/** An entry: the first eight bytes as a big-endian number, the term's id. */
const ENTRY_BYTES: u32 = 16;

/** Writes ids grouped by field to `ids`; `starts` (fieldCount + 1 numbers) receives where those of each field begin. */
export function groupTerms(pool: usize, fieldCount: u32, starts: usize, ids: usize): void {
  memory.fill(starts, 0, (fieldCount + 1) * 4);
  const count = load<u32>(pool, POOL_TERM_COUNT);
  const terms = at(pool + POOL_TERMS);
  for (let id: u32 = 0; id < count; id++) {
    const slot = starts + (load<u16>(terms + id * TERM_BYTES, TERM_FIELD_LENGTH + 2) as usize) * 4;
    store<u32>(slot, load<u32>(slot) + 1);
  }
  let sum: u32 = 0;
  for (let field: u32 = 0; field <= fieldCount; field++) {
    const size = load<u32>(starts + field * 4);
    store<u32>(starts + field * 4, sum);
    sum += size;
  }
  for (let id: u32 = 0; id < count; id++) {
    const slot = starts + (load<u16>(terms + id * TERM_BYTES, TERM_FIELD_LENGTH + 2) as usize) * 4;
    const target = load<u32>(slot);
    store<u32>(ids + target * 4, id);
    store<u32>(slot, target + 1);
  }
  // Each start has moved to the end of its field, which is the next one's start.
  for (let field = fieldCount; field > 0; field--)
    store<u32>(starts + field * 4, load<u32>(starts + (field - 1) * 4));
  store<u32>(starts, 0);
}

/**
 * Sorts `count` ids of one field by the bytes of their terms and records the position of each in the u32 at `ordinals`,
 * by id. `workspace`: a buffer for two lists of entries and the counts of the distribution.
 */
export function sortTerms(pool: usize, ids: usize, count: u32, ordinals: usize, workspace: usize): void {
  reserve(workspace, count * ENTRY_BYTES * 2 + COUNTS_BYTES);
  const counts = at(workspace);
  const entries = counts + COUNTS_BYTES;
  makeEntries(pool, ids, count, entries);
  let sorted = entries;
  if (count <= FEW_TERMS) mergeSort(pool, entries, entries + count * ENTRY_BYTES, count);
  else {
    sorted = distribute(count, counts, entries);
    sortAlike(pool, sorted, sorted === entries ? entries + count * ENTRY_BYTES : entries, count);
  }
  for (let index: u32 = 0; index < count; index++) {
    const id = load<u32>(sorted + index * ENTRY_BYTES, 8);
    store<u32>(ids + index * 4, id);
    store<u32>(ordinals + id * 4, index);
  }
}

function makeEntries(pool: usize, ids: usize, count: u32, entries: usize): void {
  const terms = at(pool + POOL_TERMS);
  for (let index: u32 = 0; index < count; index++) {
    const id = load<u32>(ids + index * 4);
    store<u64>(entries + index * ENTRY_BYTES, bswap(load<u64>(terms + id * TERM_BYTES, TERM_TEXT)));
    store<u64>(entries + index * ENTRY_BYTES, id as u64, 8);
  }
}

/** Sorts by the first eight bytes, one after the other from the last (LSD radix sort); returns where the entries are. */
function distribute(count: u32, counts: usize, entries: usize): usize {
  let from = entries;
  let to = entries + count * ENTRY_BYTES;
  memory.fill(counts, 0, COUNTS_BYTES);
  for (let entry = from; entry < to; entry += ENTRY_BYTES) {
    const prefix = load<u64>(entry);
    for (let byte: u32 = 0; byte < 8; byte++) countOne(counts + (byte << 10), (prefix >>> (byte << 3)) as u8);
  }
  for (let byte: u32 = 0; byte < 8; byte++) {
    const table = counts + (byte << 10);
    // One value of a byte in all of them needs no order.
    if (load<u32>(table + ((load<u8>(from + byte) as usize) << 2)) === count) continue;
    toStarts(table);
    for (let entry = from; entry < from + count * ENTRY_BYTES; entry += ENTRY_BYTES) {
      const slot = table + ((load<u8>(entry + byte) as usize) << 2);
      const target = load<u32>(slot);
      store<u32>(slot, target + 1);
      v128.store(to + target * ENTRY_BYTES, v128.load(entry));
    }
    const other = from;
    from = to;
    to = other;
  }
  return from;
}

@inline
function countOne(table: usize, value: u8): void {
  const slot = table + ((value as usize) << 2);
  store<u32>(slot, load<u32>(slot) + 1);
}

/** Turns 256 counts into the index of each value's first entry. */
function toStarts(table: usize): void {
  let sum: u32 = 0;
  for (let slot = table; slot < table + 1024; slot += 4) {
    const count = load<u32>(slot);
    store<u32>(slot, sum);
    sum += count;
  }
}

/** Puts runs of entries with the same first bytes in order; `workspace` is as large as the entries. */
function sortAlike(pool: usize, entries: usize, workspace: usize, count: u32): void {
  let start: u32 = 0;
  while (start < count) {
    const prefix = load<u64>(entries + start * ENTRY_BYTES);
    let stop = start + 1;
    while (stop < count && load<u64>(entries + stop * ENTRY_BYTES) === prefix) stop++;
    if (stop - start > 1) mergeSort(pool, entries + start * ENTRY_BYTES, workspace, stop - start);
    start = stop;
  }
}

function mergeSort(pool: usize, entries: usize, workspace: usize, count: u32): void {
  const terms = at(pool + POOL_TERMS);
  const texts = at(pool + POOL_TEXT);
  let from = entries;
  let to = workspace;
  for (let start: u32 = 0; start < count; start += SHORT_RUN)
    sortRun(terms, texts, from, start, min(start + SHORT_RUN, count));
  for (let width = SHORT_RUN; width < count; width *= 2) {
    for (let start: u32 = 0; start < count; start += 2 * width)
      merge(terms, texts, from, to, start, min(start + width, count), min(start + 2 * width, count));
    const other = from;
    from = to;
    to = other;
  }
  if (from !== entries) copyShort(entries, from, count * ENTRY_BYTES);
}

function sortRun(terms: usize, texts: usize, entries: usize, start: u32, stop: u32): void {
  for (let index = start + 1; index < stop; index++) {
    const entry = v128.load(entries + index * ENTRY_BYTES);
    const id = load<u32>(entries + index * ENTRY_BYTES, 8);
    let address = entries + index * ENTRY_BYTES;
    while (address > entries + start * ENTRY_BYTES && isBefore(terms, texts, id, load<u32>(address - ENTRY_BYTES, 8))) {
      v128.store(address, v128.load(address - ENTRY_BYTES));
      address -= ENTRY_BYTES;
    }
    v128.store(address, entry);
  }
}

function merge(terms: usize, texts: usize, from: usize, to: usize, start: u32, middle: u32, stop: u32): void {
  let left = from + start * ENTRY_BYTES;
  let right = from + middle * ENTRY_BYTES;
  const leftEnd = right;
  const rightEnd = from + stop * ENTRY_BYTES;
  let out = to + start * ENTRY_BYTES;
  while (left < leftEnd && right < rightEnd) {
    if (isBefore(terms, texts, load<u32>(right, 8), load<u32>(left, 8))) {
      v128.store(out, v128.load(right));
      right += ENTRY_BYTES;
    } else {
      v128.store(out, v128.load(left));
      left += ENTRY_BYTES;
    }
    out += ENTRY_BYTES;
  }
  copyShort(out, left, (leftEnd - left) as u32);
  copyShort(out + (leftEnd - left), right, (rightEnd - right) as u32);
}

/** Whether the term `id` sorts before the term `other`. */
function isBefore(terms: usize, texts: usize, id: u32, other: u32): bool {
  const a = terms + id * TERM_BYTES;
  const b = terms + other * TERM_BYTES;
  return compare(textAt(a, texts), textBytes(a), textAt(b, texts), textBytes(b)) < 0;
}

function compare(a: usize, aLength: u32, b: usize, bLength: u32): i32 {
  const common = min(aLength, bLength);
  let index: u32 = 0;
  for (; index + 8 <= common; index += 8) {
    const left = load<u64>(a + index);
    const right = load<u64>(b + index);
    if (left !== right) return bswap(left) < bswap(right) ? -1 : 1;
  }
  for (; index < common; index++) {
    const difference = (load<u8>(a + index) as i32) - (load<u8>(b + index) as i32);
    if (difference !== 0) return difference;
  }
  return (aLength as i32) - (bLength as i32);
}
