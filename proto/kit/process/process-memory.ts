/** Memory of this process and thread. The resident memory is also available when no file descriptor is left to read it. */

import { readFileSync } from "node:fs";
import { getHeapStatistics } from "node:v8";
import { keptBytes } from "#proto/kit/large-bytes.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { KIB } from "#proto/kit/units.ts";

/** Returns the resident memory, bytes; 0 if it can't be read now. */
export function residentBytes(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}

/**
 * Returns the resident memory, and the part of it that is pages of files, such as the program: other processes share them, and
 * the system takes them back when it needs memory. Bytes; 0 where the system doesn't provide it.
 */
export function residentParts(): { readonly resident: number; readonly resident_files: number } {
  return { resident: residentBytes(), resident_files: fileBytes() };
}

function fileBytes(): number {
  try {
    const kib = /^RssFile:\s+(\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1];
    return Number(kib ?? 0) * KIB;
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

/** Returns the memory of array buffers, which is part of `externalBytes`; 0 if it can't be read now. */
export function bufferBytes(): number {
  try {
    return process.memoryUsage().arrayBuffers;
  } catch {
    return 0;
  }
}

/**
 * Exports the memory of the calling thread by part as `tailrace_<thread>_memory_bytes`. `others`: further parts, bytes.
 * "heap" is what objects take, "heap_free" what the engine keeps for more, "external" the memory outside of it except
 * buffers, "kept_buffers" the memory of large messages that the next ones use.
 */
export function exportMemory(
  metrics: Metrics,
  thread: "hub" | "host",
  others: () => Readonly<Record<string, number>>,
): void {
  const help = "Memory of the process that serves requests, or of all threads of shards, by part.";
  metrics.gauge(`tailrace_${thread}_memory_bytes`, help, ["part"], (gauge) => {
    const { usedBytes, totalBytes, externalBytes } = heapMemory();
    const [buffers, kept] = [bufferBytes(), keptBytes()];
    const parts = {
      heap: usedBytes,
      heap_free: totalBytes - usedBytes,
      buffers: Math.max(0, buffers - kept),
      kept_buffers: kept,
      external: Math.max(0, externalBytes - buffers),
      ...others(),
    };
    for (const [part, bytes] of Object.entries(parts)) gauge.set({ part }, bytes);
  });
}
