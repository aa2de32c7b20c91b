/** Limits of dates and of their fields, as java.time has them. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { monthOfYear } from "./date-constants.ts";

/** Moments that a Date of the host can hold, less some days for zones, ms. */
const MAX_TIME_MS = 8.64e15 - 10 * DAY_MS;

/** Fields with the same limits in each month and year. */
const FIELDS = {
  MonthOfYear: [1, 12],
  HourOfDay: [0, 23],
  MinuteOfHour: [0, 59],
  SecondOfMinute: [0, 59],
  NanoOfSecond: [0, 999_999_999],
  SecondOfDay: [0, 86_399],
} as const;

/** Returns `timeMs`. Throws DateTimeException where no date is at that time, e.g. NaN. */
export function checkedTime(timeMs: number): number {
  if (Math.abs(timeMs) <= MAX_TIME_MS) return timeMs;
  throw new ScriptException("DateTimeException", "the date is too far from 1970, at most 270000 years");
}

/** Returns `value`. Throws DateTimeException where the field can't have it. */
export function checkedField(name: keyof typeof FIELDS, value: number): number {
  const [low, high] = FIELDS[name];
  if (value >= low && value <= high) return value;
  throw invalidValue(name, `${low} - ${high}`, value);
}

/** Returns the day of a month (1 to 12). Throws DateTimeException where the month doesn't have it. */
export function checkedDay(year: number, month: number, day: number): number {
  if (!(day >= 1 && day <= 31)) throw invalidValue("DayOfMonth", "1 - 28/31", day);
  if (day <= daysOf(year, month)) return day;
  const date = `${monthOfYear(month).name} ${day}`;
  throw new ScriptException(
    "DateTimeException",
    date === "FEBRUARY 29"
      ? `Invalid date 'February 29' as '${year}' is not a leap year`
      : `Invalid date '${date}'`,
  );
}

/** Returns the day of a year, 1 to 366. Throws DateTimeException where the year doesn't have it. */
export function checkedDayOfYear(year: number, day: number): number {
  if (!(day >= 1 && day <= 366)) throw invalidValue("DayOfYear", "1 - 365/366", day);
  if (day === 366 && !isLeapYear(year))
    throw new ScriptException(
      "DateTimeException",
      `Invalid date 'DayOfYear 366' as '${year}' is not a leap year`,
    );
  return day;
}

export function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

/** Returns the start of a day in UTC, ms; of any year. Throws DateTimeException where there is no such date. */
export function dayStart(year: number, month: number, day: number): number {
  checkedDay(year, checkedField("MonthOfYear", month), day);
  return checkedTime(new Date(0).setUTCFullYear(year, month - 1, day));
}

/** Returns ms since midnight. Throws DateTimeException where there is no such time. */
export function timeOfDay(hour: number, minute: number, second: number): number {
  const hours = checkedField("HourOfDay", hour);
  const minutes = 60 * hours + checkedField("MinuteOfHour", minute);
  return 1000 * (60 * minutes + checkedField("SecondOfMinute", second));
}

function daysOf(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function invalidValue(name: string, range: string, value: number): ScriptException {
  return new ScriptException(
    "DateTimeException",
    `Invalid value for ${name} (valid values ${range}): ${value}`,
  );
}
