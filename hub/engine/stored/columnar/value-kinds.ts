/** How the values of a column of a columnar block are written. Grammar: hub/engine/README.md. */

/** One value for all. */
export const CONSTANT = 0;
/** A dictionary in the order of first use, and the number of each value in it. */
export const DICTIONARY = 1;
/** Whole numbers, written as JSON writes them or with a fixed number of digits. */
export const NUMBERS = 2;
/** Times as YYYY-MM-DDTHH:MM:SS.mmmZ. */
export const TIMES = 3;
/** Texts, each ended by a line feed, which no value has. */
export const TEXTS = 4;
/** Templates of texts, and columns of what varies in them. */
export const TEMPLATES = 5;

/** Ends each text. */
export const TEXT_END = 0x0a;

/** Digits that a number may have: all are exact in 53 bits. */
export const MAX_DIGITS = 15;

/** Operations of a template; from LITERAL on, a literal of `operation - LITERAL` bytes. */
export const VARIABLE = 0;
export const REFERENCE = 1;
export const LITERAL = 1;

/** Length of a time. */
export const TIME_BYTES = 24;

const DAY_MS = 86_400_000;
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const ZERO = 0x30;

/** Bytes of a time that aren't digits: offset and byte. */
const MARKS = [
  [4, 0x2d],
  [7, 0x2d],
  [10, 0x54],
  [13, 0x3a],
  [16, 0x3a],
  [19, 0x2e],
  [23, 0x5a],
] as const;

/** Milliseconds of a time that `writeTime` writes in the same bytes; NaN for everything else. */
export function readTime(bytes: Uint8Array, from: number): number {
  for (const [at, byte] of MARKS) if (bytes[from + at] !== byte) return Number.NaN;
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

/** Writes a time to `out` from `at`, in TIME_BYTES bytes. */
export function writeTime(timeMs: number, out: Uint8Array, at: number): void {
  const days = Math.floor(timeMs / DAY_MS);
  const rest = timeMs - days * DAY_MS;
  // Days from 0000-03-01 on, in eras of 400 years: leap days stand at the end of a year.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  putDigits(out, at, 4, yearOfEra + era * 400 + (month <= 2 ? 1 : 0));
  putDigits(out, at + 5, 2, month);
  putDigits(out, at + 8, 2, dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1);
  putDigits(out, at + 11, 2, Math.floor(rest / 3_600_000));
  putDigits(out, at + 14, 2, Math.floor(rest / 60_000) % 60);
  putDigits(out, at + 17, 2, Math.floor(rest / 1000) % 60);
  putDigits(out, at + 20, 3, rest % 1000);
  for (const [mark, byte] of MARKS) out[at + mark] = byte;
}

/** The number that stands in `count` digits; NaN where one of them is none. */
function digits(bytes: Uint8Array, from: number, count: number): number {
  let value = 0;
  for (let at = from; at < from + count; at++) {
    const digit = bytes[at]! - ZERO;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** Writes a whole number from 0 on in `count` digits. */
export function putDigits(out: Uint8Array, at: number, count: number, value: number): void {
  let rest = value;
  for (let place = at + count - 1; place >= at; place--) {
    const next = Math.floor(rest / 10);
    out[place] = ZERO + rest - next * 10;
    rest = next;
  }
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
