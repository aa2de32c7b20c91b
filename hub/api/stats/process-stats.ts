/** The machine and this process, in the words of `_nodes/stats`. */

import { readdirSync } from "node:fs";
import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import type { JsonObject } from "#proto/kit/json.ts";
import { bufferBytes, heapMemory, residentBytes } from "#proto/kit/process-memory.ts";

export function osFigures(): JsonObject {
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  return {
    timestamp: Date.now(),
    cpu: {
      percent: Math.min(100, Math.round((one / availableParallelism()) * 100)),
      load_average: { "1m": one, "5m": five, "15m": fifteen },
    },
    mem: memoryFigures(),
  };
}

export function memoryFigures(): JsonObject {
  const [total, free] = [totalmem(), freemem()];
  const freePercent = Math.round((free / total) * 100);
  return {
    total_in_bytes: total,
    free_in_bytes: free,
    used_in_bytes: total - free,
    free_percent: freePercent,
    used_percent: 100 - freePercent,
  };
}

export function processFigures(): JsonObject {
  const { user, system } = process.cpuUsage();
  return {
    timestamp: Date.now(),
    cpu: { total_in_millis: Math.round((user + system) / 1_000) },
    mem: { total_virtual_in_bytes: residentBytes() },
  };
}

/** Names as clients of 6.5 look for them, of a Java machine; the heap is that of JavaScript, direct buffers are array buffers. */
export function runtimeFigures(): JsonObject {
  const { usedBytes, totalBytes, externalBytes } = heapMemory();
  const buffers = bufferBytes();
  const noBuffers = { count: 0, used_in_bytes: 0, total_capacity_in_bytes: 0 };
  return {
    timestamp: Date.now(),
    uptime_in_millis: Math.round(process.uptime() * 1_000),
    mem: {
      heap_used_in_bytes: usedBytes,
      heap_used_percent: Math.round((usedBytes / totalBytes) * 100),
      heap_committed_in_bytes: totalBytes,
      heap_max_in_bytes: totalBytes,
      non_heap_used_in_bytes: externalBytes,
      non_heap_committed_in_bytes: externalBytes,
    },
    threads: { count: threadCount(), peak_count: threadCount() },
    buffer_pools: {
      // How many there are isn't counted.
      direct: { count: 0, used_in_bytes: buffers, total_capacity_in_bytes: buffers },
      mapped: noBuffers,
    },
  };
}

/** Threads of this process; 1 where the system doesn't tell. */
export function threadCount(): number {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return 1;
  }
}
