/** `_update_by_query` and `_delete_by_query`: rewrite or delete the documents that match a query. */

import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { checkPipeline, pipelineOf } from "#hub/api/context/ingest-documents.ts";
import { readChangeScript } from "#hub/api/context/scripted-change.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import type { ApiResponse, Route } from "#hub/api/http/route.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { targetOf } from "#hub/api/routes/search/search.ts";
import { bodyWithParams, SEARCH_PARAMS } from "#hub/api/routes/search/search-params.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type FoundDocument, storedSource } from "./change-by-query.ts";
import { DEFAULT_PAGE, openIndexPages, shardsOf } from "./index-pages.ts";
import { scriptedCopy, writeInPlace } from "./scripted-copy.ts";
import { CHANGE_PARAMS, changeOptions, checkSearchKeys, checkSlicing, startChange } from "./start-change.ts";

const PARAMS = [...SEARCH_PARAMS, ...CHANGE_PARAMS, "conflicts", "scroll_size", "search_timeout", "pipeline"];

/** Keys of a body. */
const BODY_KEYS: readonly string[] = [
  "query",
  "sort",
  "_source",
  "conflicts",
  "size",
  "max_docs",
  "script",
  "slice",
];

export function byQueryRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/{index}/_update_by_query", "/{index}/{type}/_update_by_query"],
      params: PARAMS,
      action: ["search", "ingest"],
      summary: "Rewrites the documents of a query, so that a changed mapping applies to them.",
      handle: (request) => updateByQuery(parts, request),
    },
    {
      methods: ["POST"],
      paths: ["/{index}/_delete_by_query", "/{index}/{type}/_delete_by_query"],
      params: PARAMS,
      // Deleting what a query matches destroys logs, as deleting an index does.
      action: ["search", "index_delete"],
      summary: "Deletes the documents of a query.",
      handle: (request) => deleteByQuery(parts, request),
    },
  ];
}

function updateByQuery(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const pipeline = request.query["pipeline"];
  checkPipeline(parts.ingest, pipeline);
  const given = request.object()["script"];
  const script = given === undefined ? undefined : readChangeScript(given, findStored(parts));
  return change(parts, request, "update", (found) => {
    const place = { ...pipelineOf(pipeline), ...unchanged(found) };
    if (script === undefined) return { kind: "index", source: storedSource(found), ...place };
    const copy = scriptedCopy(script, found, []);
    return copy === undefined ? undefined : writeInPlace(copy, place);
  });
}

function deleteByQuery(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const body = request.object();
  checkSearchKeys(body);
  checkValid(body["query"] === undefined && request.query["q"] === undefined && "query is missing");
  return change(parts, request, "delete", (found) => ({ kind: "delete", ...unchanged(found) }));
}

function change(
  parts: ApiContext,
  request: ApiRequest,
  verb: "update" | "delete",
  make: (found: FoundDocument) => WriteItem | undefined,
): Promise<ApiResponse> {
  const body = request.object();
  checkBody(body, request, verb);
  const { query, sort } = bodyWithParams({ ...body, size: undefined }, request);
  const pageSize = request.integer("scroll_size") ?? DEFAULT_PAGE;
  const search: JsonObject = { ...(query !== undefined && { query }), ...(sort !== undefined && { sort }) };
  const target = targetOf(parts, request);
  const { slice } = body;
  checkSlicing(request, slice);
  return startChange(parts, request, {
    action: `indices:data/write/${verb}/byquery`,
    description: `${verb}-by-query [${target.expression ?? "_all"}]`,
    counts: verb === "update" ? ["updated", "deleted"] : ["deleted"],
    options: { ...changeOptions(parts, request, body), make },
    shards: shardsOf(parts, target),
    open: (signal, part) => openIndexPages(parts, target, search, pageSize, signal, part ?? slice),
  });
}

/** Returns the write of a document as it was found: a conflict if its version has changed since. */
function unchanged({ index, id, seqNo, primaryTerm, version, routing }: FoundDocument): {
  index: string;
  id: string;
  routing?: string;
  version?: number;
  ifSeqNo: number;
  ifPrimaryTerm: number;
} {
  return {
    index,
    id,
    ...(routing !== undefined && { routing }),
    // Before 6.7 conflicts are detected by versions.
    ...(!answersAs(607) && version !== undefined && { version }),
    ifSeqNo: seqNo ?? 0,
    ifPrimaryTerm: primaryTerm ?? 1,
  };
}

function checkBody(body: JsonObject, request: ApiRequest, verb: string): void {
  checkSearchKeys(body);
  if (verb === "delete" && body["script"] !== undefined)
    throw new AppError("parsing", "[delete_by_query] unknown field [script], parser not found");
  if (verb === "delete" && request.query["pipeline"] !== undefined)
    throw new AppError("request_invalid", "[pipeline] isn't offered for delete_by_query");
  const unknown = Object.keys(body).find((key) => !BODY_KEYS.includes(key));
  if (unknown !== undefined)
    throw new AppError("parsing", `[${verb}_by_query] unknown field [${unknown}], parser not found`);
}
