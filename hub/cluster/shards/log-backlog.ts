/**
 * Counts the operations that the log stores for a shard: those not yet in committed segments, and those committed so
 * recently that the log still has them.
 */

import { MIB } from "#proto/kit/units.ts";

/** The counters as reported. */
export interface LogBacklogStats {
  readonly operations: number;
  readonly bytes: number;
  readonly uncommittedOperations: number;
  readonly uncommittedBytes: number;
}

interface Generation {
  readonly committedMs: number;
  readonly operations: number;
  readonly bytes: number;
}

/** The log keeps committed messages for this long while no others arrive, else the newest of all shards: see LogJanitor. */
const RETAINED_MS = 15 * 60_000;
const RETAINED_BYTES = 8 * MIB;
/** Commits counted separately; with more, several share an entry. */
const MAX_GENERATIONS = 200;

export class LogBacklog {
  #operations = 0;
  #bytes = 0;
  readonly #committed: Generation[] = [];

  /** Counts a message that was applied. */
  add(operations: number, bytes: number): void {
    this.#operations += operations;
    this.#bytes += bytes;
  }

  /** Marks everything counted so far as committed. */
  commit(nowMs: number): void {
    this.#forget(nowMs);
    let operations = this.#operations;
    let bytes = this.#bytes;
    if (this.#committed.length >= MAX_GENERATIONS) {
      const last = this.#committed.pop()!;
      operations += last.operations;
      bytes += last.bytes;
    }
    this.#committed.push({ committedMs: nowMs, operations, bytes });
    this.#operations = 0;
    this.#bytes = 0;
  }

  /** `retains` false: committed operations aren't counted. */
  print(nowMs: number, retains: boolean): LogBacklogStats {
    this.#forget(nowMs);
    let kept = 0;
    let keptBytes = 0;
    for (const { operations, bytes } of retains ? this.#committed.toReversed() : []) {
      const some = Math.min(bytes, RETAINED_BYTES - keptBytes);
      if (bytes > 0) kept += Math.round((operations * some) / bytes);
      keptBytes += some;
    }
    return {
      operations: this.#operations + kept,
      bytes: this.#bytes + keptBytes,
      uncommittedOperations: this.#operations,
      uncommittedBytes: this.#bytes,
    };
  }

  #forget(nowMs: number): void {
    const kept = this.#committed.findIndex(({ committedMs }) => nowMs - committedMs < RETAINED_MS);
    this.#committed.splice(0, kept < 0 ? this.#committed.length : kept);
  }
}
