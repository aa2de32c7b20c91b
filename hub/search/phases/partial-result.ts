/** What the shards of one host found. Plain data, so that it can be sent to the front, which merges those of all hosts. */

import type { TreeState } from "#hub/search/aggregations/tree/aggregation.ts";
import type { RankOrder } from "#hub/search/sort/key.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SearchCursor, ShardFailure } from "./contract.ts";

/** Where a hit stands in the order of all hits. `shardOrder`: position of its shard among all of the search. */
export type HitPlace = SearchCursor;

export interface PartialResult {
  /** Orders of the shards that were searched, ascending. */
  readonly searched: readonly number[];
  /** Shards that could not be searched, by their order. */
  readonly failures: readonly { readonly order: number; readonly failure: ShardFailure }[];
  /** Matching live documents. */
  readonly total: number;
  /** Largest score; NaN where there is none. */
  readonly maxScore: number;
  /** The best from + size hits of the host, from the best on. */
  readonly hits: readonly HitPlace[];
  /** How ranks of hits compare; empty without hits. */
  readonly orders: readonly RankOrder[];
  readonly terminatedEarly: boolean;
  readonly timedOut: boolean;
  /** Merged over the shards of the host; undefined where none was searched, or none were asked for. */
  readonly aggregations: TreeState | undefined;
  /** By the order of the shards; empty where it wasn't asked for. */
  readonly profiles: readonly { readonly order: number; readonly profile: JsonObject }[];
}
