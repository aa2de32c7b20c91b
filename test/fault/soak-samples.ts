/** What a long run measures of its processes, and the slope of each series. */

import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { systemClock } from "#proto/kit/clock.ts";
import { KIB, MIB } from "#proto/kit/units.ts";

/** A measured quantity over the run. */
export class Series {
  readonly name: string;
  readonly unit: string;
  /** Greatest growth over the measured part of the run that counts as none, in `unit`. */
  readonly allowed: number;
  readonly points: { readonly atMs: number; readonly value: number }[] = [];
  readonly #read: () => number | Promise<number>;

  constructor(name: string, unit: string, allowed: number, read: () => number | Promise<number>) {
    this.name = name;
    this.unit = unit;
    this.allowed = allowed;
    this.#read = read;
  }

  /** Measures once; `startMs` is the run's begin on the monotonic clock. */
  async sample(startMs: number): Promise<void> {
    const value = await this.#read();
    this.points.push({ atMs: systemClock.monotonic() - startMs, value });
  }

  /** Returns the line of least squares through the points from `fromMs` on. */
  trend(fromMs: number): Trend {
    const points = this.points.filter(({ atMs }) => atMs >= fromMs);
    const mean = (of: (point: { atMs: number; value: number }) => number): number =>
      points.reduce((sum, point) => sum + of(point), 0) / Math.max(1, points.length);
    const [atMs, value] = [mean((point) => point.atMs), mean((point) => point.value)];
    const spread = mean((point) => (point.atMs - atMs) ** 2);
    const perMs = spread === 0 ? 0 : mean((point) => (point.atMs - atMs) * (point.value - value)) / spread;
    const lastMs = points.at(-1)?.atMs ?? fromMs;
    const at = (ms: number): number => value + perMs * (ms - atMs);
    return { fromMs, lastMs, first: at(fromMs), last: at(lastMs), growth: at(lastMs) - at(fromMs) };
  }
}

/** A straight line through a series; values in the series' unit. */
export interface Trend {
  readonly fromMs: number;
  readonly lastMs: number;
  readonly first: number;
  readonly last: number;
  readonly growth: number;
}

/** Returns the series of a process: resident memory, descriptors but those of segments, threads. `pid` is asked each time. */
export function processSeries(name: string, pid: () => number, allowedMiB: number): Series[] {
  return [
    new Series(`${name}: resident memory`, "MiB", allowedMiB, () => (statusOf(pid(), "VmRSS") * KIB) / MIB),
    new Series(
      `${name}: descriptors`,
      "",
      8,
      () => openFiles(pid()).filter((path) => !isSegment(path)).length,
    ),
    new Series(`${name}: threads`, "", 2, () => statusOf(pid(), "Threads")),
  ];
}

/**
 * Returns the open files of segments: their number goes up and down by some ten with merges, and each scroll keeps those of its
 * time open for half a minute.
 */
export function segmentSeries(pid: () => number): Series {
  return new Series("hub: open segments", "", 40, () => openFiles(pid()).filter(isSegment).length);
}

function isSegment(path: string): boolean {
  return /\.seg\b/.test(path);
}

/** Returns what the descriptors of a process stand for. */
function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      return []; // it was closed meanwhile
    }
  });
}

/** Returns a number of /proc/<pid>/status; memory is in KiB. */
function statusOf(pid: number, field: string): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${field}:\\s+(\\d+)`, "m").exec(text)?.[1]);
}
