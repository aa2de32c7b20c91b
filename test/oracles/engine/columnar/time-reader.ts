/** Reads the times that columns keep as numbers. Judges the kernel's columnar/times.ts. */

import { TIME_MARKS } from "#hub/engine/stored/columnar/value-kinds.ts";

const DAY_MS = 86_400_000;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const ZERO = 0x30;

/** Milliseconds of a time that `writeTime` writes in the same bytes; NaN for everything else. */
export function readTime(bytes: Uint8Array, from: number): number {
  for (const [at, byte] of TIME_MARKS) if (bytes[from + at] !== byte) return Number.NaN;
  const year = digits(bytes, from, 4);
  const month = digits(bytes, from + 5, 2);
  const day = digits(bytes, from + 8, 2);
  const hour = digits(bytes, from + 11, 2);
  const minute = digits(bytes, from + 14, 2);
  const second = digits(bytes, from + 17, 2);
  const ms = digits(bytes, from + 20, 3);
  if (!(year >= 1 && month >= 1 && month <= 12 && hour < 24 && minute < 60 && second < 60 && ms >= 0))
    return Number.NaN;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (!(day >= 1 && day <= DAYS[month - 1]! + (month === 2 && isLeap ? 1 : 0))) return Number.NaN;
  return daysBefore(year, month, day) * DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + ms;
}

/** The number that is written in `count` digits; NaN where one of them is none. */
function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** Days from 1970-01-01 to a day, by the proleptic Gregorian calendar. */
function daysBefore(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}
