/** Changes documents by a script, for `_update`, `_bulk`, `_update_by_query` and `_reindex`. */

import { isFailure } from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { WriteDeadline } from "#hub/cluster/writes/write-deadline.ts";
import type { StoredDocument, WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import { mergeSource } from "#hub/engine/documents/merge-source.ts";
import { type FindStored, readScript, type Script } from "#hub/scripts/script.ts";
import { parseDocument, toJson } from "#hub/scripts/values/json.ts";
import { checkNesting } from "#hub/search/options/json.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import type { ApiContext } from "./api-context.ts";
import { notCreated, passesPipelines, pipelineOf } from "./ingest-documents.ts";

/** A partial document, merged into the stored one. */
export interface PartialChange {
  readonly doc: Uint8Array;
  /** True: nothing is written if the document doesn't change. */
  readonly detectNoop: boolean;
}

/** An update whose new document is made here, and passes the pipelines of its index as a whole. */
export interface ScriptedUpdate {
  readonly index: string;
  readonly id: string;
  readonly routing?: string;
  readonly script: Script | PartialChange;
  /** Document to index if the id doesn't exist, as it came. */
  readonly upsert: Uint8Array | undefined;
  /** True: the script runs on `upsert` too. */
  readonly isUpsertScripted: boolean;
  /** Ingest pipeline that `upsert` passes: in a bulk before its script, else after it. */
  readonly pipeline?: string;
  /** True: an item of a bulk, whose new version of a stored document passes no pipeline, as in the reference. */
  readonly isBulkItem?: boolean;
  /** Number of retries after conflicts with other writers. */
  readonly retries: number;
  readonly ifSeqNo?: number;
  readonly ifPrimaryTerm?: number;
}

/** Names that a script sees in an update, as in 6.5. */
const NAMES = ["params", "ctx"];

/** Reads a script that changes documents. Throws script_failed, request_invalid, parsing, not_found. */
export function readChangeScript(given: unknown, find?: FindStored): Script {
  return readScript(given, NAMES, { find });
}

/** Runs a script on `ctx`, whose fields are JSON afterwards. Throws request_invalid. */
export function runChange(script: Script, ctx: JsonObject): JsonObject {
  try {
    script.compiled.run([script.params, ctx]);
  } catch (error) {
    throw new AppError("request_invalid", "failed to execute script", { cause: error });
  }
  return toJson(ctx, "exact") as JsonObject;
}

/**
 * Updates a document by a script, or by a part that is merged; retries if another writer was faster. Also resolves if the
 * item fails, with the failure.
 */
export async function scriptedUpdate(
  parts: ApiContext,
  update: ScriptedUpdate,
  options: WriteOptions,
): Promise<WriteResult> {
  const { index, id } = update;
  const deadline = new WriteDeadline(options);
  try {
    for (let tries = 0; ; tries++) {
      const result = await tryUpdate(parts, update, options, deadline);
      const isConflict = isFailure(result) && result.error.code === "version_conflict";
      if (!isConflict || tries >= update.retries || update.ifSeqNo !== undefined) return result;
    }
  } catch (error) {
    return { index, id, error: toAppError(error) };
  } finally {
    deadline.end();
  }
}

async function tryUpdate(
  parts: ApiContext,
  update: ScriptedUpdate,
  given: WriteOptions,
  deadline: WriteDeadline,
): Promise<WriteResult> {
  const { index, id } = update;
  // An alias of several indices is read where it is written to.
  const target = await deadline.within(parts.indices.ensure(index));
  const read = parts.documents.get(target.name, id, routingOf(update.routing));
  const stored = await deadline.within(read);
  const options = { ...given, timeoutMs: deadline.leftMs };
  const place = { index, id, ...routingOf(update.routing ?? stored?.routing) };
  if (stored === null) return upsert(parts, update, place, options);
  const condition =
    update.ifSeqNo === undefined
      ? { ifSeqNo: stored.seqNo, ifPrimaryTerm: stored.primaryTerm }
      : { ifSeqNo: update.ifSeqNo, ifPrimaryTerm: update.ifPrimaryTerm ?? stored.primaryTerm };
  const item = changeOf(parts, update.script, stored, { ...place, ...condition });
  if (item === undefined) return unchanged(stored);
  const skips = update.isBulkItem === true && item.kind === "index";
  return writeOne(parts, skips ? { ...item, skipsPipelines: true } : item, options);
}

function routingOf(routing: string | undefined): { routing?: string } {
  return routing === undefined || routing === "" ? {} : { routing };
}

/** Returns the write that an update makes of a document; undefined: none. */
function changeOf(
  parts: ApiContext,
  script: Script | PartialChange,
  stored: StoredDocument,
  place: Parameters<typeof writeOf>[1],
): WriteItem | undefined {
  if (!("doc" in script)) return writeOf(runChange(script, contextOf(parts, stored)), place);
  const merged = mergeSource(stored.source, script.doc);
  if (merged === null && script.detectNoop) return undefined;
  return { ...place, kind: "index", source: merged ?? stored.source };
}

async function upsert(
  parts: ApiContext,
  { upsert: given, isUpsertScripted, isBulkItem, pipeline, script, id }: ScriptedUpdate,
  place: { readonly index: string; readonly id: string },
  options: WriteOptions,
): Promise<WriteResult> {
  if (given === undefined) throw new AppError("document_missing", `[_doc][${id}]: document missing`);
  const item = { ...place, ...pipelineOf(pipeline), kind: "create" } as const;
  if (!isUpsertScripted || "doc" in script) return writeOne(parts, { ...item, source: given }, options);
  const remake = (source: Uint8Array): Uint8Array | undefined => {
    const ctx = runChange(script, { op: "create", _now: parts.clock.now(), _source: parsed(source) });
    return ctx["op"] === "create" ? jsonBytes(ctx["_source"]) : undefined;
  };
  if (isBulkItem === true && passesPipelines(parts.indices, place.index, pipeline))
    return writeOne(parts, { ...item, source: given, remake }, options);
  const source = remake(given);
  return source === undefined ? notCreated(place.index, id) : writeOne(parts, { ...item, source }, options);
}

function contextOf({ clock }: ApiContext, stored: StoredDocument): JsonObject {
  return {
    op: "index",
    _index: stored.index,
    _type: "_doc",
    _id: stored.id,
    _version: stored.version,
    ...(stored.routing !== undefined && { _routing: stored.routing }),
    _now: clock.now(),
    _source: parsed(stored.source),
  };
}

/** Returns the write that a script's `ctx` requests; undefined: none. */
function writeOf(
  ctx: JsonObject,
  place: {
    readonly index: string;
    readonly id: string;
    readonly ifSeqNo: number;
    readonly ifPrimaryTerm: number;
  },
): WriteItem | undefined {
  if (ctx["op"] === "delete") return { ...place, kind: "delete" };
  if (ctx["op"] !== "index" && ctx["op"] !== "create") return undefined;
  return { ...place, kind: "index", source: jsonBytes(ctx["_source"]) };
}

function unchanged({ index, id, version, seqNo, primaryTerm }: StoredDocument): WriteResult {
  return { index, id, result: "noop", version, seqNo, primaryTerm, copies: 0, copiesDone: 0 };
}

async function writeOne(
  { documents }: ApiContext,
  item: WriteItem,
  options: WriteOptions,
): Promise<WriteResult> {
  const [result] = await documents.write([item], options);
  if (result === undefined) throw new AppError("internal", "a write gave no result");
  return result;
}

/** Returns a document's bytes as an object that a script may change. */
export function parsed(source: Uint8Array): JsonObject {
  const text = Buffer.from(source).toString();
  checkNesting(text);
  return parseDocument(text) as JsonObject;
}

/** Returns a script's result as the bytes of a document. Throws request_invalid if it isn't an object. */
export function jsonBytes(source: unknown): Uint8Array {
  if (!isObject(source)) throw new AppError("request_invalid", "[_source] must be an object");
  return Buffer.from(writeJson(source));
}
