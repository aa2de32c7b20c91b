/** The cursor of a partition: how far RAW was processed, and which ranges of which sources that covers. */

import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import type { Position } from "#proto/position.ts";
import type { StoredSource } from "./source-ranges.ts";

/** Version of the stored form. */
const VERSION = 1;

/** A key-value bucket takes values of 1 MiB; beyond this the sources untouched longest are left out. */
const MAX_CURSOR_BYTES = 900 * 1024;

export interface Cursor {
  readonly rawPosition: Position;
  readonly docPosition: Position;
  readonly sources: readonly StoredSource[];
  /** Counts the processes that have written the cursor, from 1. */
  readonly epoch: number;
  /** Random name of the process that wrote it. */
  readonly owner: string;
  /** Id of the hub whose process that is; absent where a version before shared partitions wrote it. */
  readonly hub?: string;
}

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

/** Throws data_corrupt where `bytes` are no cursor. */
export function decodeCursor(key: string, bytes: Uint8Array): Cursor {
  try {
    const stored = JSON.parse(Buffer.from(bytes).toString()) as Cursor & { version: number };
    if (stored.version !== VERSION) throw new Error(`version ${stored.version}`);
    return stored;
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
 * recognised by its owner and is no conflict.
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
  async save({ rawPosition, docPosition, sources }: Omit<Cursor, "epoch" | "owner" | "hub">): Promise<void> {
    const [epoch, owner, hub] = [this.#epoch, this.#owner, this.#hub];
    const value = encodeCursor({ rawPosition, docPosition, sources, epoch, owner, hub });
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
   * Writes the cursor in this process's name, so that the process before can't any more. Returns the cursor: a newer one
   * where that process wrote meanwhile.
   */
  async claim(found: Cursor): Promise<Cursor> {
    for (let cursor = found; ; ) {
      try {
        await this.save(cursor);
        return cursor;
      } catch (error) {
        const entry = isConflict(error) ? await this.#bucket.get(this.#key) : null;
        if (entry === null) throw error;
        cursor = decodeCursor(this.#key, entry.value);
        this.#revision = entry.revision;
        this.#epoch = cursor.epoch + 1;
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
