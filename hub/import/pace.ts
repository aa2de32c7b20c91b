/** Holds a copy back to a number of documents per second. */

import type { Clock } from "#proto/kit/clock.ts";

export class Pace {
  readonly #perSecond: number;
  readonly #clock: Clock;
  /** Monotonic time at which what was taken so far is due, ms. */
  #dueMs: number;

  /** `perSecond`: Infinity for no limit. */
  constructor(perSecond: number, clock: Clock) {
    this.#perSecond = perSecond;
    this.#clock = clock;
    this.#dueMs = clock.monotonic();
  }

  /** Resolves when `count` further documents may follow. An idle time isn't made up for. */
  async take(count: number, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock.monotonic();
    const waitMs = this.#dueMs - nowMs;
    this.#dueMs = Math.max(this.#dueMs, nowMs) + (count / this.#perSecond) * 1000;
    if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
    signal.throwIfAborted();
  }
}
