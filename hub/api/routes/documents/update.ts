/** `_update`: changes fields of a stored document. */

import { adoptType, documentType } from "#hub/api/compat/mapping-types.ts";
import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { aliasFault } from "#hub/api/context/index-blocks.ts";
import { passesPipelines } from "#hub/api/context/ingest-documents.ts";
import { readChangeScript, type ScriptedUpdate, scriptedUpdate } from "#hub/api/context/scripted-change.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, MAX_BODY_BYTES, type Route } from "#hub/api/http/route.ts";
import { checkMayRead, SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import {
  CONDITION_PARAMS,
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
import type { StoredDocument } from "#hub/cluster/writes/writes.ts";
import type { FindStored, Script } from "#hub/scripts/script.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { filterSource, parseSourceFilter, type SourceFilter } from "#hub/search/source/source-filter.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { nearestName } from "#proto/kit/nearest.ts";
import { applySettings, jsonMembers, splitSettings } from "./document-body.ts";

/** Keys of the body; a body without any of them is the partial document itself. */
const KEYS: readonly string[] = [
  "doc",
  "upsert",
  "doc_as_upsert",
  "detect_noop",
  "script",
  "scripted_upsert",
  "params",
  "lang",
  "_source",
  "fields",
  "if_seq_no",
  "if_primary_term",
];
/** Maximum number of retries of one update after conflicts with others of the same document. */
const MAX_RETRIES = 100;

/** A parsed body of an update. */
export interface UpdateBody {
  /** Undefined if a script computes the document. */
  readonly doc: Uint8Array | undefined;
  readonly script: Script | undefined;
  /** True: the script runs on `upsert` too. */
  readonly isUpsertScripted: boolean;
  readonly upsert: Uint8Array | undefined;
  readonly docAsUpsert: boolean;
  readonly detectNoop: boolean;
  readonly source: SourceFilter | false | undefined;
}

export function updateRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST"],
      paths: ["/{index}/{type}/{id}/_update", "/{index}/_update/{id}"],
      params: [
        ...WRITE_PARAMS,
        ...CONDITION_PARAMS,
        ...SOURCE_PARAMS,
        "doc_as_upsert",
        "retry_on_conflict",
        "lang",
        "fields",
        "require_alias",
      ],
      action: "ingest",
      maxBodyBytes: MAX_BODY_BYTES,
      summary: "Changes fields of a document.",
      handle: (request) => update(parts, request),
    },
  ];
}

/**
 * Reads an update's body. Throws request_invalid, not_offered, mapping_parse. `upserts`: default for `doc_as_upsert`.
 * `mayBeBare`: fields without `doc` are a partial document.
 */
export function readUpdateBody(
  bytes: Uint8Array,
  find: FindStored | undefined,
  { upserts, mayBeBare }: { readonly upserts: boolean; readonly mayBeBare: boolean },
): UpdateBody {
  const members = jsonMembers(bytes);
  const isBare = mayBeBare && !KEYS.some((key) => members.has(key));
  // Those before 7.0 pass over members that they don't know.
  if (!isBare && answersAs(700)) checkKnown(members.keys());
  const doc = isBare ? bytes : members.get("doc");
  const docAsUpsert = flagOf(members, "doc_as_upsert", upserts);
  const script = members.get("script");
  checkValid(
    doc !== undefined && script !== undefined && "can't provide both script and doc",
    script !== undefined && docAsUpsert && "doc must be specified if doc_as_upsert is enabled",
    doc === undefined &&
      script === undefined &&
      docAsUpsert &&
      "doc must be specified if doc_as_upsert is enabled",
    doc === undefined && script === undefined && "script or doc is missing",
    isBare && members.size === 0 && "script or doc is missing",
  );
  const source = members.get("_source") ?? sourceInFields(members.get("fields"));
  return {
    doc,
    script: script === undefined ? undefined : readScript(script, find),
    isUpsertScripted: flagOf(members, "scripted_upsert", false),
    upsert: members.get("upsert"),
    docAsUpsert,
    detectNoop: flagOf(members, "detect_noop", true),
    source: source === undefined ? undefined : parseSourceFilter(parseJson(Buffer.from(source).toString())),
  };
}

/** Before 7.0 a script that can't be had or compiled is a fault of the update. */
function readScript(script: Uint8Array, find: FindStored | undefined): Script {
  try {
    return readChangeScript(parseJson(Buffer.from(script).toString()), find);
  } catch (error) {
    const { code } = toAppError(error);
    if (answersAs(700) || (code !== "script_failed" && code !== "not_found")) throw error;
    throw new AppError("request_invalid", "failed to execute script", { cause: error });
  }
}

/** Returns `true` as JSON if the older parameter asks for the source. */
function sourceInFields(fields: Uint8Array | undefined): Uint8Array | undefined {
  return fields !== undefined && /\b_source\b/.test(Buffer.from(fields).toString())
    ? Buffer.from("true")
    : undefined;
}

async function update(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  request.requireBody();
  checkVersioning(request);
  const name = request.segment("index");
  const id = request.segment("id");
  const type = request.path["type"];
  const fault = request.flag("require_alias") === true ? aliasFault(parts.indices, name) : undefined;
  if (fault !== undefined) throw fault;
  const { source: bytes, settings } = splitSettings(request.body);
  const upserts = request.flag("doc_as_upsert") ?? false;
  const body =
    settings !== undefined && bytes.length <= 2
      ? undefined
      : readUpdateBody(bytes, findStored(parts), { upserts, mayBeBare: true });
  const wanted =
    sourceParams(request) ??
    body?.source ??
    (request.list("fields")?.includes("_source") ? parseSourceFilter(true) : undefined);
  checkMayRead(request, wanted);
  await applySettings(parts.indices, name, settings);
  await adoptType(parts.indices, name, type);
  const item = itemOf(request, name, id, body);
  await requireActiveShards(parts, request, [name]);
  const options = writeOptions(request);
  const retries = Math.min(request.integer("retry_on_conflict") ?? 0, MAX_RETRIES);
  const place = { ...conditionsOf(request), ...routingOf(request), index: name, id, retries };
  for (let tries = 0; ; tries++) {
    const scripted =
      body === undefined ? undefined : (scriptedUpdateOf(place, body) ?? mergedUpdateOf(parts, place, body));
    const [result] =
      scripted === undefined
        ? await parts.documents.write([item], options)
        : [await scriptedUpdate(parts, scripted, options)];
    if (result === undefined) throw new AppError("internal", "a write gave no result");
    if (!isFailure(result)) {
      const shownType = documentType(parts.indices.get(result.index), type);
      const answer = writeBody(result, parts.indices, options.refresh, shownType);
      return json({ ...answer, ...(await newSource(parts, request, wanted)) }, writeStatus(result));
    }
    if (result.error.code !== "version_conflict" || tries >= retries || scripted !== undefined) {
      const error = inType(result.error, typeName(parts.indices, result.index));
      throw scripted === undefined ? error : asOfShard(error, parts);
    }
  }
}

/** Before 7, the root cause of such an error is the transport to the shard. */
function asOfShard(error: AppError, { cluster }: ApiContext): AppError {
  if (answersAs(700) || error.code !== "request_invalid") return error;
  const { name, transportAddress } = cluster.nodes()[0]!;
  const reason = `[${name}][${transportAddress}][indices:data/write/update[s]]`;
  const data = { ...error.data, root_cause: { type: "remote_transport_exception", reason } };
  return new AppError(error.code, error.message, { data, cause: error.cause });
}

/** Returns the update that a body's script makes; undefined if it has none. */
export function scriptedUpdateOf(
  place: Pick<
    ScriptedUpdate,
    "index" | "id" | "routing" | "pipeline" | "isBulkItem" | "retries" | "ifSeqNo" | "ifPrimaryTerm"
  >,
  { script, upsert, isUpsertScripted }: UpdateBody,
): ScriptedUpdate | undefined {
  if (script === undefined) return undefined;
  return { ...place, script, upsert, isUpsertScripted };
}

/** Returns the update by a partial document if the index has pipelines, which get the merged document; else undefined. */
function mergedUpdateOf(
  { indices }: ApiContext,
  place: Pick<ScriptedUpdate, "index" | "id" | "routing" | "retries" | "ifSeqNo" | "ifPrimaryTerm">,
  { doc, upsert, docAsUpsert, detectNoop }: UpdateBody,
): ScriptedUpdate | undefined {
  if (doc === undefined || !passesPipelines(indices, place.index, undefined)) return undefined;
  const script = { doc, detectNoop };
  return { ...place, script, upsert: docAsUpsert ? doc : upsert, isUpsertScripted: false };
}

/** Throws parsing for members that an update with [doc] doesn't have. */
function checkKnown(names: Iterable<string>): void {
  for (const name of names) {
    if (KEYS.includes(name)) continue;
    const near = nearestName(name, KEYS);
    throw new AppError(
      "parsing",
      `[UpdateRequest] unknown field [${name}]${near === undefined ? "" : ` did you mean [${near}]?`}`,
      { data: { type: "x_content_parse_exception" } },
    );
  }
}

function itemOf(request: ApiRequest, index: string, id: string, body: UpdateBody | undefined): WriteItem {
  return {
    ...conditionsOf(request),
    ...routingOf(request),
    kind: "update",
    index,
    id,
    source: body?.doc ?? Buffer.from("{}"),
    ...(body?.upsert !== undefined && { upsert: body.upsert }),
    docAsUpsert: body?.docAsUpsert ?? false,
    detectNoop: body?.detectNoop ?? true,
  };
}

function checkVersioning(request: ApiRequest): void {
  const { version, version_type: type, retry_on_conflict: retries } = request.query;
  checkValid(
    version !== undefined &&
      type !== undefined &&
      type !== "internal" &&
      `version type [${type}] is not supported by the update API`,
    version !== undefined &&
      retries !== undefined &&
      Number(retries) > 0 &&
      "can't provide both retry_on_conflict and a specific version",
  );
}

async function newSource(
  parts: ApiContext,
  request: ApiRequest,
  filter: SourceFilter | false | undefined,
): Promise<JsonObject> {
  if (filter === undefined || filter === false) return {};
  const document: StoredDocument | null = await parts.documents.get(
    request.segment("index"),
    request.segment("id"),
    routingOf(request),
  );
  if (document === null) return {};
  return { get: { found: true, _source: filterSource(document.source, filter) } };
}

function flagOf(members: ReadonlyMap<string, Uint8Array>, key: string, fallback: boolean): boolean {
  const bytes = members.get(key);
  if (bytes === undefined) return fallback;
  const text = Buffer.from(bytes).toString().trim().replaceAll('"', "");
  if (text === "true" || text === "false") return text === "true";
  throw new AppError("parsing", `[${key}] must be true or false, but is ${text.slice(0, 80)}`);
}
