/** Mappings of indices: shows and extends them, also field by field. */

import { warnOfFields } from "#hub/api/compat/interface-compatibility.ts";
import {
  adoptType,
  checkTypeName,
  DEFAULT_TYPE,
  givenType,
  printMapping,
  refusesTypes,
  requireType,
  splitType,
  typeOf,
} from "#hub/api/compat/mapping-types.ts";
import { showsTypes } from "#hub/api/compat/version.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { checkBlocks } from "#hub/api/context/index-blocks.ts";
import { plainErrorBody } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, empty, json, type Route } from "#hub/api/http/route.ts";
import { RESOLVE_PARAMS, resolveOptions } from "#hub/api/parameters/shared-parameters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { printField } from "#hub/engine/mapping/node.ts";
import { answersAs, warnDeprecated } from "#hub/search/options/request-version.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

const SHOW_PARAMS = [...RESOLVE_PARAMS, "local", "include_type_name", "master_timeout"];
const PUT_PARAMS = [
  ...RESOLVE_PARAMS,
  "timeout",
  "master_timeout",
  "update_all_types",
  "include_type_name",
  "write_index_only",
];

export function mappingRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["GET"],
      paths: bothNames(
        "/_mapping",
        "/_mapping/{type}",
        "/{index}/_mapping",
        "/{index}/_mapping/{type}",
        "/{index}/{type}/_mapping",
      ),
      params: SHOW_PARAMS,
      action: "monitor",
      summary: "Shows the mapping of indices.",
      handle: (request) => getMapping(parts, request),
    },
    {
      methods: ["HEAD"],
      paths: ["/{index}/_mapping/{type}", "/{index}/{type}"],
      params: SHOW_PARAMS,
      action: "monitor",
      summary: "Checks whether indices have a type.",
      handle: (request) => existsType(parts, request),
    },
    {
      methods: ["PUT", "POST"],
      paths: bothNames(
        "/_mapping",
        "/_mapping/{type}",
        "/{index}/_mapping",
        "/{index}/_mapping/{type}",
        "/{index}/{type}/_mapping",
      ),
      params: PUT_PARAMS,
      action: "index_manage",
      summary: "Adds fields to the mapping of indices.",
      handle: (request) => putMapping(parts, request),
    },
    {
      methods: ["GET"],
      paths: bothNames(
        "/_mapping/field/{fields}",
        "/_mapping/{type}/field/{fields}",
        "/{index}/_mapping/field/{fields}",
        "/{index}/_mapping/{type}/field/{fields}",
      ),
      params: [...SHOW_PARAMS, "include_defaults"],
      action: "monitor",
      summary: "Shows the mapping of single fields.",
      handle: (request) => getFieldMapping(parts, request),
    },
  ];
}

function bothNames(...paths: string[]): string[] {
  return paths.flatMap((path) => [path, path.replace("_mapping", "_mappings")]);
}

function getMapping(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { indices } = parts;
  const includeType = request.flag("include_type_name") ?? showsTypes();
  const types = request.list("type");
  const found = indices.resolve(request.path["index"], resolveOptions(request, { expandWildcards: "all" }));
  checkBlocks(found, "metadata_read");
  const answer: JsonObject = {};
  for (const index of found) {
    if (types !== undefined && !types.some((type) => hasType(index, type))) continue;
    const mappings = printMapping(index, includeType);
    if (types === undefined || Object.keys(mappings).length > 0) answer[index.name] = { mappings };
  }
  const missing = (types ?? []).filter(
    (type) => type !== "*" && type !== "_all" && !found.some((index) => hasType(index, type)),
  );
  if (missing.length === 0) return json(answer);
  if (Object.keys(answer).length === 0) throw typeMissing(missing);
  const plural = missing.length > 1 ? "s" : "";
  return json(
    { ...plainErrorBody(`type${plural} [${missing.sort().join(",")}] missing`, 404), ...answer },
    404,
  );
}

/** `_doc` means the type that an index has or would get. */
function hasType(index: IndexInfo, pattern: string): boolean {
  if (pattern === "_all" || pattern === "_doc") return true;
  return (
    compileWildcard(pattern).matches(typeOf(index)) &&
    (givenType(index.settings.raw) !== undefined || index.mapping.version > 1)
  );
}

function existsType({ indices }: ApiContext, request: ApiRequest): ApiResponse {
  try {
    const found = indices.resolve(
      request.segment("index"),
      resolveOptions(request, { allowNoIndices: false }),
    );
    const types = request.list("type") ?? [];
    return empty(found.every((index) => types.some((type) => hasType(index, type))) ? 200 : 404);
  } catch (error) {
    if (error instanceof AppError && error.code === "index_missing") return empty(404);
    throw error;
  }
}

async function putMapping({ indices }: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const body = request.metadata();
  checkValid(Object.keys(body).length === 0 && request.body.length === 0 && "mapping source is empty");
  const given = request.path["type"];
  if (given !== undefined) checkTypeName(given);
  const isTyped = given === undefined && splitType(body, "").type !== undefined;
  if (isTyped && refusesTypes(request.flag("include_type_name"))) {
    throw new AppError(
      "request_invalid",
      "Types cannot be provided in put mapping requests, unless the include_type_name parameter is set to true.",
    );
  }
  const expression = request.path["index"];
  const found = indices.resolve(expression, resolveOptions(request, { allowNoIndices: false }));
  checkBlocks(found, "metadata_write");
  for (const index of found) {
    if (given === DEFAULT_TYPE && answersAs(607)) requireType(index, given);
    const inner = given === undefined ? undefined : body[given];
    const { type, mapping } = isObject(inner) ? { type: given, mapping: inner } : splitType(body, index.name);
    await adoptType(indices, index.name, given ?? type);
    await indices.putMapping(index.name, mapping);
    warnOfFields(mapping);
  }
  return json({ acknowledged: true });
}

function getFieldMapping(parts: ApiContext, request: ApiRequest): ApiResponse {
  const { indices } = parts;
  const patterns = (request.list("fields") ?? []).map((pattern) => compileWildcard(pattern));
  const types = request.list("type");
  const includeType = request.flag("include_type_name") ?? showsTypes();
  const withDefaults = request.flag("include_defaults") ?? false;
  if (request.query["local"] !== undefined)
    warnDeprecated(
      "Use [local] in get field mapping requests is deprecated. The parameter will be removed in the next major version",
      { from: 708 },
    );
  const found = indices.resolve(request.path["index"], resolveOptions(request));
  const typed = found.filter((index) => types === undefined || types.some((type) => hasType(index, type)));
  if (types !== undefined && typed.length === 0) throw typeMissing(types);
  const answer: JsonObject = {};
  for (const index of typed) {
    const fields: JsonObject = {};
    for (const field of index.mapping.fields()) {
      if (patterns.some((pattern) => pattern.matches(field.path)))
        fields[field.path] = fieldBody(field, withDefaults);
    }
    if (Object.keys(fields).length > 0)
      answer[index.name] = { mappings: includeType ? { [typeOf(index)]: fields } : fields };
    else if (types === undefined && !showsTypes()) answer[index.name] = { mappings: {} };
  }
  // 6.5 reports a missing field only if no type was named.
  const isMissing = Object.keys(answer).length === 0 && types === undefined && showsTypes();
  return json(answer, isMissing ? 404 : 200);
}

function typeMissing(types: readonly string[]): AppError {
  return new AppError("not_found", `type[[${types.join(", ")}]] missing`, {
    data: { type: "type_missing_exception", index_uuid: "_na_", index: "_all" },
  });
}

function fieldBody(field: Field, withDefaults: boolean): JsonObject {
  const name = field.path.slice(field.path.lastIndexOf(".") + 1);
  const defaults = withDefaults ? defaultsOf(field) : {};
  return { full_name: field.path, mapping: { [name]: { ...defaults, ...printField(field) } } };
}

/** Returns the defaults of a field. */
function defaultsOf(field: Field): JsonObject {
  const common = { boost: 1, index: field.index, store: false, doc_values: field.docValues };
  if (field.type !== "text") return common;
  return {
    ...common,
    analyzer: "default",
    norms: field.norms,
    index_options: "positions",
    fielddata: field.fielddata,
  };
}
