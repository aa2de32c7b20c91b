/** Times as logs write them, read from bytes and written as ISO 8601 bytes. No allocation per line. */

import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";

/** A line may be this far ahead of the clock that read it before its year is taken for last year's. */
export const FUTURE_TOLERANCE_MS = 2 * DAY_MS;

/** Cumulative days before each month of a common year. */
const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334];

const DAYS_IN = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** Returns ms since 1970-01-01 UTC of a civil time in UTC; `month` 0..11, years 0..9999. Values out of range carry over. */
export function utcMs(
  year: number,
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
): number {
  const leapYears = month > 1 ? year : year - 1;
  const leaps = Math.floor(leapYears / 4) - Math.floor(leapYears / 100) + Math.floor(leapYears / 400) - 477;
  const days = (year - 1970) * 365 + leaps + DAYS_BEFORE[month]! + day - 1;
  return days * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS + second * 1000;
}

/** Returns the two-digit number at `at`, or -1. */
export function twoDigits(bytes: Uint8Array, at: number): number {
  const high = bytes[at]! - 0x30;
  const low = bytes[at + 1]! - 0x30;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : -1;
}

/** Returns the month 0..11 of the English abbreviation at `at` ("Jan"), or -1. */
export function monthAt(bytes: Uint8Array, at: number): number {
  switch ((bytes[at]! << 16) | (bytes[at + 1]! << 8) | bytes[at + 2]!) {
    case 0x4a616e:
      return 0;
    case 0x466562:
      return 1;
    case 0x4d6172:
      return 2;
    case 0x417072:
      return 3;
    case 0x4d6179:
      return 4;
    case 0x4a756e:
      return 5;
    case 0x4a756c:
      return 6;
    case 0x417567:
      return 7;
    case 0x536570:
      return 8;
    case 0x4f6374:
      return 9;
    case 0x4e6f76:
      return 10;
    case 0x446563:
      return 11;
    default:
      return -1;
  }
}

/**
 * Returns true if these can be parts of a date and time: `month` from 0, 29 February in every year, second 60 as a leap
 * second.
 */
export function isCivil(month: number, day: number, hour: number, minute: number, second: number): boolean {
  return (
    month >= 0 &&
    month < 12 &&
    day >= 1 &&
    day <= DAYS_IN[month]! &&
    hour >= 0 &&
    hour < 24 &&
    minute >= 0 &&
    minute < 60 &&
    second >= 0 &&
    second <= 60
  );
}

/**
 * Civil times of a time zone, by default the process's (TZ), as UTC. The offset is looked up once per civil minute, as lines come
 * in clusters.
 */
export class LocalTime {
  readonly #zone: TimeZone | undefined;
  #key = -1;
  #minuteMs = 0;

  /** `zone`: another one than the process's. */
  constructor(zone?: TimeZone) {
    this.#zone = zone;
  }

  /** Returns ms since 1970-01-01 UTC; `month` 0..11. */
  toUtcMs(year: number, month: number, day: number, hour: number, minute: number, second: number): number {
    const key = (((year * 12 + month) * 32 + day) * 24 + hour) * 60 + minute;
    if (key !== this.#key) {
      this.#minuteMs =
        this.#zone?.toUtc(Date.UTC(year, month, day, hour, minute)) ??
        new Date(year, month, day, hour, minute).getTime();
      this.#key = key;
    }
    return this.#minuteMs + second * 1000;
  }

  /** Returns the UTC time of a civil time without a year: the latest that isn't in the future of `readTimeMs`. */
  withoutYear(
    readTimeMs: number,
    month: number,
    day: number,
    hour: number,
    minute: number,
    second: number,
  ): number {
    let year = new Date(readTimeMs + FUTURE_TOLERANCE_MS).getFullYear();
    if (month === 1 && day === 29) while (!isLeap(year)) year--;
    const timeMs = this.toUtcMs(year, month, day, hour, minute, second);
    if (timeMs <= readTimeMs + FUTURE_TOLERANCE_MS) return timeMs;
    do year--;
    while (month === 1 && day === 29 && !isLeap(year));
    return this.toUtcMs(year, month, day, hour, minute, second);
  }
}

/**
 * Reads `yyyy-mm-dd[T ]hh:mm:ss[.,fraction][Z|±hh[:]mm]` (ISO 8601, RFC 3339) at an offset of a byte array; the date
 * may also be written `yyyy/mm/dd`, as nginx and Go do.
 * After a successful `read`, `timeMs` is ms since 1970-01-01 UTC (finer fractions cut), `end` the offset after it and
 * `hasZone` whether an offset was written; without one the time is the process's local time.
 */
export class IsoTime {
  timeMs = 0;
  end = 0;
  hasZone = false;
  readonly #local: LocalTime;

  constructor(local: LocalTime) {
    this.#local = local;
  }

  /** Returns true if a time begins at `at` and ends by `limit`. */
  read(bytes: Uint8Array, at: number, limit: number): boolean {
    const dash = bytes[at + 4];
    if (at + 19 > limit || (dash !== 0x2d && dash !== 0x2f) || bytes[at + 7] !== dash) return false;
    const separator = bytes[at + 10];
    if (separator !== 0x54 && separator !== 0x20) return false;
    if (bytes[at + 13] !== 0x3a || bytes[at + 16] !== 0x3a) return false;
    const century = twoDigits(bytes, at);
    const yearOfCentury = twoDigits(bytes, at + 2);
    const month = twoDigits(bytes, at + 5) - 1;
    const day = twoDigits(bytes, at + 8);
    const hour = twoDigits(bytes, at + 11);
    const minute = twoDigits(bytes, at + 14);
    const second = twoDigits(bytes, at + 17);
    if (century < 0 || yearOfCentury < 0 || !isCivil(month, day, hour, minute, second)) return false;
    const year = century * 100 + yearOfCentury;
    if (!hasDay(year, month, day)) return false;
    const fractionMs = this.#fraction(bytes, at + 19, limit);
    const offsetMs = this.#zone(bytes, this.end, limit);
    this.timeMs =
      fractionMs +
      (this.hasZone
        ? utcMs(year, month, day, hour, minute, second) - offsetMs
        : this.#local.toUtcMs(year, month, day, hour, minute, second));
    return true;
  }

  /** Returns the ms of ".123456" or ",123" at `at` (0 without one) and sets `end`. */
  #fraction(bytes: Uint8Array, at: number, limit: number): number {
    this.end = at;
    if (at + 1 >= limit || (bytes[at] !== 0x2e && bytes[at] !== 0x2c)) return 0;
    let value = 0;
    let weight = 100;
    let offset = at + 1;
    for (; offset < limit; offset++) {
      const digit = bytes[offset]! - 0x30;
      if (digit < 0 || digit > 9) break;
      if (weight >= 1) value += digit * weight;
      weight /= 10;
    }
    if (offset > at + 1) this.end = offset;
    return value;
  }

  /** Returns the offset from UTC in ms at `at`; sets `hasZone` and `end`. */
  #zone(bytes: Uint8Array, at: number, limit: number): number {
    this.hasZone = true;
    const sign = at < limit ? bytes[at] : 0;
    if (sign === 0x5a) {
      this.end = at + 1;
      return 0;
    }
    if ((sign === 0x2b || sign === 0x2d) && at + 5 <= limit) {
      const colon = bytes[at + 3] === 0x3a ? 1 : 0;
      const hours = twoDigits(bytes, at + 1);
      const minutes = at + 5 + colon <= limit ? twoDigits(bytes, at + 3 + colon) : -1;
      if (hours >= 0 && hours < 24 && minutes >= 0 && minutes < 60) {
        this.end = at + 5 + colon;
        return (sign === 0x2d ? -1 : 1) * (hours * HOUR_MS + minutes * MINUTE_MS);
      }
    }
    if ((sign === 0x2b || sign === 0x2d) && isHourZone(bytes, at + 1, limit)) {
      this.end = at + 3;
      return (sign === 0x2d ? -1 : 1) * twoDigits(bytes, at + 1) * HOUR_MS;
    }
    this.hasZone = false;
    return 0;
  }
}

/** What may follow an offset without minutes, so that no other number is taken for one. */
const AFTER_ZONE = new TextEncoder().encode(' \t",;|])');

/** True for the hours of an offset without minutes, as PostgreSQL prints it: `+01`. */
function isHourZone(bytes: Uint8Array, at: number, limit: number): boolean {
  const hours = at + 2 <= limit ? twoDigits(bytes, at) : -1;
  if (hours < 0 || hours > 14) return false;
  return at + 2 === limit || AFTER_ZONE.includes(bytes[at + 2]!);
}

/** Writes `yyyy-mm-ddThh:mm:ss.mmmZ` (24 bytes). The last day's text is cached, as consecutive times mostly share it. */
export class IsoWriter {
  readonly #text = new Uint8Array(24);
  #day = Number.NaN;

  /** Writes `timeMs` (years 0..9999) at `at`; returns the offset after it. */
  write(timeMs: number, bytes: Uint8Array, at: number): number {
    const day = Math.floor(timeMs / DAY_MS);
    const text = this.#text;
    if (day !== this.#day) {
      const iso = new Date(day * DAY_MS).toISOString();
      this.#day = Number.NaN; // until the text is whole: the work may be stopped by its limit of time
      for (let index = 0; index < 24; index++) text[index] = iso.charCodeAt(index);
      this.#day = day;
    }
    const ms = timeMs - day * DAY_MS;
    const second = (ms / 1000) | 0;
    const minute = (second / 60) | 0;
    putTwo(text, 11, (minute / 60) | 0);
    putTwo(text, 14, minute % 60);
    putTwo(text, 17, second % 60);
    const fraction = ms - second * 1000;
    text[20] = 0x30 + ((fraction / 100) | 0);
    putTwo(text, 21, fraction % 100);
    for (let index = 0; index < 24; index++) bytes[at + index] = text[index]!;
    return at + 24;
  }
}

/** Greatest and least ms since 1970 that IsoWriter writes: the years 0 to 9999. */
export const MAX_ISO_MS = 253_402_300_799_999;
export const MIN_ISO_MS = -62_167_219_200_000;

function putTwo(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = 0x30 + ((value / 10) | 0);
  bytes[at + 1] = 0x30 + (value % 10);
}

/** Returns false for 29 February of a year without one; else `isCivil` has judged the day. `month`: 0 to 11. */
export function hasDay(year: number, month: number, day: number): boolean {
  return month !== 1 || day !== 29 || isLeap(year);
}

function isLeap(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}
