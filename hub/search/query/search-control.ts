/**
 * Enforces the limits of a search: its timeout, the memory of the process, time slices for other work, and cancellation
 * when the client is gone.
 */

import { getHeapStatistics } from "node:v8";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { nextTurn } from "./turns.ts";

/** How long a search keeps the thread at a time. */
const SLICE_MS = 8;

/** Slices between two looks at the heap. */
const SLICES_PER_LOOK = 8;

/** Share of the heap's limit from which a search ends rather than the process. The collector has done its best by then. */
const HEAP_SHARE = 0.9;

/** Returns how much of the heap that the process may have is used, 0..1. */
export function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / limit;
}

export class SearchControl {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;
  readonly #heap: () => number;
  #sliceEndMs: number;
  #slices = 0;
  #timedOut = false;

  /** `timeoutMs` undefined: no limit. `heap`: share of the heap in use. Throws memory_limit where there is none left. */
  constructor(clock: Clock, signal: AbortSignal, timeoutMs: number | undefined, heap = heapShare) {
    const nowMs = clock.monotonic();
    this.#clock = clock;
    this.#signal = signal;
    this.#deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : nowMs + timeoutMs;
    this.#heap = heap;
    this.#sliceEndMs = nowMs + SLICE_MS;
    this.#checkHeap();
  }

  /** Returns a control with the same deadline that another signal cancels. */
  withSignal(signal: AbortSignal): SearchControl {
    return new SearchControl(this.#clock, signal, this.#deadlineMs - this.#clock.monotonic(), this.#heap);
  }

  /** True once the time is over; what was found until then is the answer. */
  get timedOut(): boolean {
    return this.#timedOut;
  }

  /** True where `pause` has something to do; cheap enough for each batch. */
  get isDue(): boolean {
    return this.#clock.monotonic() >= this.#sliceEndMs;
  }

  /** Lets other work run and notes the time. Throws cancelled, memory_limit. */
  async pause(): Promise<void> {
    await nextTurn();
    this.check();
    if (++this.#slices % SLICES_PER_LOOK === 0) this.#checkHeap();
    const nowMs = this.#clock.monotonic();
    this.#timedOut ||= nowMs >= this.#deadlineMs;
    this.#sliceEndMs = nowMs + SLICE_MS;
  }

  /** Throws cancelled where the signal is aborted. */
  check(): void {
    if (this.#signal.aborted)
      throw new AppError("cancelled", "the search was cancelled because its client went away");
  }

  #checkHeap(): void {
    const share = this.#heap();
    if (share < HEAP_SHARE) return;
    throw new AppError(
      "memory_limit",
      `the search was refused because ${Math.round(share * 100)} % of the hub's memory is in use (limit ${HEAP_SHARE * 100} %); narrow it, ask for fewer buckets or hits, or try again later`,
    );
  }
}
