/** Rounding of times down to calendar units or fixed intervals, in a time zone. */

import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";

export type CalendarUnit = "second" | "minute" | "hour" | "day" | "week" | "month" | "quarter" | "year";

/** Fixed length of units that have one. */
const UNIT_MS: Readonly<Partial<Record<CalendarUnit, number>>> = {
  second: 1_000,
  minute: 60_000,
  hour: HOUR_MS,
};

const CALENDAR: Readonly<Record<string, CalendarUnit>> = {
  second: "second",
  "1s": "second",
  minute: "minute",
  "1m": "minute",
  hour: "hour",
  "1h": "hour",
  day: "day",
  "1d": "day",
  week: "week",
  "1w": "week",
  month: "month",
  "1M": "month",
  quarter: "quarter",
  "1q": "quarter",
  year: "year",
  "1y": "year",
};

/** Returns the calendar unit of "1d", "day" …, or undefined. */
export function calendarUnit(text: string): CalendarUnit | undefined {
  return Object.hasOwn(CALENDAR, text) ? CALENDAR[text] : undefined;
}

/** Returns true for seconds, minutes and hours, whose length is always the same. */
export function isShort(unit: CalendarUnit): boolean {
  return UNIT_MS[unit] !== undefined;
}

/** Rounds times (ms UTC) down to the start of their bucket. */
export interface Rounding {
  /** Start of the bucket that holds the time. */
  floor(utcMs: number): number;
  /** Start of the bucket after the one that starts at `bucketMs`. */
  next(bucketMs: number): number;
}

/**
 * Buckets of `intervalMs` (at least 1) counted in local time. Those of the hours that are repeated in autumn are different
 * buckets, as in 6.5; a bucket that would begin in the hour that is skipped in spring begins with the change.
 */
export function fixedRounding(intervalMs: number, zone: TimeZone): Rounding {
  if (!(intervalMs >= 1))
    throw new AppError("request_invalid", "[interval] must be 1 or greater for histogram aggregation");
  const { fixedMs } = zone;
  if (fixedMs === undefined) return localRounding(intervalMs, zone);
  return {
    floor: (utcMs) => Math.floor((utcMs + fixedMs) / intervalMs) * intervalMs - fixedMs,
    next: (bucketMs) => bucketMs + intervalMs,
  };
}

function localRounding(intervalMs: number, zone: TimeZone): Rounding {
  const floorOf = (localMs: number): number => Math.floor(localMs / intervalMs) * intervalMs;
  /** Whether a local time is skipped by a change. */
  const isSkipped = (localMs: number, changeMs: number): boolean =>
    localMs - zone.offsetAt(changeMs - 1) >= changeMs;
  const floor = (utcMs: number): number => {
    const offset = zone.offsetAt(utcMs);
    const local = floorOf(utcMs + offset);
    const start = local - offset;
    if (zone.offsetAt(start) === offset) return start;
    const changeMs = zone.changeBetween(start, utcMs);
    return isSkipped(local, changeMs) ? changeMs : floor(changeMs - 1);
  };
  const next = (bucketMs: number): number => {
    const offset = zone.offsetAt(bucketMs);
    const end = floorOf(bucketMs + offset) + intervalMs - offset;
    if (zone.offsetAt(end) === offset) return end;
    const changeMs = zone.changeBetween(bucketMs, end);
    const changed = zone.toLocal(changeMs);
    if (isSkipped(floorOf(changed), changeMs)) return changeMs;
    return changeMs + Math.ceil(changed / intervalMs) * intervalMs - changed;
  };
  return { floor, next };
}

/** Buckets of one calendar unit in local time. */
export function calendarRounding(unit: CalendarUnit, zone: TimeZone): Rounding {
  const fixed = UNIT_MS[unit];
  if (fixed !== undefined) return shortRounding(fixed, zone);
  return {
    floor: (utcMs) => zone.toUtc(floorLocal(zone.toLocal(utcMs), unit)),
    next: (bucketMs) => zone.toUtc(addUnits(floorLocal(zone.toLocal(bucketMs), unit), unit, 1)),
  };
}

/** Seconds to hours: the offset in force counts, so that the hour repeated in autumn is two buckets. */
function shortRounding(unitMs: number, zone: TimeZone): Rounding {
  const floor = (utcMs: number): number => {
    const offset = zone.offsetAt(utcMs);
    return Math.floor((utcMs + offset) / unitMs) * unitMs - offset;
  };
  return { floor, next: (bucketMs) => floor(bucketMs + unitMs) };
}

/** Start of the unit, a day or longer, that holds a local time (ms as if it were UTC). */
function floorLocal(localMs: number, unit: CalendarUnit): number {
  const date = new Date(localMs);
  date.setUTCHours(0, 0, 0, 0);
  if (unit === "week") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (unit === "month") date.setUTCDate(1);
  if (unit === "quarter") date.setUTCMonth(Math.floor(date.getUTCMonth() / 3) * 3, 1);
  if (unit === "year") date.setUTCMonth(0, 1);
  return date.getTime();
}

/** A local time moved by units; the last day of a month stays within its month. */
export function addUnits(localMs: number, unit: CalendarUnit, amount: number): number {
  const fixed = UNIT_MS[unit];
  if (fixed !== undefined) return localMs + amount * fixed;
  if (unit === "day" || unit === "week") return localMs + amount * (unit === "day" ? DAY_MS : 7 * DAY_MS);
  const months = amount * (unit === "month" ? 1 : unit === "quarter" ? 3 : 12);
  const date = new Date(localMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}
