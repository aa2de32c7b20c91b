/** Intersects and unites document sets for conditions without scores. */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { NO_MORE_DOCS, type Weight } from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";

/** A condition of at least one in this many documents is worth a set of bits: fewer documents are walked sooner. */
const DENSE = 64;

/** True for conditions that so few documents of a segment fit that walking them is cheaper than a set. */
export function isSparse(docs: number, segment: SegmentReader): boolean {
  return docs * DENSE < segment.docCount;
}

/** Prepares weights one after the other; see Weight.prepare. */
export async function prepareAll(
  weights: readonly Weight[],
  segment: SegmentReader,
  control: SearchControl,
): Promise<void> {
  for (const weight of weights) await weight.prepare?.(segment, control);
}

/** Live documents of a set of a segment. */
export function countLive(set: Bitset | null, segment: SegmentReader): number {
  if (set === null) return 0;
  return segment.liveDocs === null ? set.count() : set.countBoth(segment.liveDocs);
}

/** Adds the documents that a weight walks to `set`. */
export function addDocuments(weight: Weight, segment: SegmentReader, set: Bitset): void {
  const known = weight.set?.(segment);
  if (known === null) return;
  if (known !== undefined) set.or(known);
  else addWalked(weight.scorer(segment), set);
}

function addWalked(scorer: Scorer | null, set: Bitset): void {
  if (scorer === null) return;
  for (let doc = scorer.next(); doc !== NO_MORE_DOCS; doc = scorer.next()) set.add(doc);
}

/** Returns the documents that a scorer walks. */
export function walkedSet(scorer: Scorer | null, segment: SegmentReader): Bitset | null {
  if (scorer === null) return null;
  const set = new Bitset(segment.docCount);
  addWalked(scorer, set);
  return set;
}

/** Returns the documents that fit all of `required`; null for none, undefined if walking them is cheaper. */
export function intersect(required: readonly Weight[], segment: SegmentReader): Bitset | null | undefined {
  for (const weight of required) {
    if (weight.set === undefined) return undefined;
    const cost = weight.cost?.(segment);
    if (cost !== undefined && isSparse(cost, segment)) return undefined;
  }
  let all: Bitset | undefined;
  for (const weight of required) {
    const set = weight.set!(segment);
    if (set === null || set === undefined) return set;
    // The first set is shared: it is copied before it is changed.
    if (all === undefined) all = required.length === 1 ? set : set.clone();
    else all.and(set);
  }
  return all;
}

/** Returns the documents that fit any of `weights`. */
export function unite(weights: readonly Weight[], segment: SegmentReader): Bitset {
  const any = new Bitset(segment.docCount);
  for (const weight of weights) addDocuments(weight, segment, any);
  return any;
}
