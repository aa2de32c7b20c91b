/**
 * Bounds the memory that the searches of a thread hold together: the heap that came into use since the first of them began.
 * Beyond the limit the search that has used most of the thread is ended.
 */

import { getHeapStatistics } from "node:v8";
import { MIB } from "#proto/kit/units.ts";

/** Limit of a thread unless it gets another, bytes. */
const LIMIT_BYTES = 384 * MIB;
/** What nobody refers to any more isn't held. To collect it keeps the thread for 50 to 150 ms, so not more often. */
const COLLECT_EVERY_MS = 500;
/** A search alone that has used less isn't what the memory went to: other things hold more than before, ms. */
const BLAMELESS_MS = 100;

/** The heap of the thread. */
export interface Heap {
  /** Bytes in use, those that can be collected included. */
  readonly usedBytes: () => number;
  readonly collect: () => void;
}

const OWN_HEAP: Heap = {
  usedBytes: () => getHeapStatistics().used_heap_size,
  collect: () => globalThis.gc?.(),
};

export class SearchMemory {
  readonly #heap: Heap;
  #limitBytes: number;
  #running = 0;
  #beforeBytes = 0;
  #collectedMs = Number.NEGATIVE_INFINITY;
  #ended = 0;

  constructor(limitBytes = LIMIT_BYTES, heap = OWN_HEAP) {
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

  /** Runs a search; what its thread allocates meanwhile is charged to searches. */
  async during<T>(search: () => T | Promise<T>): Promise<T> {
    if (this.#running++ === 0) this.#beforeBytes = this.#heap.usedBytes();
    try {
      return await search();
    } finally {
      this.#running--;
    }
  }

  /** Returns whether a search, which has used most of the thread (`usedMs`), has to end. Collects garbage where it matters. */
  mustEnd(usedMs: number, nowMs = performance.now()): boolean {
    if (this.heldBytes <= this.#limitBytes || nowMs - this.#collectedMs < COLLECT_EVERY_MS) return false;
    this.#collectedMs = nowMs;
    this.#heap.collect();
    if (this.heldBytes <= this.#limitBytes) return false;
    if (this.#running === 1 && usedMs < BLAMELESS_MS) {
      this.#beforeBytes = this.#heap.usedBytes();
      return false;
    }
    this.#ended++;
    return true;
  }
}

const memory = new SearchMemory();

/** Returns what bounds the searches of this thread. */
export function searchMemory(): SearchMemory {
  return memory;
}
