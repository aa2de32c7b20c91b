/**
 * Bounds the total memory of a thread's searches: the growth of the heap and of external memory (columns, answers in
 * transit) since the first of them began. Beyond the limit the search that has used most of the thread is ended. Their
 * garbage is collected before it grows much further, and released once no search runs any more.
 */

import { OWN_HEAP, type ThreadHeap } from "#proto/kit/process/thread-heap.ts";
import { MIB } from "#proto/kit/units.ts";

/** Limit of a thread unless it gets another, bytes. */
const LIMIT_BYTES = 384 * MIB;
/** Garbage doesn't count as held. A collection blocks the thread for 50 to 150 ms, so it isn't run more often. */
const COLLECT_EVERY_MS = 500;
/** Growth since the last collection from which there is another one, bytes, and the time between two of them. */
const GROWTH_BYTES = 96 * MIB;
const COLLECT_GROWTH_EVERY_MS = 1_000;
/**
 * Memory that is given back once no search has run for this long, and the least time between two times: short searches
 * in a row are left alone, and so is indexing.
 */
const IDLE_GROWTH_BYTES = 96 * MIB;
const IDLE_MS = 5_000;
const IDLE_EVERY_MS = 60_000;
/** A search alone that has used less isn't what the memory went to: other things hold more than before, ms. */
const BLAMELESS_MS = 100;
/** Share of the limit from which searches end one after the other rather than all at once. */
const TIGHT = 0.5;

/** The memory of the thread. */
export interface SearchedHeap extends ThreadHeap {
  /** Calls `run` once after `ms`. */
  readonly later: (run: () => void, ms: number) => void;
}

const HEAP: SearchedHeap = { ...OWN_HEAP, later: (run, ms) => void setTimeout(run, ms).unref() };

export class SearchMemory {
  readonly #heap: SearchedHeap;
  #limitBytes: number;
  #running = 0;
  #beforeBytes = 0;
  /** Bytes in use after the last collection; before the first, when the first search began. */
  #afterBytes: number | undefined;
  /** Bytes in use when memory was last released; before that, when the first search began. */
  #releasedBytes = 0;
  #releasedMs = Number.NEGATIVE_INFINITY;
  #collectedMs = Number.NEGATIVE_INFINITY;
  #endedMs = 0;
  #isIdleAwaited = false;
  /** Bytes that searches held after the last collection while one was running. */
  #keptBytes = 0;
  #isOver = false;
  #ended = 0;

  constructor(limitBytes = LIMIT_BYTES, heap = HEAP) {
    this.#limitBytes = limitBytes;
    this.#heap = heap;
  }

  /** Sets the limit, bytes; 0: none. */
  limit(bytes: number): void {
    this.#limitBytes = bytes === 0 ? Number.POSITIVE_INFINITY : bytes;
  }

  get limitBytes(): number {
    return this.#limitBytes;
  }

  /** Bytes that searches hold now, garbage included. */
  get heldBytes(): number {
    return this.#running === 0 ? 0 : Math.max(0, this.#heap.usedBytes() - this.#beforeBytes);
  }

  /** Searches that were ended because of the limit. */
  get ended(): number {
    return this.#ended;
  }

  /** True if running searches should end before others grow. */
  get isTight(): boolean {
    return this.#keptBytes > this.#limitBytes * TIGHT;
  }

  /** Runs a search; what its thread allocates meanwhile is charged to searches. */
  async during<T>(search: () => T | Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#beforeBytes = this.#heap.usedBytes();
    if (this.#afterBytes === undefined) {
      this.#afterBytes = this.#beforeBytes;
      this.#releasedBytes = this.#heap.takenBytes();
    }
    try {
      return await search();
    } finally {
      if (--this.#running === 0) this.#allEnded(performance.now());
    }
  }

  /** Collects garbage if it amounts to much; every search calls it regularly. */
  tidy(nowMs = performance.now()): void {
    const isOver = this.heldBytes > this.#limitBytes;
    if (!isOver && this.#grownBytes <= GROWTH_BYTES) return;
    if (nowMs - this.#collectedMs < (isOver ? COLLECT_EVERY_MS : COLLECT_GROWTH_EVERY_MS)) return;
    this.#collect(nowMs);
    this.#keptBytes = this.heldBytes;
    this.#isOver = this.#keptBytes > this.#limitBytes;
  }

  /** Returns whether the search that has used most of the thread (`usedMs`) has to end, by what the last collection left. */
  mustEnd(usedMs: number): boolean {
    if (!this.#isOver) return false;
    this.#isOver = false;
    // What was measured may have been given back since, by a search that ended by itself.
    if (this.heldBytes <= this.#limitBytes) return false;
    if (this.#running === 1 && usedMs < BLAMELESS_MS) {
      this.#beforeBytes = this.#heap.usedBytes();
      return false;
    }
    this.#ended++;
    return true;
  }

  get #grownBytes(): number {
    return this.#heap.usedBytes() - (this.#afterBytes ?? 0);
  }

  #collect(nowMs: number): void {
    this.#collectedMs = nowMs;
    this.#heap.collect();
    this.#afterBytes = this.#heap.usedBytes();
    // What was in use before the searches may have been garbage too.
    this.#beforeBytes = Math.min(this.#beforeBytes, this.#afterBytes);
  }

  #allEnded(nowMs: number): void {
    this.#endedMs = nowMs;
    this.#keptBytes = 0;
    this.#isOver = false;
    if (this.#isIdleAwaited || this.#heap.takenBytes() - this.#releasedBytes <= IDLE_GROWTH_BYTES) return;
    this.#isIdleAwaited = true;
    const waitMs = Math.max(IDLE_MS, this.#releasedMs + IDLE_EVERY_MS - nowMs);
    this.#heap.later(() => this.#release(performance.now()), waitMs);
  }

  #release(nowMs: number): void {
    this.#isIdleAwaited = false;
    if (this.#running > 0) return; // its end comes here again
    if (nowMs - this.#endedMs < IDLE_MS) {
      this.#allEnded(this.#endedMs);
      return;
    }
    this.#collect(nowMs);
    if (this.#heap.takenBytes() - this.#releasedBytes > IDLE_GROWTH_BYTES) this.#heap.release();
    this.#releasedMs = nowMs;
    this.#releasedBytes = this.#heap.takenBytes();
  }
}

const memory = new SearchMemory();

/** Returns what bounds the searches of this thread. */
export function searchMemory(): SearchMemory {
  return memory;
}
