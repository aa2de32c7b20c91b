/** Prints the result of a search in the format of the request's version. */

import { type ErrorContext, shardFailureBodies } from "#hub/api/http/error-body.ts";
import { type Found, objectTotal } from "#hub/host/contract/found.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { singleFraction } from "#proto/kit/number-text.ts";

export interface SearchAnswerOptions {
  /** True: totals are numbers in every version. */
  readonly totalAsInt: boolean;
  readonly scrollId?: string;
  /** Id of the point in time that was searched. */
  readonly pointId?: string | undefined;
  /** Number of aggregation states merged at a time; undefined: all. */
  readonly reduceSize?: number | undefined;
  /** True: no hits were requested. */
  readonly countOnly: boolean;
  readonly errors: ErrorContext;
}

/** Returns the body of a search's answer. */
export function searchAnswer(response: Found, options: SearchAnswerOptions): JsonObject {
  const { total, successful, skipped = 0, failures } = response.shards;
  const phases = reducePhases(successful, options.reduceSize);
  return {
    ...(options.scrollId !== undefined && { _scroll_id: options.scrollId }),
    ...(options.pointId !== undefined && { pit_id: options.pointId }),
    took: response.tookMs,
    timed_out: response.timedOut,
    ...(response.terminatedEarly !== undefined && { terminated_early: response.terminatedEarly }),
    ...(phases > 1 && { num_reduce_phases: phases }),
    _shards: {
      total,
      successful,
      skipped,
      failed: failures.length,
      ...(failures.length > 0 && { failures: shardFailureBodies(failures, options.errors) }),
    },
    hits: hitsBody(response, options),
    // Without shards there are none, not even empty ones, as there is nothing that they could be reduced from.
    ...(total > 0 && response.aggregations !== undefined && { aggregations: response.aggregations }),
    ...(total > 0 && response.suggest !== undefined && { suggest: response.suggest }),
    ...(response.profile !== undefined && { profile: { shards: response.profile } }),
  };
}

function hitsBody(response: Found, options: SearchAnswerOptions): JsonObject {
  const objects = hasObjectTotals(options);
  const total = objects ? objectTotal(response.total, response.totalLimit) : (response.total ?? -1);
  const isZero = response.shards.total === 0 || (options.countOnly && !answersAs(700));
  const maxScore = response.maxScore ?? (isZero ? 0 : null);
  return {
    ...(total !== undefined && { total }),
    max_score: maxScore === null ? null : singleFraction(maxScore),
    hits: response.hits,
  };
}

/** From 7 on totals are objects. */
export function hasObjectTotals({ totalAsInt }: Pick<SearchAnswerOptions, "totalAsInt">): boolean {
  return answersAs(700) && !totalAsInt;
}

/** Returns the number of merges if at most `size` states are kept at a time. */
function reducePhases(shards: number, size: number | undefined): number {
  if (size === undefined || shards <= size) return 1;
  return 1 + Math.ceil((shards - size) / (size - 1));
}
