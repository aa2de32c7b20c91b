/** Runs a change by query in several slices in parallel: the parameter `slices`. */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import {
  type ChangeCount,
  type ChangeOptions,
  ChangeProgress,
  changeByQuery,
  type DocumentPages,
  type FoundDocument,
} from "./change-by-query.ts";

/** Slices that run at a time: each holds a snapshot and a page of documents. The others wait. */
const MAX_RUNNING_PARTS = 4;

/** Maximum number of slices of one change, the same as for a scroll by default. */
const MAX_PARTS = 1024;

/** Maximum number of slices of `auto`. */
const MAX_AUTO_PARTS = 20;

/** The option `slice` of one slice. */
export interface PartOfDocuments {
  /** From 0. */
  readonly id: number;
  readonly max: number;
}

/** Parses `slices`. Throws request_invalid. */
export function readSlices(text: string | undefined): number | "auto" {
  if (text === undefined) return 1;
  if (text === "auto") return text;
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new AppError("request_invalid", '[slices] must be a positive integer or the string "auto"');
  const parts = Number(text);
  if (parts <= MAX_PARTS) return parts;
  throw new AppError("request_invalid", `[slices] may be at most [${MAX_PARTS}], but is [${parts}]`);
}

/** Returns the number of slices of a change; `auto`: the number of the source's shards. */
export function partsOf(slices: number | "auto", shards: number): number {
  return slices === "auto" ? Math.min(Math.max(1, shards), MAX_AUTO_PARTS) : slices;
}

/** Progress of all slices. */
export class SlicedProgress {
  readonly parts: readonly ChangeProgress[];

  constructor(count: number) {
    this.parts = Array.from({ length: count }, () => new ChangeProgress());
  }

  get failures(): readonly JsonObject[] {
    return this.parts.flatMap(({ failures }) => failures);
  }

  /** Divides a speed among the slices that run at a time. */
  rethrottle(perSecond: number): void {
    for (const part of this.parts) part.rethrottle(perSecond / runningAtATime(this.parts.length));
  }

  /** True: the change was cancelled, in all its slices. */
  set canceled(canceled: boolean) {
    for (const part of this.parts) part.canceled = canceled;
  }

  /** Returns the progress as `_tasks` and answers print it: the sums, then each slice. */
  print(counts: readonly ChangeCount[]): JsonObject {
    const all = new ChangeProgress();
    for (const part of this.parts) all.add(part);
    const speeds = this.parts.map(({ requestsPerSecond }) => requestsPerSecond);
    all.requestsPerSecond = Math.max(...speeds) * runningAtATime(this.parts.length);
    const slices = this.parts.map((part, at) => ({ slice_id: at, ...part.print(counts) }));
    return { ...all.print(counts), slices };
  }
}

function runningAtATime(parts: number): number {
  return Math.min(parts, MAX_RUNNING_PARTS);
}

/**
 * Changes the documents of all slices. The first slice that can't be read ends the others. Throws the errors of
 * reading, cancelled.
 */
export async function changeInParts(
  context: ApiContext,
  open: (signal: AbortSignal, part: PartOfDocuments) => Promise<DocumentPages>,
  options: ChangeOptions,
  progress: SlicedProgress,
  signal: AbortSignal,
): Promise<void> {
  const max = progress.parts.length;
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const begin = beginOnce(options);
  const waiting = progress.parts.map((part, id) => ({ part, id }));
  for (const { part } of waiting) part.requestsPerSecond = options.requestsPerSecond / runningAtATime(max);
  const runNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const { part, id } = next;
      const maxDocs = shareOf(options.maxDocs, id, max);
      if (maxDocs === 0) continue;
      const pages = await open(either, { id, max });
      // Another speed may have been set while the slice waited.
      const requestsPerSecond = part.requestsPerSecond;
      const its = { ...options, maxDocs, requestsPerSecond, ...(begin !== undefined && { begin }) };
      await changeByQuery(context, pages, its, part, either);
    }
  };
  const runs = Array.from({ length: runningAtATime(max) }, () =>
    runNext().catch((error: unknown) => {
      stop.abort(error);
      throw error;
    }),
  );
  const ended = await Promise.allSettled(runs);
  if (ended.every(({ status }) => status === "fulfilled")) return;
  signal.throwIfAborted();
  stop.signal.throwIfAborted();
}

/** Returns the maximum number of documents of slice `id` of `max`, if `docs` may be changed in all. */
function shareOf(docs: number, id: number, max: number): number {
  if (!Number.isFinite(docs)) return docs;
  return Math.floor(docs / max) + (id < docs % max ? 1 : 0);
}

/** The slice that finds a document first prepares the destination; the others wait for it. */
function beginOnce(options: ChangeOptions): ChangeOptions["begin"] {
  if (options.begin === undefined) return undefined;
  let begun: Promise<void> | undefined;
  return (first: FoundDocument) => (begun ??= options.begin!(first));
}
