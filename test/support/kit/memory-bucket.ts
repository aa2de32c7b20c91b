/** A StateBucket of this process alone: the oracle of the contract's tests, and state for parts tested by themselves. */

import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket, StateChange, StateEntry } from "#proto/kit/state-bucket.ts";

export class MemoryBucket implements StateBucket {
  readonly #entries = new Map<string, StateEntry>();
  readonly #watchers = new Set<(change: StateChange) => void>();
  #revision = 0;

  get(key: string): Promise<StateEntry | null> {
    return Promise.resolve(this.#entries.get(key) ?? null);
  }

  async create(key: string, value: Uint8Array): Promise<number> {
    if (this.#entries.has(key)) throw new AppError("journal_conflict", `key ${key} exists`);
    return this.put(key, value);
  }

  async update(key: string, value: Uint8Array, revision: number): Promise<number> {
    this.#expect(key, revision);
    return this.put(key, value);
  }

  put(key: string, value: Uint8Array): Promise<number> {
    const entry: StateEntry = { key, value, revision: ++this.#revision };
    this.#entries.set(key, entry);
    this.#notify(entry);
    return Promise.resolve(entry.revision);
  }

  async delete(key: string, revision?: number): Promise<void> {
    if (revision !== undefined) this.#expect(key, revision);
    if (this.#entries.delete(key)) this.#notify({ key, value: null, revision: ++this.#revision });
  }

  keys(prefix = ""): Promise<string[]> {
    return Promise.resolve([...this.#entries.keys()].filter((key) => key.startsWith(prefix)));
  }

  async *watch(signal: AbortSignal): AsyncIterable<StateChange> {
    const queue: StateChange[] = [...this.#entries.values()];
    let wake = Promise.withResolvers<void>();
    const notify = (change: StateChange): void => {
      queue.push(change);
      wake.resolve();
    };
    const stop = (): void => wake.resolve();
    this.#watchers.add(notify);
    signal.addEventListener("abort", stop, { once: true });
    try {
      while (!signal.aborted) {
        const change = queue.shift();
        if (change !== undefined) {
          yield change;
        } else {
          await wake.promise;
          wake = Promise.withResolvers<void>();
        }
      }
    } finally {
      this.#watchers.delete(notify);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Loses everything, as a server that lost its disk and was recreated: revisions begin at 1 again. */
  lose(): void {
    for (const { key, revision } of this.#entries.values()) this.#notify({ key, value: null, revision });
    this.#entries.clear();
    this.#revision = 0;
  }

  #expect(key: string, revision: number): void {
    const found = this.#entries.get(key)?.revision ?? 0;
    if (found !== revision)
      throw new AppError("journal_conflict", `key ${key} has revision ${found}, not ${revision}`);
  }

  #notify(change: StateChange): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}
