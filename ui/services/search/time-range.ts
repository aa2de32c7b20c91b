/** Time ranges as the address and the picker write them: ISO times, `now` and date maths such as `now-15m/m`. */

export interface TimeRange {
  /** ISO 8601 or date maths. */
  readonly from: string;
  readonly to: string;
}

/** A range in ms since 1970-01-01 UTC; `toMs` is exclusive. */
export interface ResolvedRange {
  readonly fromMs: number;
  readonly toMs: number;
}

export const DEFAULT_RANGE: TimeRange = { from: "now-15m", to: "now" };

const MATHS = /^now((?:[+-]\d{1,6}[smhdwMy])*)(?:\/([smhdwMy]))?$/;
const STEP = /([+-])(\d+)([smhdwMy])/g;

/** Returns ms since 1970 of an ISO time or date maths, roundings in the browser's zone; undefined for anything else. */
export function resolveTime(text: string, nowMs: number): number | undefined {
  const maths = MATHS.exec(text);
  if (maths === null) {
    const atMs = /^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN;
    return Number.isNaN(atMs) ? undefined : atMs;
  }
  const date = new Date(nowMs);
  for (const [, sign, amount, unit] of maths[1]!.matchAll(STEP))
    shift(date, (sign === "-" ? -1 : 1) * Number(amount), unit!);
  if (maths[2] !== undefined) floor(date, maths[2]);
  const atMs = date.getTime();
  return Number.isNaN(atMs) ? undefined : atMs;
}

/** Returns the range in ms; undefined if an end can't be read or the end isn't after the start. */
export function resolveRange(range: TimeRange, nowMs: number): ResolvedRange | undefined {
  const fromMs = resolveTime(range.from, nowMs);
  const toMs = resolveTime(range.to, nowMs);
  if (fromMs === undefined || toMs === undefined || toMs <= fromMs) return undefined;
  return { fromMs, toMs };
}

/** Returns true if the range moves with the clock. */
export function isRelative(range: TimeRange): boolean {
  return range.from.startsWith("now") || range.to.startsWith("now");
}

/** Returns a fixed range. */
export function absoluteRange(fromMs: number, toMs: number): TimeRange {
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
}

/** Returns the range moved by its own length, -1 back or 1 ahead, or made `zoom` times as long around its middle. */
export function moveRange(range: ResolvedRange, direction: -1 | 0 | 1, zoom = 1): TimeRange {
  const lengthMs = range.toMs - range.fromMs;
  const middleMs = range.fromMs + lengthMs / 2 + direction * lengthMs;
  const halfMs = Math.max(500, (lengthMs * zoom) / 2);
  return absoluteRange(Math.round(middleMs - halfMs), Math.round(middleMs + halfMs));
}

function shift(date: Date, amount: number, unit: string): void {
  if (unit === "s") date.setTime(date.getTime() + amount * 1_000);
  else if (unit === "m") date.setTime(date.getTime() + amount * 60_000);
  else if (unit === "h") date.setTime(date.getTime() + amount * 3_600_000);
  else if (unit === "d") date.setDate(date.getDate() + amount);
  else if (unit === "w") date.setDate(date.getDate() + amount * 7);
  else if (unit === "M") date.setMonth(date.getMonth() + amount);
  else date.setFullYear(date.getFullYear() + amount);
}

function floor(date: Date, unit: string): void {
  date.setMilliseconds(0);
  if (unit === "s") return;
  date.setSeconds(0);
  if (unit === "m") return;
  date.setMinutes(0);
  if (unit === "h") return;
  date.setHours(0);
  if (unit === "w") date.setDate(date.getDate() - ((date.getDay() + 6) % 7));
  if (unit === "M" || unit === "y") date.setDate(1);
  if (unit === "y") date.setMonth(0);
}
