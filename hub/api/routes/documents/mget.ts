/** `_mget`: several documents by their ids. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { errorDetail, validationError } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import { SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import { optionalText, texts } from "#hub/api/parameters/values.ts";
import { routingOf } from "#hub/api/parameters/write-options.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { parseSourceFilter, type SourceFilter } from "#hub/search/source/source-filter.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type GetSpec, getDocument } from "./get-result.ts";

/** Maximum number of documents of one request. */
const MAX_DOCUMENTS = 10_000;
const KEYS = [
  "_index",
  "_type",
  "_id",
  "routing",
  "_routing",
  "parent",
  "_parent",
  "stored_fields",
  "_source",
  "version",
  "_version",
  "version_type",
  "_version_type",
];

export function mgetRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET", "POST"],
      paths: ["/_mget", "/{index}/_mget", "/{index}/{type}/_mget"],
      params: [...SOURCE_PARAMS, "stored_fields", "preference", "realtime", "refresh", "routing"],
      action: "search",
      summary: "Reads the newest versions of several documents.",
      handle: (request) => mget(parts, request),
    },
  ];
}

async function mget(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const specs = readSpecs(request);
  if (request.flag("refresh") === true)
    await parts.maintenance.refresh(parts.indices.resolve(request.path["index"], {}));
  const docs: JsonObject[] = [];
  for (const spec of specs) {
    if (request.signal.aborted) throw new AppError("cancelled", "the client disconnected before the answer");
    docs.push(await readOne(parts, spec));
  }
  return json({ docs });
}

async function readOne(parts: ApiContext, spec: GetSpec): Promise<JsonObject> {
  try {
    return (await getDocument(parts, spec)).body;
  } catch (error) {
    const fault = toAppError(error);
    if (fault.status >= 500) throw fault;
    return {
      _index: spec.index,
      _type: spec.type ?? null,
      _id: spec.id,
      error: errorDetail(fault, parts.errors),
    };
  }
}

function readSpecs(request: ApiRequest): GetSpec[] {
  const body = request.requiredObject();
  const { docs, ids } = body;
  const unknown = Object.keys(body).find((key) => key !== "docs" && key !== "ids");
  if (unknown !== undefined)
    throw new AppError("parsing", `unknown key [${unknown}] for a START_ARRAY, expected [docs] or [ids]`);
  const items: unknown[] = Array.isArray(docs)
    ? docs
    : Array.isArray(ids)
      ? ids.map((id: unknown) => ({ _id: id }))
      : [];
  if (items.length === 0) throw validationError(["no documents to get"]);
  if (items.length > MAX_DOCUMENTS)
    throw new AppError(
      "request_invalid",
      `_mget reads at most ${MAX_DOCUMENTS} documents, but ${items.length} were asked for; send several requests`,
    );
  const specs = items.map((item) => readSpec(item, request));
  const problems = specs.flatMap((spec, at) => [
    ...(spec.index === "" ? [`index is missing for doc ${at}`] : []),
    ...(spec.id === "" ? [`id is missing for doc ${at}`] : []),
  ]);
  if (problems.length > 0) throw validationError(problems);
  return specs;
}

function readSpec(item: unknown, request: ApiRequest): GetSpec {
  if (!isObject(item)) throw new AppError("request_invalid", "docs array element should include an object");
  const unknown = Object.keys(item).find((key) => !KEYS.includes(key));
  if (unknown !== undefined) throw unknownParameter(unknown);
  for (const old of ["_routing", "_version", "_version_type", "_parent"]) {
    if (!(old in item)) continue;
    if (answersAs(700)) throw unknownParameter(old);
    warnDeprecated(`Deprecated field [${old}] used, expected [${old.slice(1)}] instead`);
  }
  const stored = item["stored_fields"];
  const storedFields =
    stored === undefined || stored === null ? request.list("stored_fields") : texts(stored, "stored_fields");
  const version = item["version"] ?? item["_version"];
  return {
    index: optionalText(item["_index"], "_index") ?? request.path["index"] ?? "",
    type: optionalText(item["_type"], "_type") ?? request.path["type"],
    id: optionalText(item["_id"], "_id") ?? "",
    routing:
      optionalText(item["routing"] ?? item["_routing"] ?? item["parent"] ?? item["_parent"], "routing") ??
      routingOf(request).routing,
    source: sourceOf(item["_source"]) ?? sourceParams(request),
    storedFields,
    version: typeof version === "number" ? version : undefined,
    ownType: true,
    realtime: request.flag("realtime"),
  };
}

function unknownParameter(name: string): AppError {
  return new AppError("parsing", `Unknown parameter [${name}] in an element of [docs]`, {
    data: { type: "parse_exception" },
  });
}

function sourceOf(value: unknown): SourceFilter | false | undefined {
  return value === undefined || value === null ? undefined : parseSourceFilter(value);
}
