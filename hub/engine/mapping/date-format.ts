/** Date formats of mappings and requests: named ones, Joda patterns, and several of them with `||` between. */

import { civilTime, startOfDay, utcTime } from "#proto/kit/dates/civil-time.ts";
import { JODA, JODA_LETTERS, type PatternDialect, parsePattern } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { compileReader } from "#proto/kit/dates/date-reader.ts";
import { type NamedFormat, namedFormat } from "#proto/kit/dates/named-formats.ts";
import { fixedOffset, UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";

/** Format of a date field that names none. */
export const DEFAULT_DATE_FORMAT = "strict_date_optional_time||epoch_millis";

/** Reads and prints dates in one list of formats. */
interface DateFormat {
  /** Returns ms since 1970-01-01 UTC, NaN if no format fits. A text without zone is UTC. */
  parse(text: string): number;
  /** Like `parse`, but missing parts of the time of day have their last value: "2018-11" is 2018-11-01T23:59:59.999. */
  parseLast(text: string): number;
  /** Prints ms since 1970-01-01 UTC in the first format, in UTC. */
  print(timeMs: number): string;
}

const ISO =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T(?:(\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const LENIENT_ISO =
  /^(\d{1,9})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T(?:(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

const cache = new Map<string, DateFormat>();

/** Format lists that are kept compiled; requests may bring any number of others. */
const CACHE_LIMIT = 1000;

/** Between a format and the language of its names. */
const LOCALE_MARK = "\u0000";

/** Returns `formats` with names of months and days in the language of `locale`, e.g. "de"; for `dateFormat`. */
export function localized(formats: string, locale: string | undefined): string {
  if (locale === undefined || /^(?:root|en(?:[-_].*)?)?$/i.test(locale)) return formats;
  return formats
    .split("||")
    .map((format) => `${format.trim()}${LOCALE_MARK}${locale}`)
    .join("||");
}

/** Returns formats as they were given, for messages. */
export function givenFormat(formats: string): string {
  return formats.replace(/\0[^|]*/g, "");
}

/** Compiles `a||b||c`. Throws mapping_parse for a pattern with unknown letters. */
export function dateFormat(formats: string): DateFormat {
  const known = cache.get(formats);
  if (known !== undefined) return known;
  const parts = formats.split("||").map((name) => compileOne(name.trim()));
  const format: DateFormat = {
    parse: (text) => firstTime(parts, (part) => part.parse(text)),
    parseLast: (text) => firstTime(parts, (part) => part.parseLast(text)),
    print: (timeMs) => parts[0]!.print(timeMs),
  };
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(formats, format);
  return format;
}

function firstTime(parts: readonly DateFormat[], read: (part: DateFormat) => number): number {
  for (const part of parts) {
    const timeMs = read(part);
    if (!Number.isNaN(timeMs)) return timeMs;
  }
  return Number.NaN;
}

/** Beginning of patterns of java.time, by which 6.7 distinguishes them from Joda's. */
const JAVA_MARK = /^8(?=[a-zA-Z'])/;

/** Years of two digits mean the hundred years from this one on: the meaning of a document must not depend on the clock. */
const PIVOT_YEAR = 1970;

/** Date patterns of mappings: letters of Joda-Time and java.time, errors worded as in 6.5. */
const MAPPING_DIALECT: PatternDialect = {
  ...JODA,
  letters: `${JODA_LETTERS}uX`,
  exactWidths: true,
  utc: (letter, count) => (count === 1 && letter !== "X" ? "+0000" : "Z"),
  refuse(pattern, problem) {
    const reason =
      problem.kind === "letter"
        ? `Invalid format: [${pattern}]: Illegal pattern component: ${problem.letter}`
        : problem.kind === "quote"
          ? `Invalid format: [${pattern}]: Unterminated quote`
          : `Invalid locale [${problem.locale}] of the format [${pattern}]`;
    return new AppError("mapping_parse", reason);
  },
};

/** Compiles one pattern. Throws mapping_parse. */
function compilePattern(pattern: string, locale: string | undefined): DateFormat {
  const plain = pattern.replace(JAVA_MARK, "");
  return compile(plain, plain, { ...MAPPING_DIALECT, locale: locale ?? MAPPING_DIALECT.locale });
}

function compileNamed({ pattern, reading, isStrict, fractionDigits }: NamedFormat): DateFormat {
  return compile(pattern, reading, { ...MAPPING_DIALECT, strict: isStrict, fractionDigits });
}

function compile(printed: string, reading: string, dialect: PatternDialect): DateFormat {
  const read = compileReader(reading, dialect, PIVOT_YEAR);
  const letters = parsePattern(reading, dialect).map(({ letter }) => letter);
  // A year of weeks alone means its first week.
  const firstWeek = letters.includes("x") && !letters.includes("w") ? 1 : undefined;
  const parse = (text: string, laterMs: number): number => {
    const fields = read(text);
    if (fields === undefined) return Number.NaN;
    fields.week ??= firstWeek;
    return utcTime(fields, civilTime(fields, 1970) + laterMs, UTC);
  };
  const restMs = restOfTime(letters);
  return {
    parse: (text) => parse(text, 0),
    parseLast: (text) => parse(text, restMs),
    print: compilePrinter(printed, dialect),
  };
}

/** Returns the largest time, ms, that the units of the time of day add which a pattern leaves out. */
function restOfTime(letters: readonly string[]): number {
  const lacks = (names: string): boolean =>
    !letters.some((letter) => letter !== "" && names.includes(letter));
  return (
    (lacks("HhKk") ? 23 * HOUR_MS : 0) +
    (lacks("m") ? 59 * MINUTE_MS : 0) +
    (lacks("s") ? 59 * SECOND_MS : 0) +
    (lacks("S") ? 999 : 0)
  );
}

/** A format without missing parts. */
function whole(format: Omit<DateFormat, "parseLast">): DateFormat {
  return { ...format, parseLast: format.parse };
}

function isoFormat(pattern: RegExp): DateFormat {
  return {
    parse: (text) => parseIso(text, pattern, FIRST),
    parseLast: (text) => parseIso(text, pattern, LAST),
    print: printIso,
  };
}

function compileOne(given: string): DateFormat {
  const [name = "", locale] = given.split(LOCALE_MARK);
  switch (name) {
    case "strict_date_optional_time":
    case "strict_date_optional_time_nanos":
    case "iso8601":
      return isoFormat(ISO);
    case "date_optional_time":
    case "dateOptionalTime":
    case "strictDateOptionalTime":
      return isoFormat(LENIENT_ISO);
    case "epoch_millis":
      return whole({
        parse: (text) => parseCount(text, 1),
        print: String,
      });
    case "epoch_second":
      return whole({
        parse: (text) => parseCount(text, 1000),
        print: (timeMs) => String(Math.floor(timeMs / 1000)),
      });
    default: {
      const named = namedFormat(name);
      return named === undefined ? compilePattern(name, locale) : compileNamed(named);
    }
  }
}

/** Largest time that is read of a number, ms: 16 digits. */
const MAX_COUNT_MS = 1e16;

/** Parses a number of milliseconds, or of units of `unitMs`; it may have an exponent, as whole doubles in documents have. */
function parseCount(text: string, unitMs: number): number {
  if (!/^-?\d{1,16}(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/.test(text)) return Number.NaN;
  const timeMs = Math.trunc(Number(text) * unitMs);
  return Math.abs(timeMs) < MAX_COUNT_MS ? timeMs : Number.NaN;
}

/** The day printed last: histograms print many times of one. */
let lastDay = Number.NaN;
let lastDayText = "";

function printIso(timeMs: number): string {
  if (!(Math.abs(timeMs) <= 8.64e15)) return String(timeMs);
  const whole = Math.trunc(timeMs);
  const day = Math.floor(whole / DAY_MS);
  if (day !== lastDay) {
    lastDay = day;
    lastDayText = new Date(day * DAY_MS).toISOString().slice(0, -"00:00:00.000Z".length);
  }
  const ms = whole - day * DAY_MS;
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  const time = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}:${two(seconds % 60)}`;
  return `${lastDayText}${time}.${String(ms % 1000).padStart(3, "0")}Z`;
}

function two(number: number): string {
  return number < 10 ? `0${number}` : String(number);
}

/** Fast path: `2024-01-31T23:59:59.999Z`, what programs write most; NaN for every other shape or a bad date. */
function parseFullIso(text: string): number {
  if (text.length !== 24 || text[10] !== "T" || text[23] !== "Z" || text[19] !== "." || text[4] !== "-")
    return Number.NaN;
  if (text[7] !== "-" || text[13] !== ":" || text[16] !== ":") return Number.NaN;
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 7);
  const day = digits(text, 8, 10);
  const hour = digits(text, 11, 13);
  const minute = digits(text, 14, 16);
  const second = digits(text, 17, 19);
  const milli = digits(text, 20, 23);
  // Days up to 28 are in every month; NaN fails every comparison.
  if (!(year >= 100 && month >= 1 && month <= 12 && day >= 1 && day <= 28)) return Number.NaN;
  if (!(hour <= 23 && minute <= 59 && second <= 59 && milli <= 999)) return Number.NaN;
  return daysFromCivil(year, month, day) * DAY_MS + hour * HOUR_MS + minute * 60_000 + second * 1000 + milli;
}

/** Number of the digits text[from..to); NaN if one is none. */
function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

/** Days since 1970-01-01 of a day of the Gregorian calendar (H. Hinnant, "chrono-compatible low-level date algorithms"). */
function daysFromCivil(year: number, month: number, day: number): number {
  const y = month <= 2 ? year - 1 : year;
  const era = Math.floor(y / 400);
  const yearOfEra = y - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

/** Values of missing parts of the time of day. */
type Missing = typeof FIRST;

const FIRST = { hour: "0", minute: "0", second: "0", millis: "0" };
const LAST: Missing = { hour: "23", minute: "59", second: "59", millis: "999" };

function parseIso(text: string, pattern: RegExp, missing: Missing): number {
  const fast = parseFullIso(text);
  if (!Number.isNaN(fast)) return fast;
  const match = pattern.exec(text);
  if (match === null) return Number.NaN;
  const [, year, month = "1", day = "1", hour = missing.hour, minute = missing.minute] = match;
  const [second = missing.second, fraction, zone = "Z"] = match.slice(6);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return Number.NaN;
  const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
  const millis = fraction === undefined ? missing.millis : fraction.slice(0, 3).padEnd(3, "0");
  const timeMs = seconds * 1000 + Number(millis);
  return startOfDay(Number(year), Number(month), Number(day)) + timeMs - (fixedOffset(zone) ?? Number.NaN);
}
