/**
 * Enforces the limits of a search: its timeout, the memory of the process, time slices for other work, and cancellation
 * when the client is gone.
 */

import { getHeapStatistics } from "node:v8";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { MIB } from "#proto/kit/units.ts";
import { searchMemory } from "./search-memory.ts";
import { endFirst, hasUsedMost, mustYield, nextTurn, sliceMs, type Turn, turnMs } from "./turns.ts";

/** Slices between two checks of the heap. */
const SLICES_PER_LOOK = 8;

/**
 * Share of the heap's limit from which a search is ended to protect the process. Garbage collection has already been tried
 * by then.
 */
const HEAP_SHARE = 0.9;

/** Returns how much of the heap that the process may have is used, 0..1. */
export function heapShare(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  return used / limit;
}

export class SearchControl implements Turn {
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  readonly #deadlineMs: number;
  readonly #heap: () => number;
  #sliceStartMs: number;
  #sliceEndMs: number;
  #usedMs = 0;
  #slices = 0;
  #timedOut = false;

  /**
   * `timeoutMs` undefined: no limit; what decides it: `SearchRequest.timeoutMs` (request/search-request.ts). `heap`: share of
   * the heap in use. Throws memory_limit if there is none left.
   */
  constructor(clock: Clock, signal: AbortSignal, timeoutMs: number | undefined, heap = heapShare) {
    const nowMs = clock.monotonic();
    this.#clock = clock;
    this.#signal = signal;
    this.#deadlineMs = timeoutMs === undefined ? Number.POSITIVE_INFINITY : nowMs + timeoutMs;
    this.#heap = heap;
    this.#sliceStartMs = nowMs;
    this.#sliceEndMs = nowMs + Math.max(0, sliceMs() - turnMs());
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

  /** True if `pause` has something to do; cheap enough for each batch. */
  get isDue(): boolean {
    const nowMs = this.#clock.monotonic();
    return nowMs >= this.#sliceEndMs || mustYield(nowMs, this.#sliceStartMs);
  }

  /** Time that the search has had the thread for, ms; without the slice under way. */
  get usedMs(): number {
    return this.#usedMs;
  }

  /** True if the search only has to end: it was cancelled, or its time is over. */
  get isOver(): boolean {
    return this.#signal.aborted || this.#clock.monotonic() >= this.#deadlineMs;
  }

  /** Lets other work run and records the time. Throws cancelled, memory_limit. */
  async pause(): Promise<void> {
    this.#usedMs += this.#clock.monotonic() - this.#sliceStartMs;
    await nextTurn(this);
    this.check();
    if (++this.#slices % SLICES_PER_LOOK === 0) {
      this.#checkHeap();
      this.#checkHeld();
    }
    const nowMs = this.#clock.monotonic();
    this.#timedOut ||= nowMs >= this.#deadlineMs;
    this.#sliceStartMs = nowMs;
    this.#sliceEndMs = nowMs + sliceMs();
  }

  /** Throws cancelled if the signal is aborted. */
  check(): void {
    if (this.#signal.aborted)
      throw new AppError("cancelled", "the search was cancelled because its client disconnected");
  }

  #checkHeld(): void {
    const memory = searchMemory();
    memory.tidy();
    endFirst(memory.isTight);
    if (!hasUsedMost(this) || !memory.mustEnd(this.#usedMs)) return;
    throw new AppError(
      "memory_limit",
      `the search was ended because the running searches hold more than ${Math.round(memory.limitBytes / MIB)} MiB (search.max_memory) and it had used most; narrow it, ask for fewer buckets or hits, or try again later`,
    );
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
