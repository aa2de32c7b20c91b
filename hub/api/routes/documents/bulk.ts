/** `_bulk`: many writes in one request, each with a result of its own. */

import { setImmediate } from "node:timers/promises";
import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { validationError } from "#hub/api/http/error-body.ts";
import { type ApiRequest, checkValid } from "#hub/api/http/request.ts";
import { type ApiResponse, json, MAX_BODY_BYTES, type Route } from "#hub/api/http/route.ts";
import { checkMayRead, SOURCE_PARAMS, sourceParams } from "#hub/api/parameters/shared-parameters.ts";
import { routingOf, WRITE_PARAMS, writeOptions } from "#hub/api/parameters/write-options.ts";
import { asksForCopies, requireActiveShards } from "#hub/api/stats/active-shards.ts";
import type { AppendRun } from "#hub/cluster/writes/append-run.ts";
import { WritePatience } from "#hub/cluster/writes/write-deadline.ts";
import type { WriteOptions } from "#hub/cluster/writes/writes.ts";
import { RawJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Turn } from "#proto/kit/fair-turns.ts";
import { recycleBytes } from "#proto/kit/large-bytes.ts";
import { collectInSlices, TimeSlices } from "#proto/kit/time-slices.ts";
import { BulkAnswer } from "./bulk-answer.ts";
import { failureBody, LEFT, orFailure, refusedPairs, writePart } from "./bulk-items.ts";
import { type BulkDefaults, type BulkItem, checkEnd, parseBulk } from "./bulk-parser.ts";
import {
  type BulkRun,
  itemAt,
  itemsFrom,
  itemsOf,
  partEnd,
  partOf,
  readBulkRun,
  readLargeRun,
  reclaimed,
} from "./bulk-run.ts";
import { mayAppend } from "./bulk-target.ts";

/** Items written at a time, so that other requests run between the parts of a large one. */
const ITEMS_AT_A_TIME = 10_000;
/** Problems of items that the error for a request lists. */
const MAX_PROBLEMS = 100;

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

/** Returns the body's run if it is one, else the body. Throws what readLargeRun throws. */
async function readBody(
  parts: ApiContext,
  request: ApiRequest,
  defaults: BulkDefaults,
): Promise<{ readonly run: BulkRun | null; readonly body: Buffer }> {
  const { bodies } = parts;
  const { body, signal } = request;
  // The indices of all items must be known here, and a run isn't cut into items.
  if (asksForCopies(request)) return { run: null, body };
  if (bodies !== undefined && body.length > bodies.smallBytes)
    return readLargeRun(bodies, body, defaults, signal, (item) => mayAppend(parts, item));
  return { run: readBulkRun(body, defaults), body };
}

/** Parses all items before any is written. Throws what parseBulk throws, forbidden. */
async function readItems(request: ApiRequest, body: Buffer, defaults: BulkDefaults): Promise<BulkItem[]> {
  const items = await collectInSlices(parseBulk(body, defaults));
  const slices = new TimeSlices();
  const problems: string[] = [];
  for (const { source, write } of items) {
    if (slices.isDue) await slices.pause();
    checkMayRead(request, source);
    if (write instanceof AppError && problems.length < MAX_PROBLEMS) problems.push(...problemsOf(write));
  }
  checkValid(...problems);
  return items;
}

/** Returns why an item can't be part of any request; empty if it fails alone. */
function problemsOf({ data: { problems } }: AppError): readonly string[] {
  return Array.isArray(problems) ? (problems as readonly string[]) : [];
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
      await addFailures(parts, items.slice(at), refusal, options, answer);
      return;
    }
    await writePart(parts, items.slice(at, at + ITEMS_AT_A_TIME), options, answer, patience);
  }
}

/** Adds the same failure of items that weren't tried. Throws cancelled. */
async function addFailures(
  parts: ApiContext,
  items: Iterable<BulkItem>,
  error: AppError,
  { signal }: WriteOptions,
  answer: BulkAnswer,
): Promise<void> {
  const slices = new TimeSlices();
  let last: BulkItem | undefined;
  let json = "";
  for (const item of items) {
    if (slices.isDue) await slices.pause();
    if (signal.aborted) throw new AppError("cancelled", LEFT);
    // The documents of a run without ids have one item.
    if (item !== last) json = failureJson(parts, item, error);
    last = item;
    answer.addFailure(json);
  }
}

function failureJson(parts: ApiContext, item: BulkItem, error: AppError): string {
  return JSON.stringify({ [item.kind]: failureBody(parts, item, error) });
}

/** Writes a run of documents. */
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
      await writeItems(parts, await collectInSlices(itemsOf(simple, part)), options, answer, turn, patience);
      continue;
    }
    if (result instanceof AppError) {
      await addFailures(parts, itemsFrom(simple, run, at), result, options, answer);
      break;
    }
    const failure = (error: AppError, position: number): string =>
      failureJson(parts, itemAt(simple, part, position), error);
    await answer.addRun({ kind, result, indices: parts.indices, refresh: options.refresh, failure });
  }
  // The body isn't needed any more: the log has a copy.
  // Its memory may be larger than the body, and holds nothing else unless the body is small.
  if (isCopied) recycleBytes(new Uint8Array(run.bytes.buffer));
}

/** Returns the run after its bytes came back to this thread; null if they already are on it. */
async function broughtBack(run: AppendRun, signal: AbortSignal): Promise<AppendRun | null> {
  return run.lent === undefined ? null : reclaimed(run, run.lent.body, signal);
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
