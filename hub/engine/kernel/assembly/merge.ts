/**
 * Merges the dictionaries of several segments term by term, a window of each at a time, which the host fills. The twin is
 * merge/merge-terms.ts.
 */

import { at, end, length, reserve, setEnd } from "./buffer";
import { copyShort } from "./copy";
import { putSingle, putTerm } from "./dictionary";
import { FLUSH_BYTES, KEEP_POSITIONS, SEAL_KEPT, SEAL_NORMS, SEAL_POSTINGS, SEAL_PREVIOUS, SEAL_SIZE, SEAL_TERM } from "./layout";
import {
  LEAST_BYTES,
  MERGE_DAMAGED,
  MERGE_DONE,
  MERGE_PAUSED,
  NO_DOCUMENT,
  PREFIX_BYTES,
  WALK_BASE,
  WALK_BLOCKS,
  WALK_BYTES,
  WALK_AT,
  WALK_DOCS,
  WALK_DOC_FREQ,
  WALK_ENDED,
  WALK_HERE,
  WALK_INLINE_AT,
  WALK_LEFT,
  WALK_MAP,
  WALK_NUMBER,
  WALK_ORDINALS,
  WALK_PREFIX,
  WALK_STATE,
  WALK_TEXT,
  WALK_USED,
  WALK_WAITS,
} from "./layout-merge";
import { beginList, endList, listTerm } from "./listing";
import { docCount } from "./postings";
import { cursor, readAt, readVarint } from "./varint";
import { compareTerms, readTerm } from "./walk";

/** A walk is at a term or has ended. */
const IS_READ: i32 = i32.MAX_VALUE;

/**
 * Adds terms of `count` walks to the dictionary `seal` until a walk needs its next window (then returns its number), all are
 * in (MERGE_DONE), FLUSH_BYTES of postings or `budget` terms have come together (MERGE_PAUSED), or the bytes of a walk are
 * damaged (MERGE_DAMAGED).
 */
export function mergeTerms(walks: usize, count: u32, seal: usize, budget: u32): i32 {
  const hasPositions = load<u32>(seal, SEAL_KEPT) === KEEP_POSITIONS;
  const prefixes = walks + count * WALK_BYTES;
  const list = prefixes + count * PREFIX_BYTES;
  for (let number: u32 = 0; number < count; number++) {
    const state = readNext(walks, number, prefixes, hasPositions);
    if (state !== IS_READ) return state;
  }
  for (let left = budget; left > 0; left--) {
    const same = findLeast(walks, count, prefixes, list);
    if (same === 0) return MERGE_DONE;
    const least = load<u32>(list) as usize;
    const isWhole =
      same === 1 && load<u32>(least, WALK_DOC_FREQ) === 1
        ? addInlined(least, seal, hasPositions)
        : addMerged(list, same, seal, hasPositions);
    if (!isWhole) return MERGE_DAMAGED;
    if (length(seal + SEAL_POSTINGS) >= (FLUSH_BYTES as u32)) return MERGE_PAUSED;
    for (let address = list; address < list + same * LEAST_BYTES; address += LEAST_BYTES) {
      const number = (load<u32>(address) as usize - walks) / WALK_BYTES;
      const state = readNext(walks, number as u32, prefixes, hasPositions);
      if (state !== IS_READ) return state;
    }
  }
  return MERGE_PAUSED;
}

/** Puts a walk that waits on its next term; returns IS_READ, or what `mergeTerms` returns where it can't. */
function readNext(walks: usize, number: u32, prefixes: usize, hasPositions: bool): i32 {
  const walk = walks + number * WALK_BYTES;
  if (load<u32>(walk, WALK_STATE) !== WALK_WAITS) return IS_READ;
  let prefix = u64.MAX_VALUE;
  if (load<u32>(walk, WALK_HERE) > 0) {
    if (!readTerm(walk, hasPositions)) return MERGE_DAMAGED;
    prefix = load<u64>(walk, WALK_PREFIX);
  } else {
    if (load<u32>(walk, WALK_LEFT) > 0) return number as i32;
    store<u32>(walk, WALK_ENDED, WALK_STATE);
  }
  store<u64>(prefixes + number * PREFIX_BYTES, prefix);
  return IS_READ;
}

/** Lists the walks at the smallest term, in their order; returns how many there are, 0 where all have ended. */
function findLeast(walks: usize, count: u32, prefixes: usize, list: usize): u32 {
  const stop = prefixes + count * PREFIX_BYTES;
  let least = u64.MAX_VALUE;
  for (let address = prefixes; address < stop; address += PREFIX_BYTES) least = min(least, load<u64>(address));
  let found: u32 = 0;
  let walk = walks;
  for (let address = prefixes; address < stop; address += PREFIX_BYTES) {
    store<u32>(list + found * LEAST_BYTES, walk as u32);
    found += (load<u64>(address) === least) as u32;
    walk += WALK_BYTES;
  }
  return found === 1 && least !== u64.MAX_VALUE ? 1 : chooseLeast(list, found);
}

/** Keeps of the listed walks, whose terms begin alike, those at the smallest one; returns how many. */
function chooseLeast(list: usize, count: u32): u32 {
  let same: u32 = 0;
  for (let number: u32 = 0; number < count; number++) {
    const walk = load<u32>(list + number * LEAST_BYTES) as usize;
    if (load<u32>(walk, WALK_STATE) === WALK_ENDED) continue;
    const order = same === 0 ? 0 : compareTerms(walk, load<u32>(list));
    if (order > 0) continue;
    if (order < 0) same = 0;
    store<u32>(list + same++ * LEAST_BYTES, walk as u32);
  }
  return same;
}

/** Adds a term that one document of all has: what follows the document's number stays as it is. */
function addInlined(walk: usize, seal: usize, hasPositions: bool): bool {
  const blocks = at(walk + WALK_BLOCKS);
  const stop = blocks + load<u32>(walk, WALK_AT);
  readAt(blocks + load<u32>(walk, WALK_INLINE_AT));
  const old = readVarint(stop);
  const from = cursor;
  const freq = readVarint(stop);
  if (old >= load<u32>(walk, WALK_DOCS)) return false;
  const map = load<u32>(walk, WALK_MAP) as usize;
  const doc = map === 0 ? old + load<u32>(walk, WALK_BASE) : load<u32>(map + old * 4);
  if (doc === NO_DOCUMENT) {
    if (!isUsed(walk)) {
      store<u32>(walk, WALK_WAITS, WALK_STATE);
      return true;
    }
    beginList();
    endList();
    putTerm(seal, at(walk + WALK_TEXT), length(walk + WALK_TEXT), hasPositions);
  } else {
    putSingle(seal, at(walk + WALK_TEXT), length(walk + WALK_TEXT), doc, freq, from, (stop - from) as u32);
  }
  added(walk, seal);
  leave(walk, seal);
  return true;
}

/** Adds the term of the `count` listed walks. */
function addMerged(list: usize, count: u32, seal: usize, hasPositions: bool): bool {
  const stop = list + count * LEAST_BYTES;
  let isKept = false;
  beginList();
  for (let address = list; address < stop; address += LEAST_BYTES) {
    const walk = load<u32>(address) as usize;
    if (!listTerm(walk, load<u32>(seal, SEAL_NORMS), hasPositions)) return false;
    isKept = isKept || isUsed(walk);
  }
  endList();
  const isAdded = docCount > 0 || isKept;
  if (isAdded) {
    const least = load<u32>(list) as usize;
    putTerm(seal, at(least + WALK_TEXT), length(least + WALK_TEXT), hasPositions);
    added(least, seal);
  }
  for (let address = list; address < stop; address += LEAST_BYTES) {
    const walk = load<u32>(address) as usize;
    if (isAdded) leave(walk, seal);
    else store<u32>(walk, WALK_WAITS, WALK_STATE);
  }
  return true;
}

/** Whether the term of a walk stays without documents. */
function isUsed(walk: usize): bool {
  const used = load<u32>(walk, WALK_USED) as usize;
  if (used === 0) return false;
  const number = load<u32>(walk, WALK_NUMBER) - 1;
  return ((load<u8>(used + (number >>> 3)) >>> (number & 7)) & 1) === 1;
}

/** Keeps the text of the term that was added last: the next one's is what it doesn't share with it. */
function added(walk: usize, seal: usize): void {
  const bytes = length(walk + WALK_TEXT);
  reserve(seal + SEAL_TERM, bytes);
  copyShort(at(seal + SEAL_TERM), at(walk + WALK_TEXT), bytes);
  store<u32>(seal, at(seal + SEAL_TERM) as u32, SEAL_PREVIOUS);
}

/** Records the number of the term that was added last as that of a walk's current term, and lets the walk continue. */
function leave(walk: usize, seal: usize): void {
  const ordinals = load<u32>(walk, WALK_ORDINALS) as usize;
  if (ordinals !== 0)
    store<u32>(ordinals + (load<u32>(walk, WALK_NUMBER) - 1) * 4, load<u32>(seal, SEAL_SIZE) - 1);
  store<u32>(walk, WALK_WAITS, WALK_STATE);
}
