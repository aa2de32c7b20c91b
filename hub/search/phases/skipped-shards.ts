/** The can_match phase: how many shards can't match by the ranges of their fields. */

import { ShardContext } from "#hub/search/query/query.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import type { SearchShard } from "./contract.ts";

/** Counts shards of which no document can match. A shard where that isn't known may match. Throws cancelled. */
export async function countUnmatched(
  { query, runtimeFields }: SearchRequest,
  shards: readonly SearchShard[],
  nowMs: number,
  control: SearchControl,
): Promise<number> {
  // Fields that a request makes have no range.
  if (runtimeFields.length > 0) return 0;
  let unmatched = 0;
  for (const { index, shard, searcher } of shards) {
    try {
      if (query.canMatch?.(new ShardContext(index, shard, searcher, nowMs)) === false) unmatched++;
    } catch {
      // The search itself throws the same, as the failure of the shard.
    }
    if (control.isDue) await control.pause();
  }
  return unmatched;
}
