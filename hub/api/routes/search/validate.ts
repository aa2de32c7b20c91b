/** `_validate/query` and `_explain`: whether a query is right, and what it makes of one document. */

import type { ApiParts } from "#hub/api/parts.ts";
import type { ApiRequest } from "#hub/api/request.ts";
import { resolveOptions } from "#hub/api/resolve-options.ts";
import { type ApiResponse, json, type Route } from "#hub/api/route.ts";
import { SOURCE_PARAMS, sourceParams } from "#hub/api/source-params.ts";
import { isObject, type JsonObject } from "#hub/search/json.ts";
import { ShardContext } from "#hub/search/query.ts";
import { searchShards } from "#hub/search/search.ts";
import { parseQueryBody, parseSearchRequest } from "#hub/search/search-request.ts";
import { type AppError, toAppError } from "#proto/kit/errors.ts";
import { openShards } from "./open-shards.ts";
import { targetOf } from "./search.ts";
import { searchLimits } from "./search-limits.ts";
import { QUERY_PARAMS, queryOfParams } from "./search-params.ts";

export function validateRoutes(parts: ApiParts): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_validate/query", "/{index}/_validate/query", "/{index}/{type}/_validate/query"],
      params: [...QUERY_PARAMS, "explain", "rewrite", "all_shards", "operation_threading"],
      action: "search",
      summary: "Says whether a query is right.",
      handle: (request) => validate(parts, request),
    },
    {
      methods: ["GET", "POST"],
      paths: ["/{index}/{type}/{id}/_explain", "/{index}/_explain/{id}"],
      params: [...QUERY_PARAMS, ...SOURCE_PARAMS, "parent", "stored_fields"],
      action: "search",
      summary: "Says whether and with what score a document matches.",
      handle: (request) => explain(parts, request),
    },
  ];
}

function bodyOf(request: ApiRequest): JsonObject {
  const query = queryOfParams(request);
  return query === undefined ? request.object() : { query };
}

function validate(parts: ApiParts, request: ApiRequest): ApiResponse {
  const wantsReasons = request.flag("explain") === true;
  const opened = openShards(parts, targetOf(request));
  try {
    const checks = new Map<string, AppError | undefined>();
    const query = parseQueryBody(bodyOf(request));
    for (const { index, shard, searcher } of opened.shards) {
      if (checks.has(index.name)) continue;
      checks.set(
        index.name,
        faultOf(() =>
          query.weight(new ShardContext(index, shard, searcher, parts.clock.now()), {
            scores: true,
            boost: 1,
          }),
        ),
      );
    }
    const failed = [...checks.values()].some((fault) => fault !== undefined);
    const explanations = [...checks].map(([index, fault]) => ({
      index,
      valid: fault === undefined,
      ...(fault === undefined ? { explanation: describeQuery(bodyOf(request)) } : { error: fault.message }),
    }));
    return json({ _shards: shardsOf(1), valid: !failed, ...(wantsReasons && { explanations }) });
  } catch (error) {
    const fault = toAppError(error);
    if (fault.status >= 500) throw fault;
    const text = `org.elasticsearch.common.ParsingException: ${fault.message.replace(/; did you mean .*$/, "")}`;
    return json({ valid: false, ...(wantsReasons && { error: text }) });
  } finally {
    opened.close();
  }
}

function faultOf(check: () => unknown): AppError | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    return toAppError(error);
  }
}

/** The query in short: what matches all as Lucene writes it, others as they came. */
function describeQuery({ query }: JsonObject): string {
  const isAll = query === undefined || (isObject(query) && "match_all" in query);
  return isAll ? "*:*" : JSON.stringify(query);
}

async function explain(parts: ApiParts, request: ApiRequest): Promise<ApiResponse> {
  const id = request.segment("id");
  const body = bodyOf(request);
  parseQueryBody(body);
  const [index] = parts.indices.resolve(request.segment("index"), resolveOptions(request));
  const limits = searchLimits(parts);
  const isThis = { ids: { values: [id] } };
  const query = { bool: { must: [body["query"] ?? { match_all: {} }], filter: [isThis] } };
  const source = sourceParams(request);
  const opened = openShards(parts, { expression: request.segment("index"), types: undefined, options: {} });
  try {
    const run = { signal: request.signal, limits, clock: parts.clock };
    const found = await searchShards(
      parseSearchRequest({ query: isThis, _source: source ?? false }, limits),
      opened.shards,
      run,
    );
    const matched = await searchShards(
      parseSearchRequest({ query, _source: false }, limits),
      opened.shards,
      run,
    );
    const named = { _index: index?.name, _type: request.path["type"] ?? "_doc", _id: id };
    const document = found.hits[0];
    if (document === undefined) return json({ ...named, matched: false }, 404);
    const score = matched.hits[0]?.["_score"];
    const value = typeof score === "number" ? score : 0;
    const description =
      matched.hits.length > 0 ? "score of the query, by BM25 of its terms" : "no matching clause";
    return json({
      ...named,
      _type: document["_type"],
      matched: matched.hits.length > 0,
      explanation: { value, description, details: [] },
      ...(source !== undefined && source !== false && { get: { found: true, _source: document["_source"] } }),
    });
  } finally {
    opened.close();
  }
}

function shardsOf(total: number): JsonObject {
  return { total, successful: total, failed: 0 };
}
