/**
 * The memory of the caches that searches fill with parts of what is stored: one amount for a thread, of which each cache
 * has a share. The setting search.cache_memory bounds all threads of shards together.
 */

import { totalmem } from "node:os";
import { MIB } from "#proto/kit/units.ts";

/** Without a setting: a share of the memory that this process (its control group) may have, and bounds of it. */
const MEMORY_SHARE = 1 / 16;
const MIN_BYTES = 16 * MIB;
const MAX_BYTES = 256 * MIB;

/** Share of each cache. */
const SHARES = {
  /** Parts of segments' files: a search that misses one reads and unpacks it again. */
  files: 5 / 8,
  /** Sets of documents that conditions gave. */
  filters: 1 / 4,
  /** Results of requests without hits. */
  results: 1 / 8,
} as const;

let ofThread: number | undefined;

/** Bounds the caches of the calling thread, bytes together; to be called before they are used. 0: they keep nothing. */
export function limitCaches(bytes: number): void {
  ofThread = bytes;
}

/** Returns the bytes that a cache of the calling thread may hold. */
export function cacheLimit(cache: keyof typeof SHARES): number {
  return Math.floor((ofThread ??= usualCacheBytes()) * SHARES[cache]);
}

/** Returns what the caches of all threads get without a setting, bytes. `memory`: of this process. */
export function usualCacheBytes(memory = availableMemory()): number {
  return Math.min(MAX_BYTES, Math.max(MIN_BYTES, Math.floor(memory * MEMORY_SHARE)));
}

function availableMemory(): number {
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}
