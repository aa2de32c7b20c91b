/** `_bulk`: many writes in one request, each with a result of its own. */

import { setImmediate } from "node:timers/promises";
import { adoptType, DEFAULT_TYPE, typeOf } from "#hub/api/compat/mapping-types.ts";
import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { passesPipelines } from "#hub/api/context/ingest-documents.ts";
import { scriptedUpdate } from "#hub/api/context/scripted-change.ts";
import { aliasFault } from "#hub/api/context/write-blocks.ts";
import { isByRights, itemError, validationError } from "#hub/api/http/error-body.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, MAX_BODY_BYTES, type Route } from "#hub/api/http/route.ts";
import { checkMayRead, SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import {
  isFailure,
  routingOf,
  WRITE_PARAMS,
  writeBody,
  writeOptions,
  writeStatus,
} from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { asksForCopies, requireActiveShards } from "#hub/api/stats/active-shards.ts";
import type { AppendRun } from "#hub/cluster/writes/append-run.ts";
import { LARGE_BODY_BYTES } from "#hub/cluster/writes/body-threads.ts";
import { inTime, WritePatience } from "#hub/cluster/writes/write-deadline.ts";
import type { WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import { RawJson, writeJson } from "#hub/search/options/json-writer.ts";
import { filterSource } from "#hub/search/source/source-filter.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Turn } from "#proto/kit/fair-turns.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import { BulkAnswer } from "./bulk-answer.ts";
import { type BulkDefaults, type BulkItem, checkEnd, parseBulk } from "./bulk-parser.ts";
import { type BulkRun, itemsOf, partEnd, partOf, readBulkRun, readLargeRun, reclaimed } from "./bulk-run.ts";

const LEFT = "the client went away before the end of its items";

/** Items written at a time, so that other requests run between the parts of a large one. */
const ITEMS_AT_A_TIME = 10_000;

export function bulkRoutes(parts: ApiContext): Route[] {
  return [
    {
      methods: ["POST", "PUT"],
      paths: ["/_bulk", "/{index}/_bulk", "/{index}/{type}/_bulk"],
      params: [...WRITE_PARAMS, ...SOURCE_PARAMS, "type", "fields", "pipeline", "require_alias"],
      action: "ingest",
      maxBodyBytes: MAX_BODY_BYTES,
      body: "ndjson",
      summary: "Writes, changes and deletes many documents.",
      handle: (request) => bulk(parts, request),
    },
  ];
}

async function bulk(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  request.requireBody();
  const turn = parts.turns.bulk(request.signal);
  try {
    return await bulkInTurn(parts, request, turn);
  } finally {
    turn.leave();
  }
}

/** The turn is released while the request waits: for copies, or for a refresh. */
async function bulkInTurn(parts: ApiContext, request: ApiRequest, turn: Turn): Promise<ApiResponse> {
  const startMs = parts.clock.monotonic();
  let ingestMs: number | undefined;
  const onIngest = (tookMs: number): void => {
    ingestMs = (ingestMs ?? 0) + tookMs;
  };
  const options = { ...writeOptions(request), onIngest, onWritten: () => turn.leave() };
  const defaults = defaultsOf(parts, request);
  const answer = new BulkAnswer();
  const patience = new WritePatience(options, parts.clock);
  checkEnd(request.body);
  await takeTurn(turn, patience);
  const { run, body } = await readBody(parts, request, defaults);
  if (run !== null) {
    try {
      await appendAll(parts, run, options, answer, turn, patience);
    } finally {
      run.run.lent?.body.free();
    }
  } else {
    const items = await readItems(request, body, defaults);
    if (asksForCopies(request)) {
      turn.leave();
      await requireActiveShards(parts, request, [...new Set(items.map(({ index }) => index))]);
    }
    await writeItems(parts, items, options, answer, turn, patience);
  }
  const bytes = answer.finish(Math.round(parts.clock.monotonic() - startMs), ingestMs);
  return { ...json(new RawJson(bytes)), release: () => answer.release(), refusal: answer.refusal };
}

/** Waits for the request's turn, for as long as the request has time. Throws overloaded, cancelled. */
function takeTurn(turn: Turn, patience: WritePatience): Promise<void> {
  return patience.whileWaiting((leftMs) => turn.take(leftMs));
}

/**
 * Returns the body's run if all its documents are new ones without options, else the body. Throws what readLargeRun
 * throws.
 */
async function readBody(
  { bodies }: ApiContext,
  request: ApiRequest,
  defaults: BulkDefaults,
): Promise<{ readonly run: BulkRun | null; readonly body: Buffer }> {
  const { body, signal } = request;
  // The indices of all items must be known here, and a run isn't cut into items.
  if (asksForCopies(request)) return { run: null, body };
  if (bodies !== undefined && body.length > LARGE_BODY_BYTES)
    return readLargeRun(bodies, body, defaults, signal);
  return { run: readBulkRun(body, defaults), body };
}

/** Parses all items before any is written. Throws what parseBulk throws, forbidden. */
async function readItems(request: ApiRequest, body: Buffer, defaults: BulkDefaults): Promise<BulkItem[]> {
  const items: BulkItem[] = [];
  const slices = new TimeSlices();
  for (const item of parseBulk(body, defaults)) {
    items.push(item);
    if (slices.isDue) await slices.pause();
  }
  for (const { source } of items) {
    if (slices.isDue) await slices.pause();
    checkMayRead(request, source);
  }
  return items;
}

async function writeItems(
  parts: ApiContext,
  items: readonly BulkItem[],
  options: WriteOptions,
  answer: BulkAnswer,
  turn: Turn,
  patience: WritePatience,
): Promise<void> {
  if (items.length === 0) throw validationError(["no requests added"]);
  for (let at = 0; at < items.length; at += ITEMS_AT_A_TIME) {
    if (at > 0) await setImmediate();
    if (options.signal.aborted) throw new AppError("cancelled", LEFT);
    // The first part has what the wait for the turn left.
    if (at > 0) patience.renew();
    const refusal = await orFailure(answer.isEmpty, options, () => takeTurn(turn, patience));
    if (refusal !== undefined) {
      for (const item of items.slice(at))
        answer.addFailures(JSON.stringify({ [item.kind]: failureBody(parts, item, refusal) }), 1);
      return;
    }
    await writePart(parts, items.slice(at, at + ITEMS_AT_A_TIME), options, answer, patience);
  }
}

/** Writes a run of new documents. */
async function appendAll(
  parts: ApiContext,
  simple: BulkRun,
  options: WriteOptions,
  answer: BulkAnswer,
  turn: Turn,
  patience: WritePatience,
): Promise<void> {
  const { item, kind } = simple;
  let { run } = simple;
  const failure = (error: AppError): string => JSON.stringify({ [kind]: failureBody(parts, item, error) });
  const isRefused = (await refusedPairs(parts, [item], options)).size > 0;
  let isCopied = true;
  for (let at = 0, end = 0; at < run.ends.length; at = end) {
    if (at > 0) await setImmediate();
    if (options.signal.aborted) throw new AppError("cancelled", LEFT);
    end = partEnd(run, at);
    const part = partOf(run, at, end);
    if (at > 0) patience.renew();
    const result = await orFailure(at === 0, options, async () => {
      await takeTurn(turn, patience);
      const append = (its: WriteOptions) => parts.documents.append(part, its);
      const done = isRefused ? null : await patience.during(append);
      return done ?? broughtBack(run, options.signal);
    });
    if (result !== null && "bytes" in result) {
      [run, end] = [result, at];
      continue;
    }
    if (result === null) {
      isCopied = false;
      await writeItems(parts, itemsOf(simple, part), options, answer, turn, patience);
      continue;
    }
    if (result instanceof AppError) {
      answer.addFailures(failure(result), run.ends.length - at);
      break;
    }
    answer.addRun({ kind, result, indices: parts.indices, refresh: options.refresh, failure });
  }
  // The body isn't needed any more: the log has a copy.
  if (isCopied) freeBytes(run.bytes);
}

/** Returns the run after its bytes came back to this thread; null if they already are on it. */
async function broughtBack(run: AppendRun, signal: AbortSignal): Promise<AppendRun | null> {
  return run.lent === undefined ? null : reclaimed(run, run.lent.body, signal);
}

/**
 * Runs `work` for a part of a request. The error of a later part is returned: the parts before it are already written, so it
 * becomes the error of the remaining items. The error of the first part is thrown, and any error after the client
 * disconnected.
 */
async function orFailure<T>(
  isFirst: boolean,
  { signal }: WriteOptions,
  work: () => Promise<T>,
): Promise<T | AppError> {
  try {
    return await work();
  } catch (error) {
    if (isFirst || signal.aborted) throw error;
    return toAppError(error);
  }
}

function defaultsOf(parts: ApiContext, request: ApiRequest): BulkDefaults {
  return {
    index: request.path["index"],
    type: request.path["type"] ?? request.query["type"],
    routing: routingOf(request).routing,
    pipeline: request.query["pipeline"],
    requiresAlias: request.flag("require_alias") ?? false,
    source: sourceParams(request),
    findScript: findStored(parts),
  };
}

/** Writes a part of the items; those that the request has no time left for fail without a try. */
async function writePart(
  parts: ApiContext,
  items: readonly BulkItem[],
  options: WriteOptions,
  answer: BulkAnswer,
  patience: WritePatience,
): Promise<void> {
  const refused = await refusedPairs(parts, items, options);
  const results: WriteResult[] = new Array<WriteResult>(items.length);
  const slices = new TimeSlices();
  let places: number[] = [];
  let isFirst = answer.isEmpty;
  const writePlaces = async (): Promise<void> => {
    if (places.length === 0) return;
    const write = () => writeAll(parts, items, places, options, patience);
    const written = await orFailure(isFirst, options, write);
    for (const [at, place] of places.entries())
      results[place] = written instanceof AppError ? failed(items[place]!, written) : written[at]!;
    isFirst = false;
    places = [];
  };
  for (const [place, item] of items.entries()) {
    const { write } = item;
    const error = write instanceof AppError ? write : refused.get(pairKey(item));
    if (error !== undefined) results[place] = failed(item, error);
    else if ("script" in write) {
      // A script must see the writes of the items before it.
      await writePlaces();
      // Each may take half a second: the others aren't run if the client has disconnected.
      if (slices.isDue) await slices.pause();
      if (options.signal.aborted) throw new AppError("cancelled", LEFT);
      const update = () => patience.during((its) => scriptedUpdate(parts, write, its));
      const done = await orFailure(false, options, update);
      results[place] = done instanceof AppError ? failed(item, done) : done;
      isFirst = false;
    } else places.push(place);
  }
  await writePlaces();
  await addResults(parts, items, results, options, answer);
}

async function addResults(
  parts: ApiContext,
  items: readonly BulkItem[],
  results: readonly WriteResult[],
  options: WriteOptions,
  answer: BulkAnswer,
): Promise<void> {
  const slices = new TimeSlices();
  for (const [place, item] of items.entries()) {
    if (slices.isDue) await slices.pause();
    const result = results[place]!;
    const showsSource = item.source !== undefined && item.source !== false && !isFailure(result);
    if (isFailure(result)) {
      answer.errors = true;
      if (isByRights(result.error)) answer.refusal ??= result.error;
    }
    const body = isFailure(result)
      ? failureBody(parts, item, result.error)
      : { ...writeBody(result, parts.indices, options.refresh), status: writeStatus(result) };
    // JSON.stringify is much faster than writeJson but doesn't preserve the documents' bytes.
    answer.add(
      showsSource
        ? writeJson({ [item.kind]: { ...body, ...(await newSource(parts, item, result.id ?? "")) } })
        : `{"${item.kind}":${JSON.stringify(body)}}`,
    );
  }
}

/** Writes the items; an update with a version conflict is repeated up to its `retry_on_conflict`. */
async function writeAll(
  { documents }: ApiContext,
  items: readonly BulkItem[],
  places: readonly number[],
  options: WriteOptions,
  patience: WritePatience,
): Promise<WriteResult[]> {
  const writes = places.map((place) => typedWrite(items[place]!));
  const results = await patience.during((its) => documents.write(writes, its));
  for (const [at, place] of places.entries()) {
    const { kind, retries } = items[place]!;
    for (let left = kind === "update" ? retries : 0; left > 0; left--) {
      const result = results[at]!;
      if (!isFailure(result) || result.error.code !== "version_conflict") break;
      const repeat = () => patience.during((its) => documents.write([writes[at]!], its));
      const again = await orFailure(false, options, repeat);
      results[at] = again instanceof AppError ? failed(items[place]!, again) : (again[0] ?? result);
    }
  }
  return results;
}

/** Returns an item's write with the type that its document has. */
function typedWrite({ type, write }: BulkItem): WriteItem {
  const item = write as WriteItem;
  const isTyped = type !== undefined && type !== DEFAULT_TYPE;
  return isTyped && (item.kind === "index" || item.kind === "create") ? { ...item, type } : item;
}

/** Returns true if pipelines may send an item's document to another index, whose type it gets then. */
function isIngested({ indices }: ApiContext, { index, kind, write }: BulkItem): boolean {
  if (kind !== "index" && kind !== "create") return false;
  return passesPipelines(indices, index, "pipeline" in write ? write.pipeline : undefined);
}

/** Sets the types of all indices that no pipeline chooses. Returns the errors of (index, type) pairs that are refused or miss a required alias. */
async function refusedPairs(
  parts: ApiContext,
  items: readonly BulkItem[],
  options: WriteOptions,
): Promise<Map<string, AppError>> {
  const { indices } = parts;
  const refused = new Map<string, AppError>();
  const seen = new Set<string>();
  for (const item of items) {
    const { index, type, kind, requiresAlias } = item;
    const isPlain = type === undefined || type === DEFAULT_TYPE || kind === "delete";
    if (isPlain && !requiresAlias) continue;
    const key = pairKey(item);
    const pipeline = "pipeline" in item.write ? (item.write.pipeline ?? "") : "";
    if (seen.has(`${key} ${pipeline}`)) continue;
    seen.add(`${key} ${pipeline}`);
    try {
      const fault = requiresAlias ? aliasFault(indices, index) : undefined;
      if (fault !== undefined) refused.set(key, fault);
      else if (!isPlain && !isIngested(parts, item))
        await inTime(options, () => adoptType(indices, index, type));
    } catch (error) {
      refused.set(key, toAppError(error));
    }
  }
  return refused;
}

function pairKey({ index, type, requiresAlias }: BulkItem): string {
  return `${index}/${type ?? ""}${requiresAlias ? "/alias" : ""}`;
}

async function newSource({ documents }: ApiContext, item: BulkItem, id: string): Promise<JsonObject> {
  if (item.source === undefined || item.source === false) return {};
  const routing = item.write instanceof AppError ? undefined : item.write.routing;
  const document = await documents.get(item.index, id, routing === undefined ? {} : { routing });
  if (document === null) return {};
  return { get: { found: true, _source: filterSource(document.source, item.source) } };
}

function failed({ index, id }: BulkItem, error: AppError): WriteResult {
  return { index, id, error };
}

function failureBody({ indices }: ApiContext, item: BulkItem, error: AppError): JsonObject {
  const index = indices.get(item.index);
  return {
    _index: item.index,
    _type: item.type ?? (index === undefined ? "_doc" : typeOf(index)),
    _id: item.id ?? null,
    status: error.status,
    error: itemError(error),
  };
}
