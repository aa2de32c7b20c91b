/** `_validate/query` and `_explain`: whether a query is valid, and how it scores one document. */

import { documentType, fitsType } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { resolveOptions, SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import { routingOf } from "#hub/api/parameters/write-options.ts";
import { checkRouting } from "#hub/cluster/writes/doc-operation.ts";
import { filterSource } from "#hub/search/source/source-filter.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { targetOf } from "./search.ts";
import { QUERY_PARAMS, queryOfParams } from "./search-params.ts";
import { checkedIndices, searchedIndices } from "./search-target.ts";

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

async function validate(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  // A rewritten query is shown as it is written: shards rewrite it on their own.
  const wantsReasons = request.flag("explain") === true || request.flag("rewrite") === true;
  const body = bodyOf(request);
  // Other members alone make an invalid query, which is an answer.
  checkValid(request.body.length > 0 && Object.keys(body).length === 0 && "query cannot be null");
  const { targets } = searchedIndices(parts, targetOf(parts, request));
  try {
    const checks = await parts.shards.validate({ targets, body }, request.signal);
    const explanations = checks.map(({ index, text, error }) =>
      error === undefined ? { index, valid: true, explanation: text } : { index, valid: false, error },
    );
    const valid = explanations.every((each) => each.valid);
    return json({ _shards: shardsOf(1), valid, ...(wantsReasons && { explanations }) });
  } catch (error) {
    const fault = toAppError(error);
    if (fault.status >= 500 || fault.code === "cancelled") throw fault;
    // Clients compare this text, so no hint is added.
    const { text } = fault.data;
    const reason = typeof text === "string" ? text : fault.message;
    const exception = `org.elasticsearch.common.ParsingException: ${reason}`;
    return json({ valid: false, ...(wantsReasons && { error: exception }) });
  }
}

async function explain(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const id = request.segment("id");
  const name = request.segment("index");
  const body = bodyOf(request);
  checkValid(body["query"] === undefined && "query is missing");
  const { signal } = request;
  const check = () => parts.shards.explain({ targets: [], body, id }, signal);
  const target = { expression: name, types: undefined, options: resolveOptions(request) };
  const { indices, targets } = await checkedIndices(parts, target, check);
  const [index] = indices;
  const source = sourceParams(request);
  const type = request.path["type"];
  if (index !== undefined) checkRouting(index, { id, ...routingOf(request) });
  const isMeant = index === undefined || fitsType(index, type);
  const found = await parts.shards.explain({ targets: isMeant ? targets : [], body, id }, signal);
  if (found === null)
    return json({ _index: index?.name, _type: type ?? "_doc", _id: id, matched: false }, 404);
  const wanted = source !== undefined && source !== false;
  return json({
    _index: found.index,
    _type: documentType(index, type),
    _id: id,
    matched: found.matches,
    explanation: found.explanation,
    ...(wanted && { get: { found: true, _source: filterSource(found.source, source) } }),
  });
}

function shardsOf(total: number): JsonObject {
  return { total, successful: total, failed: 0 };
}
