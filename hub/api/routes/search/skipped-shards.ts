/** Which searches report in how many shards no document can match, as `_shards.skipped`. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Shards above which the reference asks each shard first whether it can match. */
const DEFAULT_SHARDS = 128;

/** Sort keys that aren't fields. */
const NOT_FIELDS: ReadonlySet<unknown> = new Set([
  "_score",
  "_doc",
  "_shard_doc",
  "_script",
  "_geo_distance",
]);

/**
 * Returns the number of shards above which those that can't match are counted, as an option of SearchRun. It is none for
 * searches that can't leave shards out: without conditions, with suggestions, with aggregations of other documents.
 * `searchType`: instead of that of the parameters.
 */
export function skipsAbove(
  request: ApiRequest,
  body: JsonObject,
  searchType: unknown = request.query["search_type"],
): { readonly skipsAbove?: number } {
  const { query, suggest, aggs, aggregations = aggs } = body;
  const isConditional = isObject(query) && query["match_all"] === undefined;
  if (!isConditional || suggest !== undefined || searchType === "dfs_query_then_fetch") return {};
  if (isObject(aggregations) && Object.values(aggregations).some(needsAll)) return {};
  return { skipsAbove: request.integer("pre_filter_shard_size") ?? defaultShards(body) };
}

/** From 7 on a search that sorts by a field asks the shards first, however few they are. */
function defaultShards({ sort }: JsonObject): number {
  const first: unknown = Array.isArray(sort) ? sort[0] : sort;
  const name = isObject(first) ? Object.keys(first)[0] : first;
  return answersAs(700) && name !== undefined && !NOT_FIELDS.has(name) ? 1 : DEFAULT_SHARDS;
}

/** True for an aggregation that has buckets without documents of the search. */
function needsAll(aggregation: unknown): boolean {
  if (!isObject(aggregation)) return false;
  const { global, terms } = aggregation;
  return global !== undefined || (isObject(terms) && terms["min_doc_count"] === 0);
}
