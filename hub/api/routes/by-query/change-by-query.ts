/** Reads the documents of a query page by page and writes the change of each. */

import { setTimeout as delay } from "node:timers/promises";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import { itemError } from "#hub/api/http/error-body.ts";
import { inType, isFailure, typeName } from "#hub/api/parameters/write-options.ts";
import type { WriteItem } from "#hub/api/ports/documents.ts";
import type { WriteResult } from "#hub/cluster/writes/writes.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { singleFraction } from "#proto/kit/number-text.ts";

/** A document that the query found. */
export interface FoundDocument {
  readonly index: string;
  /** Its mapping type, if the source has types. */
  readonly type: string | undefined;
  readonly id: string;
  readonly version: number | undefined;
  readonly seqNo: number | undefined;
  readonly primaryTerm: number | undefined;
  readonly routing: string | undefined;
  /** JSON, UTF-8; empty if the index stores none. */
  readonly source: Uint8Array;
}

/** Returns the source of a document. Throws request_invalid if none is stored because a copy would be empty. */
export function storedSource({ index, type = "_doc", id, source }: FoundDocument): Uint8Array {
  if (source.length > 0) return source;
  throw new AppError("request_invalid", `[${index}][${type}][${id}] didn't store _source`);
}

/** The source of the documents. `changeByQuery` closes it. */
export interface DocumentPages {
  /** Number of matching documents, if it is known before the first page. */
  readonly total: number;
  /** Number of times that a page was requested again. */
  readonly retries?: () => number;
  /** Returns the next page; empty at the end. */
  next(signal: AbortSignal): Promise<readonly FoundDocument[]>;
  close(): Promise<void>;
}

/** Results that are counted. */
export type ChangeCount = "updated" | "created" | "deleted";

export interface ChangeOptions {
  /** Maximum number of documents to change. */
  readonly maxDocs: number;
  /** True: a version conflict is counted and skipped; false: it ends the change. */
  readonly proceedOnConflict: boolean;
  /** Infinity: no limit. */
  readonly requestsPerSecond: number;
  /** How the written indices are refreshed at the end. */
  readonly refresh: boolean;
  /** Time that a page's writes may take. */
  readonly timeoutMs: number;
  /** Pauses before writes that were refused are repeated, ms. */
  readonly backoffMs?: readonly number[];
  /** Called with a document before anything is written. */
  begin?(first: FoundDocument): Promise<void>;
  /** Throws if a page may not be written to these indices now; its writes then fail. */
  readonly checkPage?: ((names: readonly string[], signal: AbortSignal) => Promise<void>) | undefined;
  /** Returns the write of a document; undefined: it isn't changed. */
  make(document: FoundDocument): WriteItem | undefined;
}

/** Maximum pause between two pages. */
const MAX_PAUSE_MS = 60_000;

/** Maximum number of failures that an answer lists. */
const MAX_FAILURES = 100;

/** Progress and counts of one change. */
export class ChangeProgress {
  total = 0;
  updated = 0;
  created = 0;
  deleted = 0;
  noops = 0;
  conflicts = 0;
  batches = 0;
  throttledMs = 0;
  requestsPerSecond = Number.POSITIVE_INFINITY;
  /** Writes that were repeated because the server was busy, and pages that were read again. */
  readonly retries = { bulk: 0, search: 0 };
  /** True: the change was cancelled. */
  canceled = false;
  /** End of the current pause, in terms of performance.now(); 0 without a pause. */
  pausedUntilMs = 0;
  readonly failures: JsonObject[] = [];
  #hurried = new AbortController();

  /** Aborted when another speed is set. */
  get hurried(): AbortSignal {
    return this.#hurried.signal;
  }

  /** Sets another speed, which also applies to the current pause. */
  rethrottle(perSecond: number): void {
    this.requestsPerSecond = perSecond;
    const before = this.#hurried;
    this.#hurried = new AbortController();
    before.abort();
  }

  /** Returns the progress as `_tasks` and answers print it; `counts` names the possible results. */
  print(counts: readonly ChangeCount[]): JsonObject {
    return {
      total: this.total,
      ...Object.fromEntries(counts.map((name) => [name, this[name]])),
      batches: this.batches,
      version_conflicts: this.conflicts,
      noops: this.noops,
      retries: { ...this.retries },
      throttled_millis: Math.round(this.throttledMs),
      requests_per_second: singleFraction(
        Number.isFinite(this.requestsPerSecond) ? this.requestsPerSecond : -1,
      ),
      ...(this.canceled && { canceled: "by user request" }),
      throttled_until_millis: Math.max(0, Math.ceil(this.pausedUntilMs - performance.now())),
    };
  }

  /** Adds the counts of a part. */
  add(part: ChangeProgress): void {
    this.total += part.total;
    this.updated += part.updated;
    this.created += part.created;
    this.deleted += part.deleted;
    this.noops += part.noops;
    this.conflicts += part.conflicts;
    this.batches += part.batches;
    this.throttledMs += part.throttledMs;
    this.retries.bulk += part.retries.bulk;
    this.retries.search += part.retries.search;
    this.canceled ||= part.canceled;
    // The next page is read when the first pause ends.
    const { pausedUntilMs } = part;
    if (pausedUntilMs > 0 && (this.pausedUntilMs === 0 || pausedUntilMs < this.pausedUntilMs))
      this.pausedUntilMs = pausedUntilMs;
  }

  get done(): number {
    return this.updated + this.created + this.deleted + this.noops + this.conflicts + this.failures.length;
  }
}

/** Changes documents until none is left, one fails, or the signal is aborted. Throws the errors of reading, cancelled. */
export async function changeByQuery(
  parts: ApiContext,
  pages: DocumentPages,
  options: ChangeOptions,
  progress: ChangeProgress,
  signal: AbortSignal,
): Promise<void> {
  progress.total = Math.min(pages.total, options.maxDocs);
  progress.requestsPerSecond = options.requestsPerSecond;
  const written = new Set<string>();
  let begun = false;
  try {
    for (;;) {
      signal.throwIfAborted();
      const left = options.maxDocs - progress.done;
      const page = left <= 0 ? [] : (await pages.next(signal)).slice(0, left);
      progress.retries.search = pages.retries?.() ?? 0;
      const [first] = page;
      if (first === undefined) break;
      const items = page.map((document) => options.make(document)).filter((item) => item !== undefined);
      if (!begun && items.length > 0) await options.begin?.(first);
      begun ||= items.length > 0;
      progress.noops += page.length - items.length;
      const results =
        items.length === 0 ? [] : await writeUntilTaken(parts, items, options, progress, signal);
      progress.batches++;
      for (const [at, result] of results.entries())
        if (!isGivenUp(result, signal)) count(parts, result, items[at]!, options, progress, written);
      signal.throwIfAborted();
      const stops = progress.failures.length > 0 || (progress.conflicts > 0 && !options.proceedOnConflict);
      if (stops) break;
      await pause(page.length, progress, signal);
    }
  } finally {
    await pages.close();
  }
  if (!options.refresh || written.size === 0) return;
  const indices = [...written].map((name) => parts.indices.get(name)).filter((index) => index !== undefined);
  await parts.maintenance.refresh(indices);
}

/** Pauses before writes that a busy server refused are repeated, ms: about a minute in total, as in 6.5. */
const BACKOFF_MS: readonly number[] = Array.from(
  { length: 11 },
  (_, attempt) => 500 + 10 * (Math.trunc(Math.exp(0.8 * attempt)) - 1),
);

/** Repeats the writes that were refused with 429, until the signal is aborted; the other results are kept. */
async function writeUntilTaken(
  parts: ApiContext,
  items: readonly WriteItem[],
  options: ChangeOptions,
  progress: ChangeProgress,
  signal: AbortSignal,
): Promise<readonly WriteResult[]> {
  const results = [...(await writePage(parts, items, options, signal))];
  for (const backoffMs of options.backoffMs ?? BACKOFF_MS) {
    const refused = [...results.keys()].filter((at) => isRefused(results[at]!));
    if (refused.length === 0) break;
    await delay(backoffMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) break;
    progress.retries.bulk++;
    const again = await writePage(
      parts,
      refused.map((at) => items[at]!),
      options,
      signal,
    );
    for (const [at, result] of again.entries()) results[refused[at]!] = result;
  }
  return results;
}

function isRefused(result: WriteResult): boolean {
  return isFailure(result) && result.error.status === 429;
}

/** Writes the changes of a page. If `checkPage` throws, each of them fails with that error. */
async function writePage(
  parts: ApiContext,
  items: readonly WriteItem[],
  { checkPage, timeoutMs }: ChangeOptions,
  signal: AbortSignal,
): Promise<readonly WriteResult[]> {
  try {
    if (items.length > 0) await checkPage?.([...new Set(items.map(({ index }) => index))], signal);
  } catch (error) {
    const failure = signal.aborted ? new AppError("cancelled", "by user request") : toAppError(error);
    return items.map(({ index, id }) => ({ index, id, error: failure }));
  }
  return parts.documents.write(items, { refresh: "false", timeoutMs, signal });
}

/** Returns true for a write that was abandoned because the task was cancelled: its outcome is unknown, or it isn't repeated. */
function isGivenUp(result: WriteResult, signal: AbortSignal): boolean {
  return signal.aborted && isFailure(result) && (result.error.code === "cancelled" || isRefused(result));
}

function count(
  { indices }: ApiContext,
  result: WriteResult,
  item: WriteItem,
  { proceedOnConflict }: ChangeOptions,
  progress: ChangeProgress,
  written: Set<string>,
): void {
  if (!isFailure(result)) {
    written.add(result.index);
    if (result.result === "not_found") progress.conflicts++;
    else if (result.result === "noop") progress.noops++;
    else progress[result.result]++;
    return;
  }
  const isConflict = result.error.code === "version_conflict";
  if (isConflict) progress.conflicts++;
  if ((isConflict && proceedOnConflict) || progress.failures.length >= MAX_FAILURES) return;
  progress.failures.push({
    index: result.index,
    type: typeName(indices, result.index),
    id: result.id ?? item.id ?? null,
    cause: itemError(inType(result.error, typeName(indices, result.index))),
    status: result.error.status,
  });
}

/** Waits for the time that a page takes at the requested speed. */
async function pause(docs: number, progress: ChangeProgress, signal: AbortSignal): Promise<void> {
  const startMs = performance.now();
  try {
    for (;;) {
      const { hurried, requestsPerSecond: perSecond } = progress;
      const pauseMs = Math.min(MAX_PAUSE_MS, (docs / perSecond) * 1000);
      const leftMs = pauseMs - (performance.now() - startMs);
      if (leftMs <= 0) return;
      progress.pausedUntilMs = startMs + pauseMs;
      await delay(leftMs, undefined, { signal: AbortSignal.any([signal, hurried]), ref: false }).catch(
        () => undefined,
      );
      if (signal.aborted) throw new AppError("cancelled", "by user request");
    }
  } finally {
    progress.pausedUntilMs = 0;
    // As in 6.5, a pause isn't counted if the limit was removed in the meantime.
    if (Number.isFinite(progress.requestsPerSecond)) progress.throttledMs += performance.now() - startMs;
  }
}
