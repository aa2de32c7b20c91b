/** Writes the items of a `_bulk` one part after another, and reports the result of each. */

import { adoptType, DEFAULT_TYPE, typeOf } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { aliasFault } from "#hub/api/context/index-blocks.ts";
import { passesPipelines } from "#hub/api/context/ingest-documents.ts";
import { scriptedUpdate } from "#hub/api/context/scripted-change.ts";
import { errorIn, isByRights, itemError } from "#hub/api/http/error-body.ts";
import { inType, isFailure, writeBody, writeStatus } from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import { inTime, type WritePatience } from "#hub/cluster/writes/write-deadline.ts";
import type { WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import { writeJson } from "#hub/search/options/json-writer.ts";
import { requestVersion } from "#hub/search/options/request-version.ts";
import { filterSource } from "#hub/search/source/source-filter.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import type { BulkAnswer } from "./bulk-answer.ts";
import type { BulkItem } from "./bulk-parser.ts";

export const LEFT = "the client disconnected before the end of its items";

/**
 * Runs `work` for a part of a request. The error of a later part is returned: the parts before it are already written, so it
 * becomes the error of the remaining items. The error of the first part is thrown, and any error after the client
 * disconnected.
 */
export async function orFailure<T>(
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

/** Writes a part of the items; those that the request has no time left for fail without a try. */
export async function writePart(
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
    for (const [at, position] of places.entries())
      results[position] = written instanceof AppError ? failed(items[position]!, written) : written[at]!;
    isFirst = false;
    places = [];
  };
  for (const [position, item] of items.entries()) {
    const { write } = item;
    const error = write instanceof AppError ? write : refused.get(pairKey(item));
    if (error !== undefined) results[position] = failed(item, error);
    else if ("script" in write) {
      // A script must see the writes of the items before it.
      await writePlaces();
      // Each may take half a second: the others aren't run if the client has disconnected.
      if (slices.isDue) await slices.pause();
      if (options.signal.aborted) throw new AppError("cancelled", LEFT);
      const update = () => patience.during((its) => scriptedUpdate(parts, write, its));
      const done = await orFailure(false, options, update);
      results[position] = done instanceof AppError ? failed(item, done) : done;
      isFirst = false;
    } else places.push(position);
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
  for (const [position, item] of items.entries()) {
    if (slices.isDue) await slices.pause();
    const result = results[position]!;
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
  const writes = places.map((position) => wholeWrite(items[position]!));
  const results = await patience.during((its) => documents.write(writes, its));
  for (const [at, position] of places.entries()) {
    const { kind, retries } = items[position]!;
    for (let left = kind === "update" ? retries : 0; left > 0; left--) {
      const result = results[at]!;
      if (!isFailure(result) || result.error.code !== "version_conflict") break;
      const repeat = () => patience.during((its) => documents.write([writes[at]!], its));
      const again = await orFailure(false, options, repeat);
      results[at] = again instanceof AppError ? failed(items[position]!, again) : (again[0] ?? result);
    }
  }
  return results;
}

/** Returns an item's write with what applies to it after pipelines: the type that its document has, and where it may go. */
function wholeWrite({ type, write, requiresAlias }: BulkItem): WriteItem {
  const item = write as WriteItem;
  const isTyped = type !== undefined && type !== DEFAULT_TYPE;
  if ((!isTyped && !requiresAlias) || (item.kind !== "index" && item.kind !== "create")) return item;
  return { ...item, ...(isTyped && { type }), ...(requiresAlias && { requiresAlias }) };
}

/** Returns true if pipelines may send an item's document to another index, whose type it gets then. */
function isIngested({ indices }: ApiContext, { index, kind, write }: BulkItem): boolean {
  if (kind !== "index" && kind !== "create") return false;
  return passesPipelines(indices, index, "pipeline" in write ? write.pipeline : undefined);
}

/** Sets the types of all indices that no pipeline chooses. Returns the errors of (index, kind, type, pipeline) that are refused or miss a required alias. */
export async function refusedPairs(
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
    if (seen.has(key)) continue;
    seen.add(key);
    // A pipeline may choose another index.
    if (isIngested(parts, item)) continue;
    try {
      const fault = requiresAlias ? aliasFault(indices, index) : undefined;
      if (fault !== undefined) refused.set(key, fault);
      else if (!isPlain) await inTime(options, () => adoptType(indices, index, type));
    } catch (error) {
      refused.set(key, toAppError(error));
    }
  }
  return refused;
}

/** Updates and deletions pass no pipelines that would choose another index. */
function pairKey({ index, kind, type, requiresAlias, write }: BulkItem): string {
  const pipeline = "pipeline" in write ? `?${write.pipeline}` : "";
  return `${index}/${kind}/${type ?? ""}${requiresAlias ? "/alias" : ""}${pipeline}`;
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

export function failureBody({ indices }: ApiContext, item: BulkItem, given: AppError): JsonObject {
  const index = indices.get(item.index);
  const type = index === undefined ? DEFAULT_TYPE : typeOf(index);
  const error = errorIn(inType(given, type), requestVersion());
  return {
    _index: item.index,
    _type: item.type ?? type,
    _id: item.id ?? null,
    status: error.status,
    error: itemError(error),
  };
}
