/** Keeps a search within its time, lets others have the thread in between, and ends it when nobody waits any more. */

import { setImmediate } from "node:timers/promises";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";

/** How long a search keeps the thread at a time. */
const SLICE_MS = 8;

export class SearchControl {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;
  #sliceEndMs: number;
  #timedOut = false;

  /** `timeoutMs` undefined: no limit. */
  constructor(clock: Clock, signal: AbortSignal, timeoutMs: number | undefined) {
    const nowMs = clock.monotonic();
    this.#clock = clock;
    this.#signal = signal;
    this.#deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : nowMs + timeoutMs;
    this.#sliceEndMs = nowMs + SLICE_MS;
  }

  /** True once the time is over; what was found until then is the answer. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** True where `pause` has something to do; cheap enough for each batch. */
  get isDue(): boolean {
    return this.#clock.monotonic() >= this.#sliceEndMs;
  }

  /** Lets other work run and notes the time. Throws cancelled. */
  async pause(): Promise<void> {
    await setImmediate();
    this.check();
    const nowMs = this.#clock.monotonic();
    this.#timedOut ||= nowMs >= this.#deadlineMs;
    this.#sliceEndMs = nowMs + SLICE_MS;
  }

  /** Throws cancelled where the signal is aborted. */
  check(): void {
    if (this.#signal.aborted)
      throw new AppError("cancelled", "the search was cancelled because its client went away");
  }
}
