/** `_reindex`: copies documents of local or remote indices into another index. */

import { adoptType, isUntyped } from "#hub/api/compat/mapping-types.ts";
import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { writeIndex } from "#hub/api/context/index-blocks.ts";
import { checkPipeline, pipelineOf } from "#hub/api/context/ingest-documents.ts";
import { readChangeScript } from "#hub/api/context/scripted-change.ts";
import { validationError } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import type { ApiResponse, Route } from "#hub/api/http/route.ts";
import { creationFault } from "#hub/api/parameters/cluster-settings.ts";
import { optionalText } from "#hub/api/parameters/values.ts";
import { makeConditions } from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { Indices } from "#hub/api/ports/indices.ts";
import type { SearchTarget } from "#hub/api/routes/search/search-target.ts";
import type { Script } from "#hub/scripts/script.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { type FoundDocument, storedSource } from "./change-by-query.ts";
import { DEFAULT_PAGE, openIndexPages, shardsOf } from "./index-pages.ts";
import { openRemotePages, readRemote } from "./remote-pages.ts";
import { scriptedCopy } from "./scripted-copy.ts";
import {
  CHANGE_PARAMS,
  type Change,
  changeOptions,
  checkSearchKeys,
  checkSlicing,
  startChange,
} from "./start-change.ts";

/** Largest page: search's window. */
const MAX_PAGE = 10_000;

/** Keys of `source`. */
const SOURCE_KEYS: readonly string[] = [
  "index",
  "type",
  "query",
  "sort",
  "size",
  "_source",
  "remote",
  "slice",
];

export function reindexRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/_reindex"],
      params: [...CHANGE_PARAMS, "scroll"],
      action: ["search", "ingest"],
      summary: "Copies documents into another index, also from another search engine.",
      handle: (request) => reindex(parts, request),
    },
  ];
}

/** The destination. */
interface Destination {
  readonly index: string;
  readonly type: string | undefined;
  readonly create: boolean;
  readonly versionType: string | undefined;
  readonly pipeline: string | undefined;
  /** "keep", "discard" or "=<routing>". */
  readonly routing: string;
}

async function reindex(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const body = request.requiredObject();
  checkKeys(body, ["source", "dest", "conflicts", "size", "max_docs", "script"], "reindex");
  const script =
    body["script"] === undefined ? undefined : readChangeScript(body["script"], findStored(parts));
  const options = changeOptions(parts, request, body);
  const source = objectOf(body["source"] ?? {}, "source");
  const pageSize = readSource(source);
  const dest = readDestination(objectOf(body["dest"] ?? {}, "dest"));
  const from = names(source["index"]);
  checkValid(
    from.length === 0 && "use _all if you really want to copy from all existing indexes",
    dest.index === "" && "index must be specified",
    source["remote"] !== undefined &&
      !/^(?:auto|1)$/.test(request.query["slices"] ?? "1") &&
      `reindex from remote sources doesn't support slices > 1 but was [${request.query["slices"]!}]`,
    source["remote"] !== undefined && source["slice"] !== undefined && "remote sources can't be sliced",
    source["remote"] !== undefined &&
      source["query"] !== undefined &&
      !isObject(source["query"]) &&
      "query must be an object",
  );
  parts.indices.checkName(dest.index);
  checkPipeline(parts.ingest, dest.pipeline);
  checkSlicing(request, source["slice"]);
  const open = opener(parts, source, from, dest.index, pageSize);
  if (writeIndex(parts.indices, dest.index) === undefined) {
    const fault = creationFault(parts.cluster, dest.index);
    if (fault !== undefined) throw fault;
  }
  return startChange(parts, request, {
    action: "indices:data/write/reindex",
    description: `reindex from [${from.join(", ")}] to [${dest.index}]`,
    counts: ["updated", "created", "deleted"],
    options: {
      ...options,
      begin: ({ type }) => takeType(parts, dest, type),
      make: (found) => (script === undefined ? copyOf(found, dest) : scriptedCopyOf(script, found, dest)),
    },
    shards: source["remote"] === undefined ? shardsOf(parts, localTarget(source, from)) : 1,
    open,
  });
}

/** Sets the type that the request names on the destination; else that of the source if the destination has none. */
async function takeType({ indices }: ApiContext, dest: Destination, type: string | undefined): Promise<void> {
  if (dest.type !== undefined) await adoptType(indices, dest.index, dest.type);
  else if (isOpen(indices, dest.index)) await adoptType(indices, dest.index, type);
}

/** Returns true if the index doesn't exist, or has neither a type nor a mapping. */
function isOpen(indices: Indices, name: string): boolean {
  const index = indices.get(name);
  if (index === undefined) return !indices.all().some(({ aliases }) => Object.hasOwn(aliases, name));
  return isUntyped(index);
}

/** Checks the source of a request and returns its page size. Throws request_invalid. */
function readSource(source: JsonObject): number {
  checkSearchKeys(source);
  if (source["sort"] !== undefined)
    warnDeprecated(
      "The sort option in reindex is deprecated. Instead consider using query filtering to find the desired subset of data.",
      { from: 706 },
    );
  if (source["_source"] === false) throw validationError(["_source:false is not supported in this context"]);
  const junk = Object.keys(source).find((key) => !SOURCE_KEYS.includes(key));
  if (junk !== undefined && isObject(source[junk]))
    throw new AppError("parsing", `Unknown key for a START_OBJECT in [${junk}].`);
  checkKeys(source, SOURCE_KEYS, "source");
  const given = source["size"] ?? DEFAULT_PAGE;
  const size = Number(given);
  if (Number.isNaN(size))
    throw new AppError("request_invalid", `For input string: "${valueText(given)}"`, {
      data: { type: "number_format_exception" },
    });
  if (Number.isInteger(size) && size > 0 && size <= MAX_PAGE) return size;
  throw new AppError(
    "request_invalid",
    `[source] [size] must be 1 to ${MAX_PAGE}, but is [${valueText(given)}]`,
  );
}

function opener(
  parts: ApiContext,
  source: JsonObject,
  from: readonly string[],
  to: string,
  size: number,
): Change["open"] {
  const { query, sort, _source, slice } = source;
  const body: JsonObject = {
    ...(query !== undefined && { query }),
    ...(sort !== undefined && { sort }),
    ...(_source !== undefined && { _source }),
  };
  if (source["remote"] !== undefined) {
    const remote = readRemote(source["remote"], parts.remoteHosts);
    return (signal) => openRemotePages({ ...remote, index: from, body, pageSize: size }, signal);
  }
  const target = localTarget(source, from);
  const clash = parts.indices
    .resolve(target.expression, target.options)
    .find(({ name, aliases }) => name === to || Object.hasOwn(aliases, to));
  checkValid(clash !== undefined && `reindex cannot write into an index its reading from [${clash.name}]`);
  return (signal, part) => openIndexPages(parts, target, body, size, signal, part ?? slice);
}

/** Returns the indices of this hub that documents are read from. */
function localTarget(source: JsonObject, from: readonly string[]): SearchTarget & { expression: string } {
  return { expression: from.join(","), types: names(source["type"]).join(",") || undefined, options: {} };
}

function readDestination(json: JsonObject): Destination {
  checkKeys(json, ["index", "type", "op_type", "version_type", "routing", "pipeline"], "dest");
  const { index, type, op_type: operation, version_type: versionType, routing, pipeline } = json;
  if (operation !== undefined && operation !== "create" && operation !== "index")
    throw new AppError(
      "request_invalid",
      `opType must be 'create' or 'index', found: [${valueText(operation)}]`,
    );
  const how = routing === undefined ? "keep" : valueText(routing);
  if (how !== "keep" && how !== "discard" && !how.startsWith("="))
    throw new AppError(
      "request_invalid",
      `routing must be unset, [keep], [discard] or [=<some new value>] but was [${how}];`,
    );
  return {
    index: typeof index === "string" ? index : "",
    type: typeof type === "string" ? type : undefined,
    create: operation === "create",
    pipeline: optionalText(pipeline, "pipeline"),
    versionType: versionType === undefined || versionType === "internal" ? undefined : valueText(versionType),
    routing: how,
  };
}

/**
 * Returns the write of a copy after its script, which is given the place of the document that is copied. The script may
 * choose another index and id, or delete the document with that id.
 */
function scriptedCopyOf(script: Script, found: FoundDocument, dest: Destination): WriteItem | undefined {
  const copy = scriptedCopy(script, found, ["_index", "_type", "_id", "_routing", "_version"]);
  if (copy === undefined) return undefined;
  const { _index, _id, _routing, _version } = copy.moved;
  // Without a version the copy replaces whatever is there.
  const where = _version === null ? { ...dest, versionType: undefined } : dest;
  const place = copyOf({ ...found, source: copy.source }, where);
  const id = _id === undefined ? found.id : _id === null ? undefined : String(_id as string);
  const routing =
    _routing === undefined ? place.routing : _routing === null ? undefined : String(_routing as string);
  const moved = {
    index: _index === undefined ? dest.index : String(_index as string),
    ...(routing !== undefined && { routing }),
    ...(typeof _version === "number" && { version: _version, versionType: "external" as const }),
  };
  if (copy.operation === "delete") return { ...moved, kind: "delete", id: id ?? found.id };
  const { routing: _old, id: _before, ...kept } = place as Extract<WriteItem, { kind: "index" | "create" }>;
  return { ...kept, ...moved, ...(id !== undefined && { id }) };
}

function copyOf(found: FoundDocument, dest: Destination): WriteItem {
  const routing =
    dest.routing === "keep" ? found.routing : dest.routing === "discard" ? undefined : dest.routing.slice(1);
  const conditions =
    dest.versionType === undefined
      ? {}
      : makeConditions({
          version: found.version,
          versionType: dest.versionType,
          ifSeqNo: undefined,
          ifPrimaryTerm: undefined,
        });
  return {
    kind: dest.create ? "create" : "index",
    index: dest.index,
    id: found.id,
    source: storedSource(found),
    ...pipelineOf(dest.pipeline),
    ...(routing !== undefined && { routing }),
    ...conditions,
  };
}

function names(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : String(value as string).split(","))
    .map(String)
    .filter((name) => name !== "");
}

function checkKeys(json: JsonObject, known: readonly string[], owner: string): void {
  const unknown = Object.keys(json).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new AppError("request_invalid", `[${owner}] unknown field [${unknown}], parser not found`);
}
