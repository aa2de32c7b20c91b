/** For tests: a clock that tests move by hand. */

import type { Clock } from "#proto/kit/clock.ts";

/** Time that stands still until it is moved. */
export class StillClock implements Clock {
  #nowMs = 1_000;
  readonly #sleepers = new Set<() => void>();

  now(): number {
    return this.#nowMs;
  }

  monotonic(): number {
    return this.#nowMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const until = this.#nowMs + ms;
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#nowMs < until && signal?.aborted !== true) return;
        this.#sleepers.delete(look);
        resolve();
      };
      this.#sleepers.add(look);
      signal?.addEventListener("abort", look, { once: true });
      look();
    });
  }

  /** Moves time in steps, so that what wakes up can go to sleep again. */
  async advance(ms: number): Promise<void> {
    for (let step = 0; step < ms; step += 10) {
      this.#nowMs += 10;
      for (const look of this.#sleepers) look();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}
