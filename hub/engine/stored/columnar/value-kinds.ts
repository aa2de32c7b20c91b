/** How the values of a column of a columnar block are written. Grammar: hub/engine/README.md. */

import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";

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

/** Operations of a template; from LITERAL on, a literal of `operation - LITERAL` bytes. */
export const VARIABLE = 0;
export const REFERENCE = 1;
export const LITERAL = 1;

/** Length of a time. */
export const TIME_BYTES = 24;

const ZERO = 0x30;

/** Bytes of a time that aren't digits: offset and byte. */
export const TIME_MARKS = [
  [4, 0x2d],
  [7, 0x2d],
  [10, 0x54],
  [13, 0x3a],
  [16, 0x3a],
  [19, 0x2e],
  [23, 0x5a],
] as const;

/** Writes a time to `out` from `at`, in TIME_BYTES bytes. */
export function writeTime(timeMs: number, out: Uint8Array, at: number): void {
  const days = Math.floor(timeMs / DAY_MS);
  const rest = timeMs - days * DAY_MS;
  // Days from 0000-03-01 on, in eras of 400 years: leap days are at the end of a year.
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
  putDigits(out, at + 11, 2, Math.floor(rest / HOUR_MS));
  putDigits(out, at + 14, 2, Math.floor(rest / 60_000) % 60);
  putDigits(out, at + 17, 2, Math.floor(rest / 1000) % 60);
  putDigits(out, at + 20, 3, rest % 1000);
  for (const [mark, byte] of TIME_MARKS) out[at + mark] = byte;
}

/** Writes a whole number from 0 on in `count` digits. */
export function putDigits(out: Uint8Array, at: number, count: number, value: number): void {
  let rest = value;
  for (let index = at + count - 1; index >= at; index--) {
    const next = Math.floor(rest / 10);
    out[index] = ZERO + rest - next * 10;
    rest = next;
  }
}
