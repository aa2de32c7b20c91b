/** How a chart's numbers are drawn and written: scale, unit and limits. The address has `scale=log&unit=bytes&limits=10,50`. */

import { formatBytes, formatMeasure, formatScale, formatSeconds } from "#ui/services/text/format.ts";

/** What a chart's numbers are of; "": plain numbers. `share`: 0 to 1, written in percent. */
export const UNITS = ["", "bytes", "ms", "seconds", "percent", "share"] as const;
export type Unit = (typeof UNITS)[number];

export interface ChartLook {
  readonly isLog: boolean;
  readonly unit: Unit;
  /** Ascending; above the first a number is a warning, above the second an error. */
  readonly limits: readonly number[];
}

export const DEFAULT_LOOK: ChartLook = { isLog: false, unit: "", limits: [] };
/** A warning, an error. */
const MAX_LIMITS = 2;
const SECOND_MS = 1_000;

/** Returns the look that an address describes; invalid parts are left out. */
export function readLook(parameters: URLSearchParams): ChartLook {
  const unit = UNITS.find((one) => one === parameters.get("unit")) ?? "";
  return {
    isLog: parameters.get("scale") === "log",
    unit,
    limits: readLimits(parameters.get("limits") ?? ""),
  };
}

/** Returns the limits of a text such as `10, 50`; what isn't a number is left out. */
export function readLimits(text: string): readonly number[] {
  return text
    .split(/[,\s]+/)
    .filter((part) => part !== "")
    .map(Number)
    .filter(Number.isFinite)
    .slice(0, MAX_LIMITS)
    .toSorted((a, b) => a - b);
}

/** Writes a look into an address, defaults left out. */
export function writeLook({ isLog, unit, limits }: ChartLook, parameters: URLSearchParams): void {
  if (isLog) parameters.set("scale", "log");
  if (unit !== "") parameters.set("unit", unit);
  if (limits.length > 0) parameters.set("limits", limits.join(","));
}

/** Returns how many limits a number is above: 0, 1 a warning, 2 an error. */
export function severityOf(value: number, limits: readonly number[]): number {
  const above = limits.filter((limit) => value > limit).length;
  return above === 0 ? 0 : limitSeverity(above - 1, limits);
}

/** Returns what a number above the limit at `at` is: 1 a warning, 2 an error. The only limit there is means an error. */
export function limitSeverity(at: number, limits: readonly number[]): number {
  return limits.length === 1 ? MAX_LIMITS : at + 1;
}

/** `1.4 MB`, `2.5 s`, `12.5 %`, `12,345` */
export function formatValue(value: number, unit: Unit): string {
  if (unit === "bytes") return formatBytes(value);
  if (unit === "ms") return Math.abs(value) < SECOND_MS ? `${formatMeasure(value)} ms` : formatSeconds(value);
  if (unit === "seconds") return `${formatMeasure(value)} s`;
  if (unit === "percent") return `${formatMeasure(value)} %`;
  return unit === "share" ? `${formatMeasure(value * 100)} %` : formatMeasure(value);
}

/** Returns a number for an axis: shorter than its text elsewhere. */
export function formatAxis(value: number, unit: Unit): string {
  if (unit === "" || unit === "seconds") return `${formatScale(value)}${unit === "" ? "" : " s"}`;
  if (unit === "percent" || unit === "share")
    return `${formatScale(unit === "share" ? value * 100 : value)} %`;
  return formatValue(value, unit);
}

/** A scale of numbers: where a number lies between the lowest (0) and the highest (1), and its ticks. */
export interface ValueScale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** Returns a scale from 0, or the lowest number below it, to a round number above the highest. */
export function linearScale(values: readonly number[], heightPx: number): ValueScale {
  const isWhole = values.every(Number.isInteger);
  const ticks = niceTicks(
    Math.min(0, ...values),
    Math.max(0, ...values),
    Math.max(2, Math.floor(heightPx / 48)),
    isWhole ? 1 : 0,
  );
  const low = ticks[0]!;
  return { at: (value) => (value - low) / (ticks.at(-1)! - low), ticks };
}

/** Powers of ten that an axis has at most, on each side of zero. */
const MAX_POWERS = 6;

/**
 * Returns a logarithmic scale that shows zero and negative numbers too: linear below the smallest number there is, at
 * most at 1.
 */
export function logScale(values: readonly number[]): ValueScale {
  const sizes = values.map(Math.abs).filter((size) => size > 0);
  const smallest = sizes.length === 0 ? 1 : 10 ** Math.floor(Math.log10(Math.min(1, ...sizes)));
  const placed = (value: number): number => Math.asinh(value / smallest);
  const high = Math.max(smallest, ...values);
  const low = Math.min(0, ...values);
  const ticks = [
    ...powers(-low, smallest)
      .map((power) => -power)
      .toReversed(),
    0,
    ...powers(high, smallest),
  ];
  const [bottom, top] = [placed(low), placed(Math.max(high, ticks.at(-1)!))];
  return { at: (value) => (placed(value) - bottom) / (top - bottom), ticks };
}

/** Returns powers of ten up to `limit`, few enough for an axis. */
function powers(limit: number, smallest: number): number[] {
  if (limit < smallest) return [];
  const first = Math.round(Math.log10(smallest));
  const last = Math.floor(Math.log10(limit));
  const every = Math.ceil((last - first + 1) / MAX_POWERS);
  const found: number[] = [];
  for (let power = last; power >= first; power -= every) found.unshift(Number((10 ** power).toPrecision(3)));
  return found;
}

/**
 * Returns about `count` round numbers that cover 0 (or `min` below it) to `max`; the last one is ≥ max. `minStep` is 1
 * where there is nothing between whole numbers.
 */
export function niceTicks(min: number, max: number, count: number, minStep = 0): number[] {
  const low = Math.min(0, min);
  const high = Math.max(max, low + Number.EPSILON, low === 0 && max <= 0 ? 1 : max);
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const step = Math.max(minStep, minStep === 1 ? Math.ceil(round) : round);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}
