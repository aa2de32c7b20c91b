/** Counts with dates of scripts: units between two, dates moved by units, dates cut to a unit. */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Method, type Methods, ScriptObject, whole } from "#hub/scripts/values/values.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { CONSTANT_METHODS, Constant } from "./date-constants.ts";
import { checkedTime } from "./date-fields.ts";
import { type Moment, nanosOf, timeOf } from "./moment.ts";

/** Milliseconds of units that always take the same time. */
const UNITS: Readonly<Record<string, number>> = {
  NANOS: 1e-6,
  MICROS: 1e-3,
  MILLIS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: HOUR_MS,
  HALF_DAYS: DAY_MS / 2,
  DAYS: DAY_MS,
  WEEKS: 7 * DAY_MS,
};
export const NANOS_A_MS = 1_000_000;
const MONTHS_OF: Readonly<Record<string, number>> = { MONTHS: 1, YEARS: 12, DECADES: 120, CENTURIES: 1200 };

const UNIT_METHODS: Methods = new Map<string, Method>([
  ...CONSTANT_METHODS,
  ["between", (self: Constant, [from, to]) => unitsBetween(self.name, from, to)],
]);

export const CHRONO_UNITS: ReadonlyMap<string, Constant> = new Map(
  [...Object.keys(UNITS), ...Object.keys(MONTHS_OF)].map((name, at) => [
    name,
    new Constant("ChronoUnit", name, at, UNIT_METHODS),
  ]),
);

/** Returns the time from one moment to another in ms, with what is beyond them. Throws ClassCastException. */
export function msBetween(from: unknown, to: unknown): number {
  return timeOf(to) - timeOf(from) + (nanosOf(to) - nanosOf(from)) / NANOS_A_MS;
}

/** Returns the full units of ChronoUnit from one moment to another. Throws ClassCastException. */
export function unitsBetween(unit: string, from: unknown, to: unknown): number | bigint {
  const [fromMs, toMs] = [timeOf(from), timeOf(to)];
  const length = UNITS[unit];
  if (length !== undefined && length < 1) {
    const nanos = BigInt(toMs - fromMs) * BigInt(NANOS_A_MS) + BigInt(nanosOf(to) - nanosOf(from));
    return whole(nanos / BigInt(Math.round(length * NANOS_A_MS)));
  }
  if (length !== undefined) return Math.trunc(msBetween(from, to) / length);
  const [first, last] = [new Date(fromMs), new Date(toMs)];
  const months =
    (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  const full =
    shiftMonths(fromMs, months) > toMs === months > 0 && shiftMonths(fromMs, months) !== toMs
      ? months - Math.sign(months)
      : months;
  return Math.trunc(full / (MONTHS_OF[unit] ?? 1));
}

/** Returns the full months between two dates. Throws ClassCastException. */
export function monthsBetween(from: unknown, to: unknown): number {
  return Number(unitsBetween("MONTHS", from, to));
}

function shiftMonths(timeMs: number, months: number): number {
  const date = new Date(timeMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

/** Moves by calendar months, keeping the wall clock's time. */
export function plusMonths(self: Moment, months: number): Moment {
  const local = shiftMonths(self.local.getTime(), months);
  return self.at(self.zone.toUtc(checkedTime(local)));
}

function plusMs(self: Moment, ms: number): Moment {
  return self.at(self.timeMs + ms);
}

function plusNanos(self: Moment, count: number): Moment {
  const nanos = self.nanos + (count % NANOS_A_MS);
  const carried = Math.trunc(count / NANOS_A_MS) + Math.floor(nanos / NANOS_A_MS);
  return self.at(self.timeMs + carried, nanos - Math.floor(nanos / NANOS_A_MS) * NANOS_A_MS);
}

/** Changes the wall clock's time of a date. */
export function withLocal(self: Moment, change: (local: Date) => void): Moment {
  const { local } = self;
  change(local);
  return self.at(self.zone.toUtc(checkedTime(local.getTime())));
}

/** Returns the days of the month of a date. */
export function daysOfMonth(local: Date): number {
  return new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
}

/** Returns the day of the year of a date, from 1. */
export function dayOfYear(local: Date): number {
  return Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
}

/** What `plusYears` and the like do, and `minusYears` with the opposite count. */
export const PLUS: Readonly<Record<string, (self: Moment, count: number) => Moment>> = {
  Years: (self, count) => plusMonths(self, count * 12),
  Months: (self, count) => plusMonths(self, count),
  Weeks: (self, count) => withLocal(self, (local) => local.setUTCDate(local.getUTCDate() + 7 * count)),
  Days: (self, count) => withLocal(self, (local) => local.setUTCDate(local.getUTCDate() + count)),
  Hours: (self, count) => plusMs(self, count * HOUR_MS),
  Minutes: (self, count) => plusMs(self, count * 60_000),
  Seconds: (self, count) => plusMs(self, count * 1000),
  Millis: (self, count) => plusMs(self, count),
  Nanos: plusNanos,
};

/** Returns a date plus a length of time or a number of units. Throws ClassCastException. */
export function plusUnit(self: Moment, [count, unit]: readonly unknown[], sign: number): Moment {
  if (count instanceof ScriptObject) return plusNanos(self, Number(count.valueOf()) * NANOS_A_MS * sign);
  const name = String(unit);
  const by = toInteger(count) * sign;
  const months = MONTHS_OF[name];
  if (months !== undefined) return plusMonths(self, by * months);
  const length = UNITS[name] ?? 0;
  return length < 1 ? plusNanos(self, by * Math.round(length * NANOS_A_MS)) : plusMs(self, by * length);
}

/** Returns a date without what is smaller than a unit. Throws UnsupportedOperationException for more than a day. */
export function truncated(self: Moment, unit: string): Moment {
  const length = UNITS[unit];
  if (length === undefined || length > DAY_MS)
    throw new ScriptException("UnsupportedOperationException", "Unit is too large to be used for truncation");
  const local = self.local.getTime();
  return self.at(self.zone.toUtc(Math.floor(local / length) * length), 0);
}
