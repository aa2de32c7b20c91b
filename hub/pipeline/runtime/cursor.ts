/**
 * The cursor of a partition: how far RAW was processed, and the ranges of each source that were accepted and finished.
 */

import { AppError } from "#proto/kit/errors.ts";
import { type Interval, IntervalSet } from "#proto/kit/interval-set.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import type { Position } from "#proto/position.ts";

/** Sources of a partition; the one untouched longest goes first. Its data, if sent again, is dropped by the shards. */
const SOURCE_LIMIT = 4096;

/** A source untouched for this long is forgotten. */
const MAX_AGE_MS = 7 * DAY_MS;

/** Separate ranges of one source. A file read in order has one. */
const INTERVAL_LIMIT = 1024;

/** A source as a cursor stores it: key, last touch (ms since 1970), then from, to, from, to … */
export type StoredSource = readonly [key: string, touchedMs: number, ...bounds: number[]];

interface SourceState {
  /** Handed to a worker or finished. */
  readonly planned: IntervalSet;
  /** Finished: what a cursor may cover. */
  readonly done: IntervalSet;
  touchedMs: number;
  /** Ranges planned and not finished. */
  inFlight: number;
}

/** Keeps the sources in the order of their last touch. */
export class SourceRanges {
  readonly #sources = new Map<string, SourceState>();
  #forgotten = 0;

  constructor(stored: readonly StoredSource[]) {
    for (const [key, touchedMs, ...bounds] of stored) {
      const intervals: Interval[] = [];
      for (let at = 0; at + 1 < bounds.length; at += 2) intervals.push([bounds[at]!, bounds[at + 1]!]);
      this.#sources.set(key, {
        planned: new IntervalSet(intervals, INTERVAL_LIMIT),
        done: new IntervalSet(intervals, INTERVAL_LIMIT),
        touchedMs,
        inFlight: 0,
      });
    }
  }

  get size(): number {
    return this.#sources.size;
  }

  /** Sources forgotten because of the limit, since the start. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /**
   * Gaps between ranges considered processed because a source had too many of them: what comes late in one is dropped.
   */
  get closedGaps(): number {
    let gaps = 0;
    for (const { planned } of this.#sources.values()) gaps += planned.closedGaps;
    return gaps;
  }

  /** Returns the parts of [from, to) that weren't taken up yet, and takes them up. */
  plan(key: string, from: number, to: number, nowMs: number): Interval[] {
    const source = this.#touch(key, nowMs);
    const missing = source.planned.missing(from, to);
    source.planned.add(from, to);
    if (missing.length > 0) source.inFlight++;
    return missing;
  }

  /**
   * Records that `ranges`, planned together before, are finished; returns the unbroken range that now holds the last of
   * them.
   */
  finish(key: string, ranges: readonly Interval[]): Interval {
    const last = ranges.at(-1) ?? [0, 0];
    const source = this.#sources.get(key);
    if (source === undefined) return last;
    source.inFlight--;
    for (const [from, to] of ranges) source.done.add(from, to);
    return source.done.toArray().findLast(([from, to]) => from <= last[0] && last[1] <= to) ?? last;
  }

  /** Returns all finished ranges as a cursor stores them, least recently touched first; forgets old sources. */
  store(nowMs: number): StoredSource[] {
    const stored: StoredSource[] = [];
    for (const [key, source] of this.#sources) {
      if (source.inFlight === 0 && source.touchedMs < nowMs - MAX_AGE_MS) {
        this.#sources.delete(key);
      } else if (source.done.size > 0) {
        stored.push([key, source.touchedMs, ...source.done.toArray().flat()]);
      }
    }
    return stored;
  }

  #touch(key: string, nowMs: number): SourceState {
    const known = this.#sources.get(key);
    if (known !== undefined) {
      known.touchedMs = nowMs;
      this.#sources.delete(key);
      this.#sources.set(key, known);
      return known;
    }
    this.#makeRoom();
    const source: SourceState = {
      planned: new IntervalSet([], INTERVAL_LIMIT),
      done: new IntervalSet([], INTERVAL_LIMIT),
      touchedMs: nowMs,
      inFlight: 0,
    };
    this.#sources.set(key, source);
    return source;
  }

  #makeRoom(): void {
    if (this.#sources.size < SOURCE_LIMIT) return;
    for (const [key, source] of this.#sources) {
      if (source.inFlight > 0) continue;
      this.#sources.delete(key);
      this.#forgotten++;
      return;
    }
  }
}

/** Version of the stored form. */
const VERSION = 1;

/** A key-value bucket takes values of 1 MiB; beyond this the sources untouched longest are left out. */
const MAX_CURSOR_BYTES = 900 * 1024;

export interface Cursor {
  readonly rawPosition: Position;
  readonly docPosition: Position;
  /** See WrittenDocuments; a version that didn't store it compared cursors with the incarnation of `docPosition`. */
  readonly docIncarnation: number;
  readonly sources: readonly StoredSource[];
  /** Counts the processes that have written the cursor, from 1. */
  readonly epoch: number;
  /** Random name of the process that wrote it. */
  readonly owner: string;
  /** Id of the hub whose process that is; absent where a version before shared partitions wrote it. */
  readonly hub?: string;
}

type Stored = Omit<Cursor, "docIncarnation"> & {
  readonly version: number;
  readonly docIncarnation?: number;
};

/** Returns the key of a partition's cursor. */
export function cursorKey(partition: number): string {
  return `cursor.${partition}`;
}

/** Returns the stored form: JSON, at most 900 KiB. */
export function encodeCursor(cursor: Cursor): Uint8Array {
  let { sources } = cursor;
  for (;;) {
    const bytes = Buffer.from(JSON.stringify({ version: VERSION, ...cursor, sources }));
    if (bytes.length <= MAX_CURSOR_BYTES || sources.length === 0) return bytes;
    sources = sources.slice(Math.ceil(sources.length / 4));
  }
}

/** Throws data_corrupt where `bytes` aren't a cursor. */
export function decodeCursor(key: string, bytes: Uint8Array): Cursor {
  try {
    const stored = JSON.parse(Buffer.from(bytes).toString()) as Stored;
    if (stored.version !== VERSION) throw new Error(`version ${stored.version}`);
    return { ...stored, docIncarnation: stored.docIncarnation ?? stored.docPosition.incarnation };
  } catch (error) {
    throw new AppError(
      "data_corrupt",
      `the pipeline's ${key} can't be read; delete it to process what the log still holds once more (repetitions are dropped)`,
      { cause: error },
    );
  }
}

/**
 * One cursor in the bucket, written by compare-and-set. A write that was stored although its answer got lost is
 * recognised by its owner and isn't a conflict.
 */
export class CursorStore {
  readonly #bucket: StateBucket;
  readonly #key: string;
  readonly #owner: string;
  readonly #hub: string;
  #revision: number;
  #epoch: number;

  constructor(
    bucket: StateBucket,
    partition: number,
    owner: string,
    found: StateEntry | null,
    epoch: number,
    hub: string,
  ) {
    this.#bucket = bucket;
    this.#key = cursorKey(partition);
    this.#owner = owner;
    this.#hub = hub;
    this.#revision = found?.revision ?? 0;
    this.#epoch = epoch + 1;
  }

  /** Throws journal_conflict if another process has written the cursor since it was read. */
  async save({
    rawPosition,
    docPosition,
    docIncarnation,
    sources,
  }: Omit<Cursor, "epoch" | "owner" | "hub">): Promise<void> {
    const [epoch, owner, hub] = [this.#epoch, this.#owner, this.#hub];
    const value = encodeCursor({ rawPosition, docPosition, docIncarnation, sources, epoch, owner, hub });
    try {
      this.#revision = await this.#write(value);
    } catch (error) {
      if (!isConflict(error)) throw error;
      const found = await this.#bucket.get(this.#key);
      if (found === null || decodeCursor(this.#key, found.value).owner !== this.#owner) throw error;
      this.#revision = found.revision;
      this.#revision = await this.#write(value);
    }
  }

  /**
   * Writes the cursor, changed by `change`, in this process's name, so that the process before can't any more. Returns what
   * it wrote: made of a newer cursor where that process wrote meanwhile.
   */
  async claim(found: Cursor, change: (cursor: Cursor) => Cursor): Promise<Cursor> {
    for (let cursor = change(found); ; ) {
      try {
        await this.save(cursor);
        return cursor;
      } catch (error) {
        const entry = isConflict(error) ? await this.#bucket.get(this.#key) : null;
        if (entry === null) throw error;
        const newer = decodeCursor(this.#key, entry.value);
        cursor = change(newer);
        this.#revision = entry.revision;
        this.#epoch = newer.epoch + 1;
      }
    }
  }

  #write(value: Uint8Array): Promise<number> {
    if (this.#revision === 0) return this.#bucket.create(this.#key, value);
    return this.#bucket.update(this.#key, value, this.#revision);
  }
}

function isConflict(error: unknown): boolean {
  return error instanceof AppError && error.code === "journal_conflict";
}
