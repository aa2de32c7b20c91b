/** Puts the terms of a segment buffer in order: by field, then by their bytes. */

import { at, reserve } from "./buffer";
import { copyShort } from "./copy";
import { POOL_TERM_COUNT, POOL_TERMS, POOL_TEXT, TERM_BYTES, TERM_FIELD_LENGTH, TERM_TEXT } from "./layout";

/** Terms of a run that are put in order one by one before runs are merged. */
const SHORT_RUN: u32 = 8;

/** An entry: the first eight bytes as a big-endian number, the term's id. */
const ENTRY_BYTES: u32 = 16;

/** Writes ids grouped by field to `ids`; `starts` (fieldCount + 1 numbers) receives where each field's begin. */
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
    const place = load<u32>(slot);
    store<u32>(ids + place * 4, id);
    store<u32>(slot, place + 1);
  }
  // Each start has moved to the end of its field, which is the next one's start.
  for (let field = fieldCount; field > 0; field--)
    store<u32>(starts + field * 4, load<u32>(starts + (field - 1) * 4));
  store<u32>(starts, 0);
}

/** Sorts `count` ids of one field by the bytes of their terms. `room`: a buffer for two lists of entries. */
export function sortTerms(pool: usize, ids: usize, count: u32, room: usize): void {
  if (count < 2) return;
  reserve(room, count * ENTRY_BYTES * 2);
  const terms = at(pool + POOL_TERMS);
  const texts = at(pool + POOL_TEXT);
  let from = at(room);
  let to = from + count * ENTRY_BYTES;
  for (let index: u32 = 0; index < count; index++) {
    const id = load<u32>(ids + index * 4);
    const term = terms + id * TERM_BYTES;
    const entry = from + index * ENTRY_BYTES;
    store<u64>(entry, prefixOf(texts + load<u32>(term, TERM_TEXT), load<u16>(term, TERM_FIELD_LENGTH)));
    store<u32>(entry, id, 8);
  }
  for (let start: u32 = 0; start < count; start += SHORT_RUN)
    sortRun(terms, texts, from, start, min(start + SHORT_RUN, count));
  for (let width = SHORT_RUN; width < count; width *= 2) {
    for (let start: u32 = 0; start < count; start += 2 * width)
      merge(terms, texts, from, to, start, min(start + width, count), min(start + 2 * width, count));
    const other = from;
    from = to;
    to = other;
  }
  for (let index: u32 = 0; index < count; index++)
    store<u32>(ids + index * 4, load<u32>(from + index * ENTRY_BYTES, 8));
}

/** First eight bytes as a number that compares as they do; reads up to 7 bytes behind the text. */
function prefixOf(text: usize, count: u32): u64 {
  const word = bswap(load<u64>(text));
  if (count >= 8) return word;
  return count === 0 ? 0 : word & ~(u64.MAX_VALUE >>> (count << 3));
}

function sortRun(terms: usize, texts: usize, entries: usize, start: u32, stop: u32): void {
  for (let index = start + 1; index < stop; index++) {
    const prefix = load<u64>(entries + index * ENTRY_BYTES);
    const id = load<u32>(entries + index * ENTRY_BYTES, 8);
    let place = index;
    while (place > start) {
      const before = entries + (place - 1) * ENTRY_BYTES;
      if (!isBefore(terms, texts, prefix, id, before)) break;
      store<u64>(before, load<u64>(before), ENTRY_BYTES);
      store<u32>(before, load<u32>(before, 8), ENTRY_BYTES + 8);
      place--;
    }
    store<u64>(entries + place * ENTRY_BYTES, prefix);
    store<u32>(entries + place * ENTRY_BYTES, id, 8);
  }
}

function merge(terms: usize, texts: usize, from: usize, to: usize, start: u32, middle: u32, stop: u32): void {
  let left = from + start * ENTRY_BYTES;
  let right = from + middle * ENTRY_BYTES;
  const leftEnd = right;
  const rightEnd = from + stop * ENTRY_BYTES;
  let out = to + start * ENTRY_BYTES;
  while (left < leftEnd && right < rightEnd) {
    if (isBefore(terms, texts, load<u64>(right), load<u32>(right, 8), left)) {
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

/** Whether the term `id` with `prefix` sorts before the one of the entry `other`. */
function isBefore(terms: usize, texts: usize, prefix: u64, id: u32, other: usize): bool {
  const otherPrefix = load<u64>(other);
  if (prefix !== otherPrefix) return prefix < otherPrefix;
  const a = terms + id * TERM_BYTES;
  const b = terms + load<u32>(other, 8) * TERM_BYTES;
  return (
    compare(
      texts + load<u32>(a, TERM_TEXT),
      load<u16>(a, TERM_FIELD_LENGTH),
      texts + load<u32>(b, TERM_TEXT),
      load<u16>(b, TERM_FIELD_LENGTH),
    ) < 0
  );
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
