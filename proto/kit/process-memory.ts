/** Resident memory of this process, also available when no file descriptor is left to read it. */

import { getHeapStatistics } from "node:v8";

/** Returns the resident memory, bytes; 0 where it can't be read now. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

/** The heap of JavaScript and what it holds outside of itself, bytes. */
export interface HeapMemory {
  readonly usedBytes: number;
  readonly totalBytes: number;
  readonly externalBytes: number;
}

/** Returns the current heap. */
export function heapMemory(): HeapMemory {
  const { used_heap_size, total_heap_size, external_memory } = getHeapStatistics();
  return { usedBytes: used_heap_size, totalBytes: total_heap_size, externalBytes: external_memory };
}

/** Returns the memory of array buffers, which is part of `externalBytes`; 0 where it can't be read now. */
export function bufferBytes(): number {
  try {
    return process.memoryUsage().arrayBuffers;
  } catch {
    return 0;
  }
}
