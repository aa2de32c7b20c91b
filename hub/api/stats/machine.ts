/** The machine, the disk of the data folder and this process, as `_nodes/stats` and `_cat` show them. */

import { readdirSync, readFileSync, realpathSync, statfsSync } from "node:fs";
import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import type { JsonObject } from "#proto/kit/json.ts";
import { bufferBytes, heapMemory, residentBytes } from "#proto/kit/process/process-memory.ts";

/** Sizes of a file system, bytes, under the names in answers. */
export interface DiskUsage {
  readonly total_in_bytes: number;
  readonly free_in_bytes: number;
  /** Without the part that is reserved for root. */
  readonly available_in_bytes: number;
}

/** Returns the usage of the file system of `folder`. */
export function diskUsage(folder: string): DiskUsage {
  const { bsize, blocks, bfree, bavail } = statfsSync(folder);
  return { total_in_bytes: blocks * bsize, free_in_bytes: bfree * bsize, available_in_bytes: bavail * bsize };
}

/** Returns the columns of the disk that tables share. */
export function diskCells(folder: string): Record<`disk.${string}`, { readonly bytes: number }> & {
  readonly usedShare: number;
} {
  const { total_in_bytes: total, free_in_bytes: free, available_in_bytes: available } = diskUsage(folder);
  return {
    "disk.used": { bytes: total - free },
    "disk.avail": { bytes: available },
    "disk.total": { bytes: total },
    usedShare: (total - free) / total,
  };
}

/** Mount point of a file system and its type ("ext4"); empty if the system has no list of mounts. */
export interface Mount {
  readonly mount?: string;
  readonly type?: string;
}

/** Returns the mount of `folder`. */
export function mountOf(folder: string): Mount {
  try {
    const path = `${realpathSync(folder)}/`;
    const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
    const within = mounts
      .map((line) => line.split(" "))
      .filter(([, mount = ""]) => path.startsWith(mount === "/" ? mount : `${mount}/`))
      .map(([, mount = "", type = ""]) => ({ mount, type }));
    return within.reduce((best, each) => (each.mount.length >= best.mount.length ? each : best), {
      mount: "",
      type: "",
    });
  } catch {
    return {};
  }
}

/** File descriptors of this process; -1 if the system doesn't list them. */
export function fileDescriptors(): { readonly current: number; readonly max: number } {
  try {
    const [, max] = /Max open files\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
    return { current: readdirSync("/proc/self/fd").length, max: Number(max ?? -1) };
  } catch {
    return { current: -1, max: -1 };
  }
}

/** Returns the threads of this process; 1 if the system doesn't list them. */
export function threadCount(): number {
  try {
    return readdirSync("/proc/self/task").length;
  } catch {
    return 1;
  }
}

export function osStats(): JsonObject {
  const [one = 0, five = 0, fifteen = 0] = loadavg();
  return {
    timestamp: Date.now(),
    cpu: {
      percent: Math.min(100, Math.round((one / availableParallelism()) * 100)),
      load_average: { "1m": one, "5m": five, "15m": fifteen },
    },
    mem: memoryStats(),
  };
}

export function memoryStats(): JsonObject {
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

/** Shortest time over which a share is measured, ms: the system counts CPU time in steps of some milliseconds. */
const LEAST_MS = 500;

/** The share of the machine's processors that the process took since the share was asked for before. */
export class CpuShare {
  #atMs = 0;
  #usedMs = 0;
  #percent = 0;

  /** Returns 0..100. `nowMs`, `usedMs`: time and CPU time since the start of the process. */
  percent(nowMs: number, usedMs: number, processors: number): number {
    const elapsedMs = nowMs - this.#atMs;
    if (elapsedMs < LEAST_MS) return this.#percent;
    const share = (usedMs - this.#usedMs) / (elapsedMs * processors);
    this.#percent = Math.min(100, Math.round(100 * share));
    this.#atMs = nowMs;
    this.#usedMs = usedMs;
    return this.#percent;
  }
}

const cpuShare = new CpuShare();

export function processStats(): JsonObject {
  const { user, system } = process.cpuUsage();
  const usedMs = (user + system) / 1_000;
  const { current, max } = fileDescriptors();
  return {
    timestamp: Date.now(),
    open_file_descriptors: current,
    max_file_descriptors: max,
    cpu: {
      percent: cpuShare.percent(1_000 * process.uptime(), usedMs, availableParallelism()),
      total_in_millis: Math.round(usedMs),
    },
    mem: { total_virtual_in_bytes: residentBytes() },
  };
}

/**
 * Returns the statistics of the runtime under the names of 6.5's JVM statistics: the heap is V8's, direct buffers are array
 * buffers.
 */
export function runtimeStats(): JsonObject {
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
      // Buffers aren't counted individually.
      direct: { count: 0, used_in_bytes: buffers, total_capacity_in_bytes: buffers },
      mapped: noBuffers,
    },
  };
}
