/** A hit before it is fetched. */

import type { SegmentReader } from "#hub/engine/searcher.ts";
import type { Rank, SortValue } from "../sort/shard-sort.ts";

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
}
