/**
 * Checks during long work for one query: whether the client is connected, the deadline has passed, and others wait for
 * the thread.
 */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";

export class Pace {
  readonly #slices = new TimeSlices();
  readonly #signal: AbortSignal;
  readonly #clock: Clock;
  readonly #endMs: number;

  /** `limitMs`: time limit of the query, from now on. */
  constructor(signal: AbortSignal, clock: Clock, limitMs: number) {
    this.#signal = signal;
    this.#clock = clock;
    this.#endMs = clock.monotonic() + limitMs;
  }

  /** True if `pause` is due. */
  get isDue(): boolean {
    return this.#slices.isDue;
  }

  /** Yields the thread to others. Throws what `check` throws. */
  async pause(): Promise<void> {
    await this.#slices.pause();
    this.check();
  }

  /** Throws cancelled if the client disconnected, timeout if the time is up. */
  check(): void {
    if (this.#signal.aborted) throw new AppError("cancelled", "the client disconnected before the answer");
    if (this.#clock.monotonic() >= this.#endMs)
      throw new AppError("timeout", "context deadline exceeded: narrow the time range");
  }
}
