/**
 * Counts the operations that the log stores for a shard: those not yet in committed segments, and those committed so
 * recently that the log still has them.
 */

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

/** The log keeps messages for this long after their commit. */
const RETAINED_MS = 15 * 60_000;
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
    const kept = retains ? this.#committed : [];
    return {
      operations: kept.reduce((sum, each) => sum + each.operations, this.#operations),
      bytes: kept.reduce((sum, each) => sum + each.bytes, this.#bytes),
      uncommittedOperations: this.#operations,
      uncommittedBytes: this.#bytes,
    };
  }

  #forget(nowMs: number): void {
    const kept = this.#committed.findIndex(({ committedMs }) => nowMs - committedMs < RETAINED_MS);
    this.#committed.splice(0, kept < 0 ? this.#committed.length : kept);
  }
}
