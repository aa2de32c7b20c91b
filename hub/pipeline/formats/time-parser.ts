/** Joda-Time patterns compiled to parsers. */

import { type PatternToken, parseTimePattern } from "#proto/codec/time-pattern.ts";
import { findTimeZone, fixedOffset, type TimeZone } from "#proto/kit/time-zone.ts";

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** What a text said. Fields that it didn't say stay undefined. */
interface TimeFields {
  year: number | undefined;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  millisecond: number;
  isPm: boolean | undefined;
  offsetMs: number | undefined;
  zone: string | undefined;
}

/** Reads at `at`; returns the place behind, or -1. */
type FieldReader = (text: string, at: number, fields: TimeFields) => number;

export interface ParsedTime {
  /** The civil time as if it were UTC, ms; in the year `yearOf` where none was said. */
  readonly civilMs: number;
  /** Where the text says so, ms. */
  readonly offsetMs: number | undefined;
  readonly zone: TimeZone | undefined;
}

/** Returns what a text says, or undefined where it doesn't fit; `now` gives a year that isn't said. */
export type TimeParser = (text: string, now: () => number) => ParsedTime | undefined;

/** Names of zones in texts that mean one offset. */
const ZONE_NAMES: Readonly<Record<string, string>> = {
  EST: "-05:00",
  EDT: "-04:00",
  CST: "-06:00",
  CDT: "-05:00",
  MST: "-07:00",
  MDT: "-06:00",
  PST: "-08:00",
  PDT: "-07:00",
  CET: "+01:00",
  CEST: "+02:00",
  BST: "+01:00",
};

/** Compiles `pattern`; names of months and days are those of `locale` ("en", "de-DE"). Throws settings_invalid. */
export function compileTimeParser(pattern: string, locale: string): TimeParser {
  const tokens = parseTimePattern(pattern);
  const readers = tokens.map((token, index) => fieldReader(token, tokens[index + 1], locale));
  return (text, now) => {
    const fields: TimeFields = {
      year: undefined,
      month: 1,
      day: 1,
      hour: 0,
      minute: 0,
      second: 0,
      millisecond: 0,
      isPm: undefined,
      offsetMs: undefined,
      zone: undefined,
    };
    let at = 0;
    for (const read of readers) {
      at = read(text, at, fields);
      if (at < 0) return undefined;
    }
    return at === text.length ? finish(fields, now) : undefined;
  };
}

function finish(fields: TimeFields, now: () => number): ParsedTime | undefined {
  const { month, day, minute, second, millisecond, isPm, offsetMs } = fields;
  const hour = isPm === undefined ? fields.hour : (fields.hour % 12) + (isPm ? 12 : 0);
  const dayMs = startOfDay(fields.year ?? guessYear(month, now()), month, day);
  if (dayMs === undefined || hour > 24 || minute >= 60 || second >= 60) return undefined;
  const civilMs =
    dayMs + (hour === 24 ? 0 : hour) * HOUR_MS + minute * MINUTE_MS + second * SECOND_MS + millisecond;
  if (fields.zone === undefined) return { civilMs, offsetMs, zone: undefined };
  const zone = findTimeZone(ZONE_NAMES[fields.zone] ?? fields.zone);
  return zone === undefined ? undefined : { civilMs, offsetMs: undefined, zone };
}

/** The last day asked for: events that follow one another mostly share it. */
const lastDay = { year: Number.NaN, month: 0, day: 0, ms: undefined as number | undefined };

/** Returns ms since 1970-01-01 of a civil day's start; undefined where there is no such day. */
function startOfDay(year: number, month: number, day: number): number | undefined {
  if (lastDay.day === day && lastDay.month === month && lastDay.year === year) return lastDay.ms;
  // Date.UTC takes the years 0..99 for 1900..1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = month >= 1 && month <= 12 && day >= 1 && date.getUTCDate() === day;
  Object.assign(lastDay, { year, month, day, ms: isReal ? date.getTime() : undefined });
  return lastDay.ms;
}

/** December read in January was last year's, January read in December is next year's. */
function guessYear(month: number, nowMs: number): number {
  const now = new Date(nowMs);
  const year = now.getUTCFullYear();
  if (month === 12 && now.getUTCMonth() === 0) return year - 1;
  return month === 1 && now.getUTCMonth() === 11 ? year + 1 : year;
}

function fieldReader(token: PatternToken, next: PatternToken | undefined, locale: string): FieldReader {
  const { letter, count } = token;
  // Digits directly behind digits: each takes just its own.
  const isFixed = next !== undefined && next.letter !== "" && isNumeric(next);
  const number = (most: number, set: (fields: TimeFields, value: number) => void): FieldReader =>
    numberReader(isFixed ? count : 1, isFixed ? count : Math.max(most, count), set);
  switch (letter) {
    case "":
      return (text, at) => (text.startsWith(token.literal, at) ? at + token.literal.length : -1);
    case "y":
    case "Y":
    case "x":
      return count === 2
        ? numberReader(2, 2, (fields, value) => (fields.year = pivotYear(value)))
        : number(9, (fields, value) => (fields.year = value));
    case "M":
      if (count >= 3) return nameReader(monthNames(locale), (fields, index) => (fields.month = index + 1));
      return number(2, (fields, value) => (fields.month = value));
    case "d":
      return number(2, (fields, value) => (fields.day = value));
    case "H":
    case "k":
    case "h":
    case "K":
      return number(2, (fields, value) => (fields.hour = letter === "k" ? value % 24 : value));
    case "m":
      return number(2, (fields, value) => (fields.minute = value));
    case "s":
      return number(2, (fields, value) => (fields.second = value));
    case "S":
      return fractionReader(isFixed ? count : 9);
    case "a":
      return nameReader([["AM"], ["PM"]], (fields, index) => (fields.isPm = index === 1));
    case "E":
      return nameReader(dayNames(locale), () => undefined);
    case "Z":
      return count >= 3 ? readZoneName : readOffset;
    case "z":
      return readZoneName;
    default:
      return number(4, () => undefined);
  }
}

function isNumeric({ letter, count }: PatternToken): boolean {
  return !"aEzZG".includes(letter) && !(letter === "M" && count >= 3);
}

/** Two digits: within 50 years before and 49 behind 2026, as Joda does it around the current year. */
function pivotYear(value: number): number {
  const year = new Date().getUTCFullYear();
  const century = year - (year % 100);
  const candidate = century + value;
  if (candidate > year + 49) return candidate - 100;
  return candidate < year - 50 ? candidate + 100 : candidate;
}

function numberReader(
  least: number,
  most: number,
  set: (fields: TimeFields, value: number) => void,
): FieldReader {
  return (text, at, fields) => {
    let value = 0;
    let end = at;
    for (; end < at + most; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value = value * 10 + digit;
    }
    if (end - at < least) return -1;
    set(fields, value);
    return end;
  };
}

/** Digits behind the point; finer than ms is cut. */
function fractionReader(most: number): FieldReader {
  return (text, at, fields) => {
    let weight = 100;
    let value = 0;
    let end = at;
    for (; end < at + most; end++) {
      const digit = text.charCodeAt(end) - 0x30;
      if (!(digit >= 0 && digit <= 9)) break;
      value += Math.floor(digit * weight);
      weight = weight > 1 ? weight / 10 : 0;
    }
    if (end === at) return -1;
    fields.millisecond = value;
    return end;
  };
}

/** `names`: the ways to write each; the longest that fits is taken, in any case. */
function nameReader(
  names: readonly (readonly string[])[],
  set: (fields: TimeFields, index: number) => void,
): FieldReader {
  const all = names.flatMap((ways, index) => ways.map((way) => [way.toLowerCase(), index] as const));
  all.sort((a, b) => b[0].length - a[0].length);
  const longest = all[0]?.[0].length ?? 0;
  const find = remembered((part: string) => {
    const lower = part.toLowerCase();
    return all.find(([name]) => lower.startsWith(name));
  });
  return (text, at, fields) => {
    const found = find(text.slice(at, at + longest));
    if (found === undefined) return -1;
    const [name, index] = found;
    set(fields, index);
    return at + name.length;
  };
}

/** Returns ms of "Z", "+01:00" and the like, as fixedOffset does. */
export const offsetOf = remembered(fixedOffset);

const readOffset: FieldReader = (text, at, fields) => {
  const length = text[at] === "Z" ? 1 : text[at + 3] === ":" ? 6 : 5;
  const offset = offsetOf(text.slice(at, at + length));
  if (offset === undefined) return -1;
  fields.offsetMs = offset;
  return at + length;
};

/** Keeps the last answer: times that follow one another mostly have the same month and offset. */
function remembered<T>(answer: (text: string) => T): (text: string) => T {
  let last: string | undefined;
  let known: T;
  return (text) => {
    if (text !== last) {
      known = answer(text);
      last = text;
    }
    return known;
  };
}

const readZoneName: FieldReader = (text, at, fields) => {
  const name = /^[A-Za-z][A-Za-z0-9_+/-]*|^[+-]\d{2}:?\d{2}/.exec(text.slice(at, at + 48))?.[0];
  if (name === undefined) return -1;
  fields.zone = name;
  return at + name.length;
};

/** Long and short names, with and without the point of an abbreviation. */
function monthNames(locale: string): string[][] {
  return names(locale, 12, (index) => Date.UTC(2024, index, 15), "month");
}

function dayNames(locale: string): string[][] {
  return names(locale, 7, (index) => Date.UTC(2024, 0, 7 + index), "weekday");
}

function names(
  locale: string,
  count: number,
  dateOf: (index: number) => number,
  part: "month" | "weekday",
): string[][] {
  return Array.from({ length: count }, (_, index) => {
    const written = new Set<string>();
    for (const width of ["long", "short"] as const) {
      for (const extra of part === "month" ? [{}, { day: "numeric" as const }] : [{}]) {
        const parts = new Intl.DateTimeFormat(locale, {
          [part]: width,
          timeZone: "UTC",
          ...extra,
        }).formatToParts(dateOf(index));
        const name = parts.find(({ type }) => type === part)?.value ?? "";
        written.add(name).add(name.replace(/\.$/, ""));
        if (locale.startsWith("en") && width === "long") written.add(name.slice(0, 3));
      }
    }
    return [...written].filter((name) => name !== "");
  });
}
