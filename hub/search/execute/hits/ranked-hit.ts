/** A hit before it is fetched. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Rank, SortValue } from "#hub/search/sort/shard-sort.ts";

export interface RankedHit {
  readonly segment: SegmentReader;
  /** Position of the segment in the snapshot. */
  readonly segmentOrder: number;
  readonly doc: number;
  /** NaN where scores weren't asked for. */
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
  /** Score of the second query and its factor; undefined where it didn't match, or the hit was out of the window. */
  readonly second: { readonly score: number; readonly weight: number } | undefined;
  /** How both were combined: "sum", "avg" … */
  readonly combine: string;
  /** The score behind it. */
  readonly score: number;
}
