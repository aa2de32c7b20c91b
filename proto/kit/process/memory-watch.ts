/**
 * Logs that memory runs short before the process is killed: beyond the limit of its control group the kernel
 * kills a process without a message (cgroup v2 memory.max, v1 memory.limit_in_bytes). The measure is the working set: the
 * group's memory less the file pages that the kernel would give back first, as container platforms count it.
 */

import { readFileSync } from "node:fs";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { MIB } from "#proto/kit/units.ts";

export interface MemoryWatchOptions {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** First word of the metrics' names after the product's, "hub". */
  readonly part: string;
  /** Returns the text of a file, undefined if it can't be read; tests give their own. */
  readonly read?: (path: string) => string | undefined;
}

/** Use and limit of the control group, bytes. */
export interface GroupMemory {
  readonly used: number;
  readonly limit: number;
}

const LOOK_EVERY_MS = 2_000;
/** Shares of the limit: a warning is logged above the first, and again only after a fall below the second. */
const SHORT = 0.9;
const RELIEVED = 0.8;
/** A group without a limit has a value near 2^63 (v1) or "max" (v2). */
const NO_LIMIT = 2 ** 60;

export class MemoryWatch implements Component {
  readonly #options: MemoryWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #short = false;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** Does nothing if there is no limit. */
  start(): Promise<void> {
    const { metrics, part } = this.#options;
    if (this.#look() === undefined) return Promise.resolve();
    metrics.gauge(
      `tailrace_${part}_memory_limit_share`,
      "Working set of the control group as a share of its limit, 0 to 1.",
      [],
      (gauge) => gauge.set(this.#share()),
    );
    this.#timer = setInterval(() => this.check(), LOOK_EVERY_MS);
    this.#timer.unref();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  /** Measures once; logs a warning where memory has become short. */
  check(): void {
    const memory = this.#look();
    if (memory === undefined) return;
    const share = memory.used / memory.limit;
    if (share >= SHORT && !this.#short) this.#warn(memory);
    if (share >= SHORT || share < RELIEVED) this.#short = share >= SHORT;
  }

  #share(): number {
    const memory = this.#look();
    return memory === undefined ? 0 : memory.used / memory.limit;
  }

  #look(): GroupMemory | undefined {
    return readGroupMemory(this.#options.read ?? readText);
  }

  #warn({ used, limit }: GroupMemory): void {
    this.#options.log.error(
      { usedBytes: used, limitBytes: limit },
      `${Math.round(used / MIB)} MiB of the ${Math.round(limit / MIB)} MiB of memory that this container or service ` +
        "may use are taken; beyond them the kernel ends it without a message, so raise the memory value",
    );
  }
}

/** Returns the memory of this process's control group; undefined if it has no limit or can't be read. */
export function readGroupMemory(read: (path: string) => string | undefined): GroupMemory | undefined {
  const lines = (read("/proc/self/cgroup") ?? "").split("\n");
  const old = lines.find((line) => /^\d+:([^:]*,)?memory(,[^:]*)?:/.test(line));
  const group = (old ?? lines.find((line) => line.startsWith("0::")))?.split(":").slice(2).join(":");
  if (group === undefined) return undefined;
  const names = old === undefined ? UNIFIED : SEPARATE;
  // Inside a container the group is mounted as the root, and its path is that of the host.
  for (const folder of [`${names.root}${group === "/" ? "" : group}`, names.root]) {
    const limit = figure(read(`${folder}/${names.limit}`));
    const total = figure(read(`${folder}/${names.total}`));
    if (limit === undefined || total === undefined || limit >= NO_LIMIT) continue;
    const given = new RegExp(`^${names.idle} (\\d+)$`, "m").exec(read(`${folder}/memory.stat`) ?? "")?.[1];
    return { limit, used: Math.max(0, total - Number(given ?? 0)) };
  }
  return undefined;
}

/** Files of cgroup v2 (Documentation/admin-guide/cgroup-v2.rst of the kernel). */
const UNIFIED = {
  root: "/sys/fs/cgroup",
  limit: "memory.max",
  total: "memory.current",
  idle: "inactive_file",
};
/** Files of cgroup v1 (Documentation/admin-guide/cgroup-v1/memory.rst). */
const SEPARATE = {
  root: "/sys/fs/cgroup/memory",
  limit: "memory.limit_in_bytes",
  total: "memory.usage_in_bytes",
  idle: "total_inactive_file",
};

function figure(text: string | undefined): number | undefined {
  return text !== undefined && /^\d+\s*$/.test(text) ? Number(text) : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
