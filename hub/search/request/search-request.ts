/** The body of a search. */

import { AGGREGATIONS_BY_NAME } from "#hub/search/aggregations/all.ts";
import { PIPELINES_BY_NAME } from "#hub/search/aggregations/pipeline/all.ts";
import type { AggregationTree } from "#hub/search/aggregations/tree/aggregation.ts";
import { AggregationParser } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  type FetchOptions,
  parseFetch,
  parseInnerHits,
  withRuntimeFields,
} from "#hub/search/execute/fetch/fetch-request.ts";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { contextFault } from "#hub/search/options/context-fault.ts";
import { describe, objectOf, scalarText } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  hint,
  integer,
  list,
  number,
  object,
  readOptions,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { QUERIES_BY_NAME } from "#hub/search/parse/queries/all.ts";
import { QueryParser } from "#hub/search/parse/query-parser.ts";
import type { Query, SearchLimits } from "#hub/search/query/query.ts";
import { type RuntimeField, readRuntimeFields } from "#hub/search/scripting/runtime-fields.ts";
import { isByScore, parseSort, type SortKey } from "#hub/search/sort/sort-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { parseRescore, type Rescore } from "./rescore.ts";

/** A parsed search. Immutable; used for many shards. */
export interface SearchRequest {
  readonly query: Query;
  /** Whether the request has a query of its own. */
  readonly hasQuery: boolean;
  readonly postFilter: Query | undefined;
  readonly from: number;
  readonly size: number;
  /** Empty: by score. */
  readonly sort: readonly SortKey[];
  readonly trackScores: boolean;
  readonly searchAfter: readonly unknown[] | undefined;
  readonly minScore: number | undefined;
  /** True: count exactly; false: don't count; a number: exactly up to it. */
  readonly trackTotalHits: boolean | number;
  /** Documents per shard after which it stops; 0: none. */
  readonly terminateAfter: number;
  /**
   * Undefined: no limit. `timeout` of the body, into which `timedBody` (hub/api/routes/search/run-search.ts) has put the
   * usual one where it has none. `collectShards` (phases/collect.ts) makes the SearchControl that keeps to it.
   */
  readonly timeoutMs: number | undefined;
  readonly aggregations: AggregationTree;
  /** True if shards of an index on one thread are best searched as one: for the aggregations alone. */
  readonly joinsShards: boolean;
  readonly fetch: FetchOptions;
  /** Nested objects that it reads. */
  readonly nestedPaths: ReadonlySet<string>;
  /** Fields that it defines for itself. */
  readonly runtimeFields: readonly RuntimeField[];
  /** Whether the answer has a profile. */
  readonly profile: boolean;
  /** Second passes over the best hits of each shard, one after the other. */
  readonly rescore: readonly Rescore[];
  /** Factors of scores by index pattern; the first that fits counts. */
  readonly indicesBoost: readonly (readonly [pattern: string, boost: number])[];
}

/** Hits of an answer by default. */
const DEFAULT_SIZE = 10;

/** Options of the body of a search. */
export const SEARCH_OPTIONS = {
  query: anything("which documents"),
  post_filter: anything("which hits of them; aggregations see all"),
  from: integer("hits to skip", 0, Number.MIN_SAFE_INTEGER),
  size: integer("hits to return", DEFAULT_SIZE, Number.MIN_SAFE_INTEGER),
  sort: anything("order of the hits"),
  search_after: list("values of [sort] behind which hits begin"),
  track_scores: flag("whether hits sorted by fields have scores", false),
  track_total_hits: anything("whether or up to which number hits are counted"),
  min_score: number("lowest score of a hit", undefined),
  terminate_after: integer("documents per shard after which it stops", 0),
  timeout: text("time after which the results found so far are returned", undefined),
  aggs: object("aggregations"),
  aggregations: object("aggregations"),
  _source: anything("which parts of the documents are returned"),
  stored_fields: anything("_none_, or fields"),
  docvalue_fields: anything("fields whose values are returned from columns"),
  fields: anything("fields whose values are returned"),
  highlight: object("which fields are returned with marks"),
  version: flag("whether hits have versions", false),
  seq_no_primary_term: flag("whether hits have sequence numbers", false),
  indices_boost: anything("factors of scores by index"),
  explain: flag("whether hits explain their scores", false),
  profile: flag("whether the answer has a profile", false),
  script_fields: object("fields that scripts make of a hit, by name"),
  suggest: object("texts that begin like others, or are written like them"),
  rescore: anything("queries that score the best hits again"),
  collapse: object("field of whose values only the best hit is returned"),
  slice: object("refused"),
  runtime_mappings: object("fields of this search, by a script or from _source"),
  stats: hint(anything("names of groups for statistics")),
  ext: withoutEffect(anything("there are no extensions")),
} as const;

/** Options that are a query. */
const QUERIES: ReadonlySet<string> = new Set(["query", "post_filter"]);

/** Options that are refused if they are used, with the reason. */
export const REFUSED_OPTIONS: Readonly<Record<string, string>> = {
  suggest: "here only plain searches are run",
  collapse: "here only plain searches are run",
  slice: "slices are for scrolls and points in time",
};

/** Parses the body of a search; {} means all documents. Throws parsing, request_invalid, window_too_large, not_offered. */
export function parseSearchRequest(body: JsonObject, limits: SearchLimits): SearchRequest {
  checkKeys(body);
  const options = readOptions("search", body, SEARCH_OPTIONS, "option");
  checkScriptFields(options.script_fields, limits);
  checkRefused(body);
  const queries = new QueryParser(QUERIES_BY_NAME, limits);
  const from = options.from ?? 0;
  const size = options.size ?? DEFAULT_SIZE;
  checkWindow(from, size, limits);
  const sortFields: RuntimeField[] = [];
  const sort = parseSort(options.sort, queries.nestedFilter, sortFields);
  checkSearchAfter(options.search_after, sort, from);
  const rescore = parseRescore(options.rescore, queries, limits.maxRescoreWindow);
  checkRescore(rescore, sort, options.search_after);
  const { query } = options;
  const runtimeFields = readRuntimeFields(options.runtime_mappings);
  const fetch = withRuntimeFields(
    parseFetch(options, queries, limits.maxColumnFields),
    runtimeFields.map(({ name }) => name),
  );
  const aggregations = new AggregationParser(AGGREGATIONS_BY_NAME, PIPELINES_BY_NAME, queries);
  const tree = aggregations.parse(options.aggs ?? options.aggregations);
  const terminateAfter = options.terminate_after ?? 0;
  const isPlain = terminateAfter === 0 && options.min_score === undefined && options.profile !== true;
  return {
    query: query === undefined ? new AllNode() : queries.parse(query),
    hasQuery: query !== undefined,
    postFilter: options.post_filter === undefined ? undefined : queries.parse(options.post_filter),
    from,
    size,
    sort: isByScore(sort) ? [] : sort,
    trackScores: options.track_scores ?? false,
    searchAfter: options.search_after,
    minScore: options.min_score,
    trackTotalHits: readTrackTotal(options.track_total_hits),
    terminateAfter,
    timeoutMs: readTimeout(options.timeout),
    aggregations: tree,
    joinsShards: from + size === 0 && isPlain && runtimeFields.length === 0 && aggregations.gainsJoined,
    fetch: { ...fetch, innerHits: parseInnerHits(queries.nested, queries) },
    nestedPaths: queries.nestedPaths,
    runtimeFields: [...runtimeFields, ...sortFields],
    profile: options.profile ?? false,
    rescore,
    indicesBoost: readIndicesBoost(options.indices_boost),
  };
}

/** A query with the nested objects that it reads. */
export interface QueryRequest {
  readonly query: Query;
  readonly nestedPaths: ReadonlySet<string>;
}

/** Parses `{"query": …}` alone, as _count and _validate have it. Throws parsing. */
export function parseQueryBody(body: JsonObject): Query {
  return parseQueryRequest(body).query;
}

/** Like `parseQueryBody`, with what has to be prepared for the query. */
export function parseQueryRequest(body: JsonObject): QueryRequest {
  for (const [key, value] of Object.entries(body)) {
    if (key === "query") continue;
    throw new AppError("parsing", `request does not support [${key}]`, { data: { found: describe(value) } });
  }
  const query = body["query"];
  const parser = new QueryParser(QUERIES_BY_NAME);
  return {
    query: query === undefined ? new AllNode() : parser.parse(query),
    nestedPaths: parser.nestedPaths,
  };
}

/** Throws not_offered. */
function checkRefused(body: JsonObject): void {
  for (const [name, reason] of Object.entries(REFUSED_OPTIONS)) {
    const value = body[name];
    if (value === undefined || (isObject(value) && Object.keys(value).length === 0)) continue;
    throw new AppError("not_offered", `[${name}] can't be used: ${reason}`);
  }
}

function checkRescore(rescore: readonly Rescore[], sort: readonly SortKey[], searchAfter: unknown): void {
  if (rescore.length > 0 && (!isByScore(sort) || searchAfter !== undefined)) {
    throw contextFault(
      "Cannot use [sort] option in conjunction with [rescore].",
      "query_phase_execution_exception",
    );
  }
}

function checkKeys(body: JsonObject): void {
  for (const [key, value] of Object.entries(objectOf(body, "search"))) {
    if (Object.hasOwn(SEARCH_OPTIONS, key) && (isObject(value) || !QUERIES.has(key))) continue;
    const token = Array.isArray(value)
      ? "START_ARRAY"
      : isObject(value)
        ? "START_OBJECT"
        : `VALUE_${value === null ? "NULL" : (typeof value).toUpperCase()}`;
    throw new AppError("parsing", `Unknown key for a ${token} in [${key}].`);
  }
}

function checkWindow(from: number, size: number, { maxResultWindow }: SearchLimits): void {
  if (from < 0) throw new AppError("request_invalid", `[from] parameter cannot be negative, found [${from}]`);
  if (size < 0) throw new AppError("request_invalid", `[size] parameter cannot be negative, found [${size}]`);
  if (from + size > maxResultWindow) {
    throw new AppError(
      "window_too_large",
      `Result window is too large, from + size must be less than or equal to: [${maxResultWindow}] but was [${from + size}]. See the scroll api for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index level setting.`,
    );
  }
}

function checkSearchAfter(
  after: readonly unknown[] | undefined,
  sort: readonly SortKey[],
  from: number,
): void {
  if (after === undefined) return;
  if (sort.length === 0) throw new AppError("request_invalid", "Sort must contain at least one field.");
  if (from > 0) {
    throw contextFault("`from` parameter must be set to 0 when `search_after` is used.");
  }
  if (after.length !== sort.length) {
    throw new AppError(
      "request_invalid",
      `search_after has ${after.length} value(s) but sort has ${sort.length}.`,
    );
  }
  for (const [at, { kind }] of sort.entries()) {
    if ((kind !== "doc" && kind !== "shard_doc") || isWhole(after[at])) continue;
    throw new AppError(
      "request_invalid",
      `Failed to parse search_after value for field [_${kind}]: ${JSON.stringify(after[at])} isn't a whole number`,
    );
  }
}

function isWhole(value: unknown): boolean {
  return Number.isInteger(value) || typeof value === "bigint" || /^-?\d+$/.test(String(value));
}

function checkScriptFields(fields: JsonObject | undefined, { maxScriptFields }: SearchLimits): void {
  const count = Object.keys(fields ?? {}).length;
  if (count <= maxScriptFields) return;
  throw new AppError(
    "request_invalid",
    `Trying to retrieve too many script_fields. Must be less than or equal to: [${maxScriptFields}] but was [${count}]. This limit can be set by changing the [index.max_script_fields] index level setting.`,
  );
}

function readTrackTotal(value: unknown): boolean | number {
  if (value === undefined || value === null || value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  const limit = Number(value);
  if (limit === -1) return true;
  if (Number.isInteger(limit) && limit >= 0) return limit;
  throw new AppError(
    "request_invalid",
    `[track_total_hits] parameter must be positive or equals to -1, got ${scalarText(value, "track_total_hits")}`,
  );
}

function readTimeout(value: string | undefined): number | undefined {
  if (value === undefined || value === "-1") return undefined;
  try {
    return parseDuration(value, 1);
  } catch (error) {
    throw new AppError(
      "request_invalid",
      `failed to parse setting [timeout] with value [${value}] as a time value; write for example 500ms or 2s`,
      { cause: error },
    );
  }
}

function readIndicesBoost(value: unknown): [string, number][] {
  if (isObject(value))
    warnDeprecated("Object format in indices_boost is deprecated, please use array format instead");
  const parts = Array.isArray(value) ? value : value === undefined ? [] : [value];
  return parts.flatMap((part: unknown) =>
    Object.entries(objectOf(part, "indices_boost")).map(([pattern, boost]): [string, number] => {
      if (typeof boost === "number") return [pattern, boost];
      throw new AppError(
        "parsing",
        `[indices_boost] of [${pattern}] must be a number, but is ${describe(boost)}`,
      );
    }),
  );
}
