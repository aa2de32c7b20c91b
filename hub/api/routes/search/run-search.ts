/** One search from its body to its answer, for _search and _msearch. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { writeJson } from "#hub/api/http/json-writer.ts";
import type { IndexInfo, ResolveOptions } from "#hub/api/ports/indices.ts";
import { parseCollapse, searchCollapsed } from "#hub/search/collapse.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { SearchResponse, ShardFailure } from "#hub/search/phases/contract.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { parseSuggest, type Suggestions, suggest } from "#hub/search/suggest.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { resolveLookups } from "./lookups.ts";
import { openShards, type SearchTarget, searchLimits } from "./search-target.ts";

export interface SearchRun {
  readonly target: SearchTarget;
  readonly body: JsonObject;
  readonly typedKeys: boolean;
  /** False: a failed shard fails the search. */
  readonly allowPartial: boolean;
  /** False: answered anew whatever is kept. */
  readonly useCache: boolean;
  readonly signal: AbortSignal;
}

/** Searches. Throws what parsing and shards refuse, cancelled. */
export async function runSearch(parts: ApiContext, given: SearchRun): Promise<SearchResponse> {
  const limits = searchLimits(parts, given.target);
  if (given.body["slice"] !== undefined)
    throw new AppError("request_invalid", "`slice` cannot be used outside of a scroll context");
  const resolved = await resolveLookups(parts, given.body, given.target.expression);
  const run = { ...given, body: withBoostedIndices(parts, resolved, given.target.options) };
  const collapse = parseCollapse(run.body);
  const suggesters = run.body["suggest"] === undefined ? [] : parseSuggest(run.body["suggest"], limits);
  const request = parseSearchRequest(
    { ...searchBody(run.body), ...(collapse !== undefined && { collapse: {} }) },
    limits,
  );
  warnColumns(run.body);
  const opened = openShards(parts, run.target);
  try {
    const key = run.useCache ? cacheKey(run.body) : undefined;
    const options = {
      signal: run.signal,
      limits,
      typedKeys: run.typedKeys,
      clock: parts.clock,
      nodeId: parts.errors.nodeId,
      ...(key !== undefined && { cache: { results: parts.results, key } }),
    };
    const response = await countedSearch(parts, opened.indices, run.body, () =>
      collapse === undefined
        ? searchShards(request, opened.shards, options)
        : searchCollapsed(searchBody(run.body), collapse, limits, opened.shards, options),
    );
    const answer =
      suggesters.length === 0
        ? response
        : withSuggestions(response, await suggest(suggesters, opened.shards, options, request.timeoutMs));
    checkPartial(answer, run.allowPartial);
    return answer;
  } finally {
    opened.close();
  }
}

function withSuggestions(
  response: SearchResponse,
  { suggest: found, timedOut, isCut, failures: unasked }: Suggestions,
): SearchResponse {
  const { total, failures } = response.shards;
  const isNew = (a: ShardFailure): boolean =>
    !failures.some((b) => b.indexUuid === a.indexUuid && b.shard === a.shard);
  const all = [...failures, ...unasked.filter(isNew)];
  return {
    ...response,
    suggest: found,
    timedOut: response.timedOut || timedOut,
    ...(isCut && { terminatedEarly: true }),
    shards: { total, successful: total - all.length, failures: all },
  };
}

/** The body without its suggestions; where they are all that is asked for, no documents are. */
function searchBody({ suggest: suggestions, ...body }: JsonObject): JsonObject {
  const asked = ["query", "aggs", "aggregations", "sort"];
  // As the 6.5 server does, a search for no hits finds no documents either.
  const wantsHits = body["size"] !== undefined && body["size"] !== 0;
  if (suggestions === undefined || wantsHits || asked.some((key) => body[key] !== undefined)) return body;
  return { ...body, query: { match_none: {} }, size: 0 };
}

/** Longest request that is remembered, characters. */
const MAX_KEY = 32_768;

/** Names a request among those without hits; undefined where its answer isn't kept: it has hits, or depends on the time. */
function cacheKey(body: JsonObject): string | undefined {
  if (body["size"] !== 0 || body["profile"] === true) return undefined;
  const { timeout: _timeout, stats: _stats, ...asked } = body;
  const key = writeJson(asked);
  return key.length > MAX_KEY || key.includes("now") ? undefined : key;
}

/** 6.x wants a format for each column, 7.x prints them as the mapping says unless there is one. */
function warnColumns({ docvalue_fields: given }: JsonObject): void {
  const all: unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  if (all.some((each) => isObject(each) && each["format"] === "use_field_mapping")) {
    warnDeprecated(
      "[use_field_mapping] is a special format that was only used to ease the transition to 7.x. It has become the default and shouldn't be set explicitly anymore.",
      { from: 700 },
    );
  }
  const plain = all.flatMap((each) => {
    if (typeof each === "string") return [each];
    return isObject(each) && each["format"] === undefined ? [String(each["field"])] : [];
  });
  if (plain.length === 0) return;
  warnDeprecated(
    `There are doc-value fields which are not using a format. The output will change in 7.0 when doc value fields get formatted based on mappings by default. It is recommended to pass [format=use_field_mapping] with a doc value field in order to opt in for the future behaviour and ease the migration to 7.0: [${plain.join(", ")}]`,
    { until: 700 },
  );
}

/** Runs a search and counts it for its indices, in the groups that `stats` of its body names; a slow one is noted. */
export async function countedSearch(
  { counters, slowQueries }: ApiContext,
  indices: readonly IndexInfo[],
  body: JsonObject,
  search: () => Promise<SearchResponse>,
): Promise<SearchResponse> {
  const { stats } = body;
  const groups = Array.isArray(stats) ? stats.map(String) : typeof stats === "string" ? [stats] : [];
  const response = await counters.during(indices, (counts) => counters.searchCounts(counts, groups), search);
  const { tookMs, total, timedOut } = response;
  slowQueries.note(
    tookMs,
    indices.map(({ name }) => name),
    body,
    total,
    timedOut,
  );
  return response;
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

/** Returns `body` with each name of `indices_boost` replaced by those of its indices. Throws index_missing. */
function withBoostedIndices({ indices }: ApiContext, body: JsonObject, options: ResolveOptions): JsonObject {
  const given = body["indices_boost"];
  if (given === undefined) return body;
  const expand = (part: unknown): unknown => {
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.entries(part).flatMap(([name, boost]) =>
        indices.resolve(name, options).map((index) => [index.name, boost] as const),
      ),
    );
  };
  return { ...body, indices_boost: Array.isArray(given) ? given.map(expand) : expand(given) };
}
