/** Comparisons of this hub's indices with a bucket that has lost some: each is repeated until the index could be read. */

import type { Clock } from "#proto/kit/clock.ts";
import { Backoff } from "#proto/kit/retry.ts";

/** Pauses before indices that couldn't be read are compared again. */
const AGAIN = { firstMs: 1_000, capMs: 30_000 };

export class IndexComparisons {
  readonly #compare: (name: string) => Promise<boolean>;
  readonly #clock: Clock;
  readonly #abort = new AbortController();
  /** Names of indices that are to be compared. */
  readonly #waiting = new Set<string>();
  /** Names of indices that the present pass has put back. */
  readonly #putBack = new Set<string>();
  /** Aborted when further names are to be compared. */
  #added = new AbortController();
  #running: Promise<void> | undefined;

  /** `compare` resolves with false if the index couldn't be read, and never rejects. */
  constructor(compare: (name: string) => Promise<boolean>, clock: Clock) {
    this.#compare = compare;
    this.#clock = clock;
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }

  /** Compares these indices, beside the caller. */
  add(names: Iterable<string>): void {
    for (const name of names) this.#waiting.add(name);
    this.#added.abort();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Compares all indices, of which one was just put back, except for those that the present pass has put back. */
  addAll(names: Iterable<string>, putBack?: string): void {
    if (putBack !== undefined) this.#putBack.add(putBack);
    this.add([...names].filter((name) => !this.#putBack.has(name)));
  }

  /** Ends when each index was read: an index whose record stays lost could be created again by another hub. */
  async #run(): Promise<void> {
    const backoff = new Backoff(AGAIN);
    const { signal } = this.#abort;
    while (this.#waiting.size > 0) {
      this.#added = new AbortController();
      this.#putBack.clear();
      const failed: string[] = [];
      const names = Array.from(this.#waiting); // each may add others
      for (const name of names) {
        if (signal.aborted) return;
        this.#waiting.delete(name); // it may be added again meanwhile
        if (!(await this.#compare(name))) failed.push(name);
      }
      this.#putBack.clear();
      if (failed.length === 0) continue;
      for (const name of failed) this.#waiting.add(name);
      await this.#clock.sleep(backoff.next(), AbortSignal.any([signal, this.#added.signal]));
      if (this.#added.signal.aborted) backoff.reset();
    }
  }
}
