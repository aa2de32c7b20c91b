/**
 * How much of the log a shard has taken up and would be read again for it: what isn't in committed segments yet, and what
 * was committed so lately that the log still holds it.
 */

/** Figures as they are told. */
export interface PrintedLogFigures {
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

/** The log keeps messages for as long after their commit. */
const RETAINED_MS = 15 * 60_000;
/** Commits that are told apart; several share an entry where there are more. */
const MAX_GENERATIONS = 200;

export class LogFigures {
  #operations = 0;
  #bytes = 0;
  readonly #committed: Generation[] = [];

  /** Counts a message that was applied. */
  add(operations: number, bytes: number): void {
    this.#operations += operations;
    this.#bytes += bytes;
  }

  /** Everything counted so far is committed. */
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

  /** `retains` false: what is committed isn't counted. */
  print(nowMs: number, retains: boolean): PrintedLogFigures {
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
