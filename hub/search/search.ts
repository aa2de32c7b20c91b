/**
 * Searches shards of this thread: collects each one, merges the results, fetches the hits of the answer. Shards that fail
 * leave the answer partial; when all fail, the search fails.
 */

import { withPauses } from "#hub/search/aggregations/tree/steps.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { collectShards } from "./phases/collect.ts";
import type { SearchOptions, SearchResponse, SearchShard } from "./phases/contract.ts";
import { mergePartials } from "./phases/merge.ts";

/**
 * Searches `shards` and returns an answer. Throws the error of a shard if none could be searched (with `failures` in
 * its data), too_many_buckets, cancelled.
 */
export async function searchShards(
  request: SearchRequest,
  shards: readonly SearchShard[],
  options: SearchOptions,
): Promise<SearchResponse> {
  const clock = options.clock ?? systemClock;
  const startMs = clock.monotonic();
  const collection = await collectShards(request, shards, { ...options, isWhole: true });
  const control = new SearchControl(clock, options.signal, undefined);
  const { hits, answer } = await withPauses(mergePartials(request, [collection.partial], options), control);
  const fetched = await collection.fetch(hits.map(({ place }) => place));
  return {
    ...answer,
    hits: fetched,
    timedOut: collection.timedOut,
    tookMs: Math.round(clock.monotonic() - startMs),
  };
}
