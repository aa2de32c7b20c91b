/**
 * The readers of the log RAW of one session. Partitions that are taken over lag behind the others. A reader of their
 * own reads them, so that the others don't wait, until it has read as far as the first one, which then reads them as
 * well.
 */

import { comparePositions, lowestOf, type Position } from "#proto/position.ts";
import { RawReader, type RawReaderOptions } from "./raw-reader.ts";

export type RawReadersOptions = Omit<RawReaderOptions, "partitions" | "after" | "isDone">;

export class RawReaders {
  readonly #options: RawReadersOptions;
  readonly #signal: AbortSignal;
  /** The first one reads as long as the session does. */
  readonly #readers: RawReader[] = [];
  readonly #runs = new Set<Promise<void>>();

  /** `signal` ends the reading. */
  constructor(options: RawReadersOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** Every message at or before was handed to its partition or passed over; START before `read`. */
  get position(): Position {
    return lowestOf(this.#readers.map(({ position }) => position));
  }

  /** What keeps the log from being read; empty: nothing. */
  get problem(): string {
    return this.#readers.find(({ problem }) => problem !== "")?.problem ?? "";
  }

  /** Reads partitions (undefined: all) that aren't read yet, from the message after `after` on. */
  read(partitions: ReadonlySet<number> | undefined, after: Position): void {
    const isDone = (): boolean => this.#joins(reader);
    const reader = new RawReader({ ...this.#options, partitions, after, isDone });
    this.#readers.push(reader);
    if (isDone()) return;
    const run = reader.run(this.#signal).finally(() => this.#runs.delete(run));
    this.#runs.add(run);
  }

  /** Hands over no further messages of partitions. */
  passOver(partitions: ReadonlySet<number>): void {
    for (const reader of this.#readers) reader.partitions = reader.partitions?.difference(partitions);
  }

  /** Resolves when all have ended. */
  async ended(): Promise<void> {
    await Promise.all(this.#runs);
  }

  /**
   * Leaves the partitions of a reader to the first one, if it has read as far as that. Partitions recognise what the
   * first one reads again.
   */
  #joins(reader: RawReader): boolean {
    const first = this.#readers[0]!;
    if (reader === first || comparePositions(reader.position, first.position) < 0) return false;
    if (reader.partitions !== undefined) first.partitions = first.partitions?.union(reader.partitions);
    this.#readers.splice(this.#readers.indexOf(reader), 1);
    return true;
  }
}
