/** Prints the result of a search in the format of the request's version. */

import { type ErrorContext, shardFailureBodies } from "#hub/api/http/error-body.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { SearchResponse } from "#hub/search/phases/contract.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

export interface SearchAnswerOptions {
  /** Totals as numbers whatever the version. */
  readonly totalAsInt: boolean;
  readonly scrollId?: string;
  /** How many states of aggregations are merged at a time; undefined: all. */
  readonly reduceSize?: number | undefined;
  /** No hits were asked for. */
  readonly countOnly: boolean;
  readonly errors: ErrorContext;
}

/** Returns the body of a search's answer. */
export function searchAnswer(response: SearchResponse, options: SearchAnswerOptions): JsonObject {
  const { total, successful, failures } = response.shards;
  const phases = reducePhases(successful, options.reduceSize);
  return {
    ...(options.scrollId !== undefined && { _scroll_id: options.scrollId }),
    took: response.tookMs,
    timed_out: response.timedOut,
    ...(response.terminatedEarly !== undefined && { terminated_early: response.terminatedEarly }),
    ...(phases > 1 && { num_reduce_phases: phases }),
    _shards: {
      total,
      successful,
      skipped: 0,
      failed: failures.length,
      ...(failures.length > 0 && { failures: shardFailureBodies(failures, options.errors) }),
    },
    hits: hitsBody(response, options),
    ...(response.aggregations !== undefined && {
      aggregations: hasObjectTotals(options)
        ? withObjectTotals(response.aggregations)
        : response.aggregations,
    }),
    ...(response.suggest !== undefined && { suggest: response.suggest }),
    ...(response.profile !== undefined && { profile: { shards: response.profile } }),
  };
}

function hitsBody(response: SearchResponse, options: SearchAnswerOptions): JsonObject {
  const objects = hasObjectTotals(options);
  const total = objects ? objectTotal(response.total, response.totalLimit) : (response.total ?? -1);
  const hasNone = response.shards.total === 0 || options.countOnly;
  const maxScore = response.maxScore ?? (hasNone && !objects && !answersAs(700) ? 0 : null);
  return {
    ...(total !== undefined && { total }),
    max_score: maxScore,
    hits: objects ? withObjectTotals(response.hits) : response.hits,
  };
}

/** From 7 on totals are objects. */
function hasObjectTotals({ totalAsInt }: SearchAnswerOptions): boolean {
  return answersAs(700) && !totalAsInt;
}

/** Changes the totals of hits within hits and aggregations. */
function withObjectTotals(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withObjectTotals);
  if (!isObject(value) || value instanceof RawJson) return value;
  const { hits, total } = value;
  if (typeof total === "number" && Array.isArray(hits))
    return { ...value, total: objectTotal(total), hits: withObjectTotals(hits) };
  return Object.fromEntries(
    // Documents are what they are.
    Object.entries(value).map(([key, inner]) => [key, key === "_source" ? inner : withObjectTotals(inner)]),
  );
}

function objectTotal(total: number | undefined, limit = Number.POSITIVE_INFINITY): JsonObject | undefined {
  if (total === undefined) return undefined;
  return total <= limit ? { value: total, relation: "eq" } : { value: limit, relation: "gte" };
}

/** Merges that are needed when at most `size` states are kept at a time. */
function reducePhases(shards: number, size: number | undefined): number {
  if (size === undefined || shards <= size) return 1;
  return 1 + Math.ceil((shards - size) / (size - 1));
}
