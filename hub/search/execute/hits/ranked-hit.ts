/** A hit of a shard with its position in the order. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { compareRanks, type Rank, type RankOrder, type SortValue } from "#hub/search/sort/key.ts";

export interface RankedHit {
  readonly segment: SegmentReader;
  /** Position of the segment in the snapshot. */
  readonly segmentOrder: number;
  readonly doc: number;
  /** NaN if scores weren't requested. */
  readonly score: number;
  /** One for each sort key; the score's alone without a sort. */
  readonly ranks: readonly Rank[];
  readonly sort: readonly SortValue[];
  /** Second passes that made the score, in their order; none without them. */
  readonly passes?: readonly RescorePass[];
}

/** What a second pass did to the score of a hit. */
export interface RescorePass {
  /** Factor of the score before. */
  readonly weight: number;
  /** Score of the second query and its factor; undefined if it didn't match, or the hit was out of the window. */
  readonly second: { readonly score: number; readonly weight: number } | undefined;
  /** How both were combined: "sum", "avg" … */
  readonly combine: string;
  /** The score after it. */
  readonly score: number;
}

/** Compares hits of one shard; equal ranks are in the order of the index. */
export function compareHits(orders: readonly RankOrder[], a: RankedHit, b: RankedHit): number {
  return compareRanks(orders, a.ranks, b.ranks) || a.segmentOrder - b.segmentOrder || a.doc - b.doc;
}
