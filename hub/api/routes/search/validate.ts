/** `_validate/query` and `_explain`: whether a query is valid, and how it scores one document. */

import { documentType, fitsType } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { resolveOptions, SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { describeQuery, explainQuery, printExplanation } from "#hub/search/explain/explanation.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { type Query, ShardContext } from "#hub/search/query/query.ts";
import { parseQueryBody } from "#hub/search/request/search-request.ts";
import { filterSource } from "#hub/search/source/source-filter.ts";
import { type AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { targetOf } from "./search.ts";
import { QUERY_PARAMS, queryOfParams } from "./search-params.ts";
import { openShards } from "./search-target.ts";

export function validateRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_validate/query", "/{index}/_validate/query", "/{index}/{type}/_validate/query"],
      params: [...QUERY_PARAMS, "explain", "rewrite", "all_shards", "operation_threading"],
      action: "search",
      summary: "Validates a query.",
      handle: (request) => validate(parts, request),
    },
    {
      methods: ["GET", "POST"],
      paths: ["/{index}/{type}/{id}/_explain", "/{index}/_explain/{id}"],
      params: [...QUERY_PARAMS, ...SOURCE_PARAMS, "parent", "stored_fields"],
      action: "search",
      summary: "Explains whether a document matches, and its score.",
      handle: (request) => explain(parts, request),
    },
  ];
}

function bodyOf(request: ApiRequest): JsonObject {
  const query = queryOfParams(request);
  return query === undefined ? request.object() : { query };
}

function validate(parts: ApiContext, request: ApiRequest): ApiResponse {
  const wantsReasons = request.flag("explain") === true;
  const opened = openShards(parts, targetOf(request));
  try {
    const checks = new Map<string, AppError | string>();
    const query = parseQueryBody(bodyOf(request));
    for (const { index, shard, searcher } of opened.shards) {
      if (checks.has(index.name)) continue;
      const context = new ShardContext(index, shard, searcher, parts.clock.now());
      checks.set(index.name, textOrFault(query, context));
    }
    const failed = [...checks.values()].some((found) => typeof found !== "string");
    const explanations = [...checks].map(([index, found]) =>
      typeof found === "string"
        ? { index, valid: true, explanation: found }
        : { index, valid: false, error: found.message },
    );
    return json({ _shards: shardsOf(1), valid: !failed, ...(wantsReasons && { explanations }) });
  } catch (error) {
    const fault = toAppError(error);
    if (fault.status >= 500) throw fault;
    // Clients compare this text, so it has no hint.
    const { text } = fault.data;
    const reason = typeof text === "string" ? text : fault.message;
    const exception = `org.elasticsearch.common.ParsingException: ${reason}`;
    return json({ valid: false, ...(wantsReasons && { error: exception }) });
  } finally {
    opened.close();
  }
}

/** Binds a query to a shard; returns its text, or why it can't be. */
function textOrFault(query: Query, shard: ShardContext): AppError | string {
  try {
    query.weight(shard, { scores: true, boost: 1 });
    return describeQuery(query, shard).text;
  } catch (error) {
    return toAppError(error);
  }
}

function explain(parts: ApiContext, request: ApiRequest): ApiResponse {
  const id = request.segment("id");
  const name = request.segment("index");
  const query = parseQueryBody(bodyOf(request));
  const [index] = parts.indices.resolve(name, resolveOptions(request));
  const source = sourceParams(request);
  const type = request.path["type"];
  const opened = openShards(parts, { expression: name, types: undefined, options: {} });
  try {
    const found = index === undefined || fitsType(index, type) ? findDocument(opened.shards, id) : undefined;
    if (found === undefined)
      return json({ _index: index?.name, _type: type ?? "_doc", _id: id, matched: false }, 404);
    const { shard, segment, doc } = found;
    const context = new ShardContext(shard.index, shard.shard, shard.searcher, parts.clock.now());
    const { filter } = shard;
    const seen = filter === undefined ? query : new BooleanNode({ must: [query], filter: [filter] });
    const explanation = explainQuery(seen, { shard: context, segment, doc, boost: 1 });
    const wanted = source !== undefined && source !== false;
    return json({
      _index: shard.index.name,
      _type: documentType(index, type),
      _id: id,
      matched: explanation.matches,
      explanation: printExplanation(explanation),
      ...(wanted && { get: { found: true, _source: filterSource(segment.source(doc), source) } }),
    });
  } finally {
    opened.close();
  }
}

/** Finds the live document of an id as of the last refresh. */
function findDocument(
  shards: readonly SearchShard[],
  id: string,
): { readonly shard: SearchShard; readonly segment: SegmentReader; readonly doc: number } | undefined {
  for (const shard of shards) {
    for (const segment of shard.searcher.segments) {
      const doc = segment.docOf(id);
      if (doc >= 0) return { shard, segment, doc };
    }
  }
  return undefined;
}

function shardsOf(total: number): JsonObject {
  return { total, successful: total, failed: 0 };
}
