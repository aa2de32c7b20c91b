/**
 * Merges the dictionaries of several segments term by term, a window of each at a time, which the host fills. The twin is
 * merge/merge-terms.ts.
 */

import { at, end, length, reserve, setEnd } from "./buffer";
import { copyShort } from "./copy";
import { putSingle, putTerm } from "./dictionary";
import { FLUSH_BYTES, KEEP_POSITIONS, SEAL_KEPT, SEAL_NORMS, SEAL_POSTINGS, SEAL_PREVIOUS, SEAL_SIZE, SEAL_TERM } from "./layout";
import {
  MERGE_DAMAGED,
  MERGE_DONE,
  MERGE_PAUSED,
  NO_DOCUMENT,
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
  WALK_STATE,
  WALK_TEXT,
  WALK_USED,
  WALK_WAITS,
} from "./layout-merge";
import { beginList, endList, listTerm } from "./listing";
import { docCount } from "./postings";
import { cursor, readAt, readVarint } from "./varint";
import { compareTerms, readTerm } from "./walk";

/**
 * Adds terms of `count` walks to the dictionary `seal` until a walk needs its next window (then returns its number), all are
 * in (MERGE_DONE), FLUSH_BYTES of postings or `budget` terms have come together (MERGE_PAUSED), or the bytes of a walk are
 * damaged (MERGE_DAMAGED).
 */
export function mergeTerms(walks: usize, count: u32, seal: usize, budget: u32): i32 {
  const hasPositions = load<u32>(seal, SEAL_KEPT) === KEEP_POSITIONS;
  const stop = walks + count * WALK_BYTES;
  for (let left = budget; left > 0; left--) {
    let least: usize = 0;
    let same: u32 = 0;
    for (let walk = walks; walk < stop; walk += WALK_BYTES) {
      if (load<u32>(walk, WALK_STATE) === WALK_ENDED) continue;
      if (load<u32>(walk, WALK_STATE) === WALK_WAITS) {
        if (load<u32>(walk, WALK_HERE) === 0) {
          if (load<u32>(walk, WALK_LEFT) > 0) return ((walk - walks) / WALK_BYTES) as i32;
          store<u32>(walk, WALK_ENDED, WALK_STATE);
          continue;
        }
        if (!readTerm(walk, hasPositions)) return MERGE_DAMAGED;
      }
      const order = least === 0 ? -1 : compareTerms(walk, least);
      if (order < 0) {
        least = walk;
        same = 1;
      } else if (order === 0) {
        same++;
      }
    }
    if (least === 0) return MERGE_DONE;
    const isWhole =
      same === 1 && load<u32>(least, WALK_DOC_FREQ) === 1
        ? addInlined(least, seal, hasPositions)
        : addMerged(least, stop, same, seal, hasPositions);
    if (!isWhole) return MERGE_DAMAGED;
    if (length(seal + SEAL_POSTINGS) >= (FLUSH_BYTES as u32)) return MERGE_PAUSED;
  }
  return MERGE_PAUSED;
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

/** Adds the term of `least` and of all walks after that stand on the same one, `same` together. */
function addMerged(least: usize, stop: usize, same: u32, seal: usize, hasPositions: bool): bool {
  let isKept = false;
  let left = same;
  beginList();
  for (let walk = least; left > 0 && walk < stop; walk += WALK_BYTES) {
    if (!isAlike(walk, least)) continue;
    if (!listTerm(walk, load<u32>(seal, SEAL_NORMS), hasPositions)) return false;
    isKept = isKept || isUsed(walk);
    left--;
  }
  endList();
  const isAdded = docCount > 0 || isKept;
  if (isAdded) {
    putTerm(seal, at(least + WALK_TEXT), length(least + WALK_TEXT), hasPositions);
    added(least, seal);
  }
  // The least one's text is compared until the end.
  for (let walk = stop - WALK_BYTES; walk >= least; walk -= WALK_BYTES) {
    if (!isAlike(walk, least)) continue;
    if (isAdded) leave(walk, seal);
    else store<u32>(walk, WALK_WAITS, WALK_STATE);
  }
  return true;
}

function isAlike(walk: usize, least: usize): bool {
  return walk === least || (load<u32>(walk, WALK_STATE) !== WALK_ENDED && compareTerms(walk, least) === 0);
}

/** Whether the term that a walk stands on stays without documents. */
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

/** Notes the number of the term that was added last as that of the one a walk stands on, and lets the walk continue. */
function leave(walk: usize, seal: usize): void {
  const ordinals = load<u32>(walk, WALK_ORDINALS) as usize;
  if (ordinals !== 0)
    store<u32>(ordinals + (load<u32>(walk, WALK_NUMBER) - 1) * 4, load<u32>(seal, SEAL_SIZE) - 1);
  store<u32>(walk, WALK_WAITS, WALK_STATE);
}
