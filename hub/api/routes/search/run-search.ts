/** One search from its body to its answer, for _search and _msearch. */

import type { JsonObject } from "#hub/search/json.ts";
import type { SearchLimits } from "#hub/search/query.ts";
import { DEFAULT_LIMITS, type SearchResponse, searchShards } from "#hub/search/search.ts";
import { parseSearchRequest } from "#hub/search/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { ApiParts } from "../../parts.ts";
import { openShards, type SearchTarget } from "./open-shards.ts";

export interface SearchRun {
  readonly target: SearchTarget;
  readonly body: JsonObject;
  readonly typedKeys: boolean;
  /** False: a failed shard fails the search. */
  readonly allowPartial: boolean;
  readonly signal: AbortSignal;
}

/** Searches. Throws what parsing and shards refuse, cancelled. */
export async function runSearch(parts: ApiParts, run: SearchRun): Promise<SearchResponse> {
  const limits = searchLimits(parts);
  const request = parseSearchRequest(run.body, limits);
  const opened = openShards(parts, run.target);
  try {
    const response = await searchShards(request, opened.shards, {
      signal: run.signal,
      limits,
      typedKeys: run.typedKeys,
      clock: parts.clock,
    });
    checkPartial(response, run.allowPartial);
    return response;
  } finally {
    opened.close();
  }
}

/** Limits of searches; `search.max_buckets` of the cluster's settings counts. */
export function searchLimits({ cluster }: ApiParts): SearchLimits {
  const { persistent, transient } = cluster.settings();
  const given = transient["search.max_buckets"] ?? persistent["search.max_buckets"];
  const maxBuckets = given === undefined ? DEFAULT_LIMITS.maxBuckets : Number(given);
  return { ...DEFAULT_LIMITS, ...(maxBuckets >= 0 && { maxBuckets }) };
}

/** Throws the failure of a shard where an answer without it isn't wanted. */
export function checkPartial({ shards, timedOut }: SearchResponse, allowPartial: boolean): void {
  if (allowPartial) return;
  const [first] = shards.failures;
  if (first !== undefined) {
    throw new AppError(first.error.code, "Partial shards failure", {
      data: { failures: shards.failures },
      cause: first.error,
    });
  }
  if (timedOut) throw new AppError("timeout", "Time exceeded");
}
