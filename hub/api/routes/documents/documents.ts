/** Routes of single documents: write, read, delete. */

import { adoptType, documentType, fitsType } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { aliasFault } from "#hub/api/context/index-blocks.ts";
import { checkPipeline, passesPipelines, pipelineOf } from "#hub/api/context/ingest-documents.ts";
import { errorBody } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, MAX_BODY_BYTES, type Route } from "#hub/api/http/route.ts";
import { SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import {
  CONDITION_PARAMS,
  checkId,
  conditionsOf,
  inType,
  isFailure,
  routingOf,
  typeName,
  WRITE_PARAMS,
  writeBody,
  writeOptions,
  writeStatus,
} from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { requireActiveShards } from "#hub/api/stats/active-shards.ts";
import type { WriteConditions } from "#hub/cluster/writes/writes.ts";
import { filterSource } from "#hub/search/source/source-filter.ts";
import { AppError } from "#proto/kit/errors.ts";
import { applySettings, splitSettings } from "./document-body.ts";
import { getDocument } from "./get-result.ts";

const READ_PARAMS = [
  ...SOURCE_PARAMS,
  "stored_fields",
  "routing",
  "parent",
  "preference",
  "realtime",
  "refresh",
  "version",
  "version_type",
];
const INDEX_PARAMS = [...WRITE_PARAMS, ...CONDITION_PARAMS, "op_type", "pipeline", "require_alias"];

export function documentRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/{index}/{type}"],
      params: INDEX_PARAMS,
      action: "ingest",
      maxBodyBytes: MAX_BODY_BYTES,
      summary: "Stores a document under a generated id.",
      handle: (request) => indexDocument(parts, request, opTypeOf(request)),
    },
    {
      methods: ["PUT", "POST"],
      paths: ["/{index}/{type}/{id}"],
      params: INDEX_PARAMS,
      action: "ingest",
      maxBodyBytes: MAX_BODY_BYTES,
      summary: "Stores a document under the id given.",
      handle: (request) => indexDocument(parts, request, opTypeOf(request)),
    },
    {
      methods: ["PUT", "POST"],
      paths: ["/{index}/{type}/{id}/_create", "/{index}/_create/{id}"],
      params: INDEX_PARAMS,
      action: "ingest",
      maxBodyBytes: MAX_BODY_BYTES,
      summary: "Stores a document unless its id is taken.",
      handle: (request) => indexDocument(parts, request, "create"),
    },
    {
      methods: ["GET", "HEAD"],
      paths: ["/{index}/{type}/{id}"],
      params: READ_PARAMS,
      action: "search",
      summary: "Reads the newest version of a document.",
      handle: (request) => readDocument(parts, request),
    },
    {
      methods: ["GET", "HEAD"],
      paths: ["/{index}/{type}/{id}/_source", "/{index}/_source/{id}"],
      params: READ_PARAMS,
      action: "search",
      summary: "Reads the source of a document.",
      handle: (request) => readSource(parts, request),
    },
    {
      methods: ["DELETE"],
      paths: ["/{index}/{type}/{id}"],
      params: [...WRITE_PARAMS, ...CONDITION_PARAMS],
      action: "ingest",
      summary: "Deletes a document.",
      handle: (request) => deleteDocument(parts, request),
    },
  ];
}

async function indexDocument(
  parts: ApiContext,
  request: ApiRequest,
  kind: "index" | "create",
): Promise<ApiResponse> {
  request.requireBody();
  checkPipeline(parts.ingest, request.query["pipeline"]);
  const name = request.segment("index");
  const id = request.path["id"];
  const requiresAlias = request.flag("require_alias") === true;
  const conditions = conditionsOf(request);
  if (id !== undefined) checkId(id);
  if (kind === "create") checkCreate(conditions);
  const pipeline = request.query["pipeline"];
  // A pipeline may choose another index.
  const isIngested = passesPipelines(parts.indices, name, pipeline);
  const fault = requiresAlias && !isIngested ? aliasFault(parts.indices, name) : undefined;
  if (fault !== undefined) throw fault;
  const { source, settings } = splitSettings(request.body);
  await applySettings(parts.indices, name, settings);
  const type = request.path["type"];
  if (!isIngested) await adoptType(parts.indices, name, type);
  const item: WriteItem = {
    ...conditions,
    ...routingOf(request),
    kind,
    index: name,
    ...(id !== undefined && { id }),
    ...pipelineOf(pipeline),
    ...(isIngested && type !== undefined && { type }),
    ...(isIngested && requiresAlias && { requiresAlias }),
    source,
  };
  return writeOne(parts, request, item);
}

/** A document that doesn't exist yet has no version to compare with. */
function checkCreate({ version, versionType = "internal" }: WriteConditions): void {
  checkValid(
    versionType !== "internal" && "create operations only support internal versioning. use index instead",
    versionType === "internal" &&
      version !== undefined &&
      "create operations do not support explicit versions. use index instead",
  );
}

async function writeOne(parts: ApiContext, request: ApiRequest, item: WriteItem): Promise<ApiResponse> {
  const options = writeOptions(request);
  await requireActiveShards(parts, request, [item.index]);
  const [result] = await parts.documents.write([item], options);
  if (result === undefined) throw new AppError("internal", "a write gave no result");
  if (isFailure(result)) throw inType(result.error, typeName(parts.indices, result.index));
  const type = documentType(parts.indices.get(result.index), request.path["type"]);
  const body = writeBody(result, parts.indices, options.refresh, type);
  const path = [result.index, type, result.id];
  const location = `/${path.map(encodeURIComponent).join("/")}`;
  const status = writeStatus(result);
  return { status, json: body, ...(status === 201 && { headers: { location } }) };
}

async function readDocument(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const { found, body } = await getDocument(parts, await specOf(parts, request));
  const status = found ? 200 : 404;
  return request.method === "HEAD" ? empty(status) : json(body, status);
}

async function readSource(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const spec = await specOf(parts, request);
  if (spec.source === false)
    throw new AppError("request_invalid", "Validation Failed: 1: fetching source can not be disabled;", {
      data: { type: "action_request_validation_exception" },
    });
  const { document, shown } = await getDocument(parts, spec);
  if (request.method === "HEAD") return empty(shown === undefined ? 404 : 200);
  if (shown === undefined) {
    const { index, type = "_doc", id } = spec;
    const error = new AppError(
      "not_found",
      `${document === null ? "Document" : "Source"} not found [${index}]/[${type}]/[${id}]`,
    );
    return json(errorBody(error, parts.errors), 404);
  }
  return json(filterSource(shown, spec.source ?? { includes: [], excludes: [] }));
}

async function specOf(parts: ApiContext, request: ApiRequest): Promise<Parameters<typeof getDocument>[1]> {
  const index = request.segment("index");
  if (request.flag("refresh") === true) await parts.maintenance.refresh(parts.indices.resolve(index, {}));
  return {
    index,
    type: request.path["type"],
    id: request.segment("id"),
    routing: routingOf(request).routing,
    source: sourceParams(request),
    storedFields: request.list("stored_fields"),
    version: request.integer("version"),
    realtime: request.flag("realtime"),
  };
}

async function deleteDocument(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const name = request.segment("index");
  const id = request.segment("id");
  const type = request.path["type"];
  const conditions = conditionsOf(request);
  // An external version is stored even if there is nothing to delete, so the index must exist.
  if (conditions.versionType?.startsWith("external")) await adoptType(parts.indices, name, type);
  const [index] = parts.indices.resolve(name, {});
  if (index !== undefined && !fitsType(index, type)) await adoptType(parts.indices, name, type);
  return writeOne(parts, request, { ...conditions, ...routingOf(request), kind: "delete", index: name, id });
}

/** A document without an id is a new one, the only kind that data streams accept. Throws request_invalid. */
function opTypeOf(request: ApiRequest): "index" | "create" {
  const isNew = request.path["id"] === undefined && !CONDITION_PARAMS.some((name) => name in request.query);
  const value = request.query["op_type"] ?? (isNew ? "create" : "index");
  if (value === "index" || value === "create") return value;
  throw new AppError("request_invalid", `opType must be 'create' or 'index', found: [${value}]`);
}
