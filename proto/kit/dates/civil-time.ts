/** From the fields of a written date to a time. */

import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";
import { findTimeZone, type TimeZone } from "./time-zone.ts";

/** The fields of a time that a text has. Missing ones are undefined, or have their first value. */
export interface DateFields {
  /** With `week`: the year that week belongs to. */
  year: number | undefined;
  isBeforeChrist: boolean;
  month: number;
  day: number;
  dayOfYear: number | undefined;
  /** ISO 8601: from Monday, the first has the year's first Thursday. */
  week: number | undefined;
  /** 1 (Monday) to 7; counts beside `week` alone. */
  weekday: number | undefined;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  isPm: boolean | undefined;
  offsetMs: number | undefined;
  /** Name of a zone, where the text has one. */
  zone: string | undefined;
}

/**
 * Returns the civil time as if it were UTC, ms; NaN if a field is out of range. `year`: the year where the text has
 * none.
 */
export function civilTime(fields: DateFields, year: number): number {
  const { minute, second, millisecond, isPm } = fields;
  const hour = isPm === undefined ? fields.hour : (fields.hour % 12) + (isPm ? 12 : 0);
  if (hour > 23 || minute > 59 || second > 59) return Number.NaN;
  return dayOf(fields, year) + hour * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + millisecond;
}

/** Returns the time in UTC of a civil time, ms; NaN if the text names a zone that doesn't exist. */
export function utcTime(fields: DateFields, civilMs: number, zone: TimeZone): number {
  if (fields.offsetMs !== undefined) return civilMs - fields.offsetMs;
  const named = fields.zone === undefined ? zone : findTimeZone(ZONE_NAMES[fields.zone] ?? fields.zone);
  return named === undefined ? Number.NaN : named.toUtc(civilMs);
}

/** Abbreviations in texts: each means the region that uses it, so that "EST" in July is an hour less, as Joda-Time reads it. */
const ZONE_NAMES: Readonly<Record<string, string>> = {
  EST: "America/New_York",
  EDT: "America/New_York",
  CST: "America/Chicago",
  CDT: "America/Chicago",
  MST: "America/Denver",
  MDT: "America/Denver",
  PST: "America/Los_Angeles",
  PDT: "America/Los_Angeles",
  AKST: "America/Anchorage",
  AKDT: "America/Anchorage",
  HST: "Pacific/Honolulu",
  AST: "America/Halifax",
  ADT: "America/Halifax",
  BRT: "America/Sao_Paulo",
  WET: "Europe/Lisbon",
  WEST: "Europe/Lisbon",
  BST: "Europe/London",
  CET: "Europe/Paris",
  CEST: "Europe/Paris",
  EET: "Europe/Bucharest",
  EEST: "Europe/Bucharest",
  MSK: "Europe/Moscow",
  SAST: "Africa/Johannesburg",
  IST: "Asia/Kolkata",
  SGT: "Asia/Singapore",
  HKT: "Asia/Hong_Kong",
  JST: "Asia/Tokyo",
  KST: "Asia/Seoul",
  AWST: "Australia/Perth",
  ACST: "Australia/Adelaide",
  ACDT: "Australia/Adelaide",
  AEST: "Australia/Sydney",
  AEDT: "Australia/Sydney",
  NZST: "Pacific/Auckland",
  NZDT: "Pacific/Auckland",
};

function dayOf(fields: DateFields, defaultYear: number): number {
  const said = fields.year ?? defaultYear;
  const year = fields.isBeforeChrist ? 1 - said : said;
  const { month, day, week, dayOfYear } = fields;
  if (week !== undefined) return dayOfWeek(year, week, fields.weekday ?? 1);
  if (dayOfYear === undefined) return startOfDay(year, month, day);
  const time = startOfDay(year, 1, 1) + (dayOfYear - 1) * DAY_MS;
  return dayOfYear >= 1 && time < startOfDay(year + 1, 1, 1) ? time : Number.NaN;
}

/** The day that was calculated last: events that follow one another mostly share it. */
const lastDay = { year: Number.NaN, month: 0, day: 0, ms: Number.NaN };

/** Returns ms since 1970-01-01 of a civil day's start; NaN if there is no such day. */
export function startOfDay(year: number, month: number, day: number): number {
  if (lastDay.day === day && lastDay.month === month && lastDay.year === year) return lastDay.ms;
  // Date.UTC takes the years 0..99 for 1900..1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = month >= 1 && month <= 12 && day >= 1 && date.getUTCDate() === day;
  lastDay.year = year;
  lastDay.month = month;
  lastDay.day = day;
  lastDay.ms = isReal ? date.getTime() : Number.NaN;
  return lastDay.ms;
}

function dayOfWeek(year: number, week: number, weekday: number): number {
  const monday = firstMonday(year) + (week - 1) * 7 * DAY_MS;
  const isReal = week >= 1 && weekday >= 1 && weekday <= 7 && isoWeek(monday).year === year;
  return isReal ? monday + (weekday - 1) * DAY_MS : Number.NaN;
}

/** Midnight of the Monday of a year's first week, ms. */
function firstMonday(year: number): number {
  const fourth = new Date(Date.UTC(year, 0, 4));
  return fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * DAY_MS;
}

/** Returns the ISO 8601 week of a time and the year that week belongs to. */
export function isoWeek(timeMs: number): { readonly week: number; readonly year: number } {
  const day = Math.floor(timeMs / DAY_MS);
  const weekday = (((day + 3) % 7) + 7) % 7;
  const thursday = day - weekday + 3;
  const year = new Date(thursday * DAY_MS).getUTCFullYear();
  const firstDay = Math.floor(Date.UTC(year, 0, 1) / DAY_MS);
  return { week: Math.floor((thursday - firstDay) / 7) + 1, year };
}
