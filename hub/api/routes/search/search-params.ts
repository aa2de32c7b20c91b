/** Searches in query parameters (`?q=status:404&sort=at:desc&size=5`), which override the body. */

import type { ApiRequest } from "#hub/api/http/request.ts";
import { RESOLVE_PARAMS, SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Parameters that make a query. */
export const QUERY_PARAMS: readonly string[] = [
  "q",
  "df",
  "default_operator",
  "analyzer",
  "analyze_wildcard",
  "lenient",
  "terminate_after",
  "min_score",
  "preference",
  "routing",
  ...RESOLVE_PARAMS,
];

/** Parameters of _search. */
export const SEARCH_PARAMS: readonly string[] = [
  ...QUERY_PARAMS,
  ...SOURCE_PARAMS,
  "from",
  "size",
  "sort",
  "stored_fields",
  "docvalue_fields",
  "track_scores",
  "track_total_hits",
  "timeout",
  "version",
  "seq_no_primary_term",
  "explain",
  "search_type",
  "scroll",
  "request_cache",
  "allow_partial_search_results",
  "batched_reduce_size",
  "max_concurrent_shard_requests",
  "pre_filter_shard_size",
  "rest_total_hits_as_int",
  "typed_keys",
  "stats",
  "suggest_field",
  "suggest_mode",
  "suggest_size",
  "suggest_text",
];

const SEARCH_TYPES = ["query_then_fetch", "dfs_query_then_fetch"];

/** Returns the query of the parameters, undefined without `q`. Throws request_invalid. */
export function queryOfParams(request: ApiRequest): JsonObject | undefined {
  const q = request.query["q"];
  if (q === undefined) return undefined;
  const { df, default_operator: operator, analyzer } = request.query;
  const lenient = request.flag("lenient");
  return {
    query_string: {
      query: q,
      ...(df !== undefined && { default_field: df }),
      ...(operator !== undefined && { default_operator: operator }),
      ...(analyzer !== undefined && { analyzer }),
      ...(lenient !== undefined && { lenient }),
      analyze_wildcard: request.flag("analyze_wildcard") ?? false,
    },
  };
}

/** Returns a search's body with the values that parameters override. Throws request_invalid. */
export function bodyWithParams(body: JsonObject, request: ApiRequest): JsonObject {
  checkSearchParams(request);
  const { query } = request;
  const source = sourceParams(request);
  const sort = request.list("sort")?.map(sortEntry);
  const merged: Record<string, unknown> = {
    query: queryOfParams(request),
    from: request.integer("from"),
    size: request.integer("size"),
    sort,
    _source: source,
    stored_fields: request.list("stored_fields"),
    docvalue_fields: request.list("docvalue_fields"),
    track_scores: request.flag("track_scores"),
    track_total_hits: query["track_total_hits"],
    timeout: query["timeout"],
    terminate_after: request.integer("terminate_after"),
    version: request.flag("version"),
    seq_no_primary_term: request.flag("seq_no_primary_term"),
    explain: request.flag("explain"),
    stats: request.list("stats"),
    suggest: suggestionOf(request) ?? body["suggest"],
  };
  return withoutNegatives({
    ...body,
    ...Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)),
  });
}

/** Before 7.0, -1 as [size] or [from] stands for the default; templates make it a text. */
export function withoutNegatives(body: JsonObject): JsonObject {
  const isDefault = (value: unknown): boolean => value === -1 || value === "-1";
  const { size, from, ...others } = body;
  if ((!isDefault(size) && !isDefault(from)) || answersAs(700)) return body;
  return { ...others, ...(!isDefault(size) && { size }), ...(!isDefault(from) && { from }) };
}

/**
 * Returns `suggest_field` and related parameters as a term suggestion of the body; undefined without it. Throws
 * request_invalid.
 */
function suggestionOf({ query }: ApiRequest): JsonObject | undefined {
  const { suggest_field: field, suggest_text: text, suggest_mode: mode, suggest_size: size } = query;
  if (field === undefined) return undefined;
  const term = {
    field,
    ...(mode !== undefined && { suggest_mode: mode }),
    ...(size !== undefined && { size: Number(size) }),
  };
  return { [field]: { text: text ?? query["q"] ?? "", term } };
}

/** Returns "field:desc" as a sort key. */
function sortEntry(text: string): unknown {
  const at = text.lastIndexOf(":");
  const order = text.slice(at + 1);
  return at > 0 && (order === "asc" || order === "desc") ? { [text.slice(0, at)]: order } : text;
}

/** Returns whether a search asks for no hits: only for suggestions, or for [size] 0. */
export function findsNoHits(body: JsonObject): boolean {
  const { size, suggest } = body;
  if (size !== undefined) return size === 0;
  const asked = ["query", "aggs", "aggregations", "sort"];
  return suggest !== undefined && asked.every((key) => body[key] === undefined);
}

/** Throws request_invalid for a type of search that there isn't. */
export function checkSearchType(type: unknown): void {
  if (type === undefined || SEARCH_TYPES.includes(type as string)) return;
  throw new AppError("request_invalid", `No search type for [${scalarText(type, "search_type")}]`);
}

/** Checks parameters whose values are limited. Throws request_invalid. */
export function checkSearchParams(request: ApiRequest): void {
  checkSearchType(request.query["search_type"]);
  if ((request.integer("batched_reduce_size") ?? 2) < 2) {
    throw new AppError("request_invalid", "batchedReduceSize must be >= 2");
  }
  if ((request.integer("pre_filter_shard_size") ?? 1) < 1) {
    throw new AppError("request_invalid", "preFilterShardSize must be >= 1");
  }
  if ((request.integer("max_concurrent_shard_requests") ?? 1) < 1) {
    throw new AppError("request_invalid", "maxConcurrentShardRequests must be >= 1");
  }
}
