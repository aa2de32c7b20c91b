/** Date formats of mappings and requests: named ones, Joda patterns, and several of them with `||` between. */

import { AppError } from "#proto/kit/errors.ts";

/** Format of a date field that names none. */
export const DEFAULT_DATE_FORMAT = "strict_date_optional_time||epoch_millis";

/** Reads and prints dates in one list of formats. */
export interface DateFormat {
  /** Returns ms since 1970-01-01 UTC, NaN where no format fits. A text without zone is UTC. */
  parse(text: string): number;
  /** Prints ms since 1970-01-01 UTC in the first format, in UTC. */
  print(timeMs: number): string;
}

const ISO =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:T(?:(\d{2})(?::(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;
const LENIENT_ISO =
  /^(\d{1,9})(?:-(\d{1,2})(?:-(\d{1,2}))?)?(?:T(?:(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/;

/** Named formats as the Joda patterns they stand for. */
const NAMED: Readonly<Record<string, string>> = {
  basic_date: "yyyyMMdd",
  basic_date_time: "yyyyMMdd'T'HHmmss.SSSZ",
  basic_date_time_no_millis: "yyyyMMdd'T'HHmmssZ",
  date: "yyyy-MM-dd",
  date_hour: "yyyy-MM-dd'T'HH",
  date_hour_minute: "yyyy-MM-dd'T'HH:mm",
  date_hour_minute_second: "yyyy-MM-dd'T'HH:mm:ss",
  date_hour_minute_second_millis: "yyyy-MM-dd'T'HH:mm:ss.SSS",
  date_hour_minute_second_fraction: "yyyy-MM-dd'T'HH:mm:ss.SSS",
  date_time: "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
  date_time_no_millis: "yyyy-MM-dd'T'HH:mm:ssZZ",
  hour: "HH",
  hour_minute: "HH:mm",
  hour_minute_second: "HH:mm:ss",
  time: "HH:mm:ss.SSSZZ",
  time_no_millis: "HH:mm:ssZZ",
  year: "yyyy",
  year_month: "yyyy-MM",
  year_month_day: "yyyy-MM-dd",
};

const cache = new Map<string, DateFormat>();

/** Format lists that are kept compiled; requests may bring any number of others. */
const CACHE_LIMIT = 1000;

/** Compiles `a||b||c`. Throws mapping_parse for a pattern with unknown letters. */
export function dateFormat(formats: string): DateFormat {
  const known = cache.get(formats);
  if (known !== undefined) return known;
  const parts = formats.split("||").map((name) => compileOne(name.trim()));
  const format: DateFormat = {
    parse(text) {
      for (const part of parts) {
        const timeMs = part.parse(text);
        if (!Number.isNaN(timeMs)) return timeMs;
      }
      return Number.NaN;
    },
    print: (timeMs) => parts[0]!.print(timeMs),
  };
  if (cache.size >= CACHE_LIMIT) cache.clear();
  cache.set(formats, format);
  return format;
}

function compileOne(name: string): DateFormat {
  switch (name) {
    case "strict_date_optional_time":
    case "strict_date_optional_time_nanos":
      return { parse: (text) => parseIso(text, ISO), print: printIso };
    case "date_optional_time":
    case "dateOptionalTime":
    case "strictDateOptionalTime":
      return { parse: (text) => parseIso(text, LENIENT_ISO), print: printIso };
    case "epoch_millis":
      return {
        parse: (text) => (/^-?\d{1,16}(\.\d+)?$/.test(text) ? Math.trunc(Number(text)) : Number.NaN),
        print: String,
      };
    case "epoch_second":
      return {
        parse: (text) => (/^-?\d{1,13}(\.\d+)?$/.test(text) ? Math.trunc(Number(text) * 1000) : Number.NaN),
        print: (timeMs) => String(Math.floor(timeMs / 1000)),
      };
    default: {
      const strict = name.startsWith("strict_");
      return compilePattern(NAMED[strict ? name.slice(7) : name] ?? name, strict);
    }
  }
}

function printIso(timeMs: number): string {
  return Number.isFinite(timeMs) && Math.abs(timeMs) <= 8.64e15
    ? new Date(timeMs).toISOString()
    : String(timeMs);
}

const MS_PER_DAY = 86_400_000;

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
  return (
    daysFromCivil(year, month, day) * MS_PER_DAY + hour * 3_600_000 + minute * 60_000 + second * 1000 + milli
  );
}

/** Number of the digits text[from..to); NaN where one is none. */
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

function parseIso(text: string, pattern: RegExp): number {
  const fast = parseFullIso(text);
  if (!Number.isNaN(fast)) return fast;
  const match = pattern.exec(text);
  if (match === null) return Number.NaN;
  const fraction = match[7] === undefined ? 0 : Math.trunc(Number(`0.${match[7]}`) * 1000 + 1e-6);
  return assemble({
    year: Number(match[1]),
    month: Number(match[2] ?? 1),
    day: Number(match[3] ?? 1),
    hour: Number(match[4] ?? 0),
    minute: Number(match[5] ?? 0),
    second: Number(match[6] ?? 0),
    milli: fraction,
    zoneMs: zoneOffset(match[8]),
  });
}

interface Parts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  zoneMs: number;
}

/** NaN where a part is out of range (month 13, 30 February, minute 60). */
function assemble(parts: Parts): number {
  const { year, month, day, hour, minute, second } = parts;
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return Number.NaN;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  if (date.getUTCMonth() !== month - 1) return Number.NaN;
  return date.getTime() + hour * 3_600_000 + minute * 60_000 + second * 1000 + parts.milli - parts.zoneMs;
}

function zoneOffset(text: string | undefined): number {
  if (text === undefined || text === "Z" || text === "UTC" || text === "GMT") return 0;
  const digits = text.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return (text.startsWith("-") ? -minutes : minutes) * 60_000;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const LONG_MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

type Set = (parts: Parts & { afternoon?: boolean }, text: string) => void;

/** One run of equal letters of a pattern: how it is matched, what it sets, how it is printed. */
interface Piece {
  readonly source: string;
  readonly set: Set | null;
  readonly print: (date: Date) => string;
}

/** Compiles a Joda pattern to a regular expression with a setter for each of its groups. */
function compilePattern(pattern: string, strict: boolean): DateFormat {
  const pieces: Piece[] = [];
  for (const match of pattern.matchAll(/'((?:[^']|'')*)'|([a-zA-Z])\2*|[^a-zA-Z']+/g)) {
    const letter = match[2];
    if (letter !== undefined) pieces.push(letterPiece(letter, match[0].length, strict, pattern));
    else pieces.push(literalPiece(match[1] === undefined ? match[0] : match[1].replaceAll("''", "'") || "'"));
  }
  const regexp = new RegExp(`^${pieces.map((piece) => piece.source).join("")}$`, "i");
  const setters = pieces.map((piece) => piece.set).filter((set) => set !== null);
  return {
    parse(text) {
      const match = regexp.exec(text);
      if (match === null) return Number.NaN;
      const parts: Parts & { afternoon?: boolean } = {
        year: 1970,
        month: 1,
        day: 1,
        hour: 0,
        minute: 0,
        second: 0,
        milli: 0,
        zoneMs: 0,
      };
      for (const [index, set] of setters.entries()) set(parts, match[index + 1]!);
      if (parts.afternoon !== undefined) parts.hour = (parts.hour % 12) + (parts.afternoon ? 12 : 0);
      return assemble(parts);
    },
    print: (timeMs) => pieces.map((piece) => piece.print(new Date(timeMs))).join(""),
  };
}

function literalPiece(text: string): Piece {
  return { source: text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), set: null, print: () => text };
}

function numberPiece(
  width: number,
  strict: boolean,
  key: "day" | "hour" | "minute" | "second",
  get: (d: Date) => number,
): Piece {
  return {
    source: strict ? `(\\d{${width}})` : "(\\d{1,2})",
    set: (parts, text) => {
      parts[key] = Number(text);
    },
    print: (date) => String(get(date)).padStart(width, "0"),
  };
}

function letterPiece(letter: string, width: number, strict: boolean, pattern: string): Piece {
  switch (letter) {
    case "y":
    case "Y":
    case "u":
    case "x":
      return yearPiece(width);
    case "M":
      return monthPiece(width, strict);
    case "d":
      return numberPiece(width, strict || width === 2, "day", (date) => date.getUTCDate());
    case "H":
    case "k":
      return numberPiece(width, strict || width === 2, "hour", (date) => date.getUTCHours());
    case "h":
    case "K":
      return numberPiece(width, strict || width === 2, "hour", (date) => date.getUTCHours() % 12 || 12);
    case "m":
      return numberPiece(width, strict || width === 2, "minute", (date) => date.getUTCMinutes());
    case "s":
      return numberPiece(width, strict || width === 2, "second", (date) => date.getUTCSeconds());
    case "S":
      return {
        source: `(\\d{${width === 3 && !strict ? "1,9" : width}})`,
        set: (parts, text) => {
          parts.milli = Math.trunc(Number(`0.${text}`) * 1000 + 1e-6);
        },
        print: (date) =>
          String(date.getUTCMilliseconds()).padStart(3, "0").slice(0, width).padEnd(width, "0"),
      };
    case "a":
      return {
        source: "(am|pm)",
        set: (parts, text) => {
          parts.afternoon = text.toLowerCase() === "pm";
        },
        print: (date) => (date.getUTCHours() < 12 ? "AM" : "PM"),
      };
    case "E":
    case "e":
      return { source: "(?:[a-z]{3,9})", set: null, print: (date) => DAYS[date.getUTCDay()]! };
    case "Z":
    case "z":
      return {
        source: "(Z|UTC|GMT|[+-]\\d{2}:?\\d{2})",
        set: (parts, text) => {
          parts.zoneMs = zoneOffset(text.toUpperCase());
        },
        print: () => (width === 1 ? "+0000" : "Z"),
      };
    default:
      throw new AppError(
        "mapping_parse",
        `Invalid format: [${pattern}]: Illegal pattern component: ${letter}`,
      );
  }
}

function yearPiece(width: number): Piece {
  return {
    source: width === 2 ? "(\\d{2})" : "(\\d{4})",
    set: (parts, text) => {
      // Two digits mean the hundred years around the pivot that Joda uses by default.
      parts.year = width === 2 ? Number(text) + (Number(text) < 70 ? 2000 : 1900) : Number(text);
    },
    print: (date) =>
      String(date.getUTCFullYear())
        .padStart(4, "0")
        .slice(width === 2 ? 2 : 0),
  };
}

function monthPiece(width: number, strict: boolean): Piece {
  if (width < 3) {
    return {
      source: strict || width === 2 ? "(\\d{2})" : "(\\d{1,2})",
      set: (parts, text) => {
        parts.month = Number(text);
      },
      print: (date) => String(date.getUTCMonth() + 1).padStart(width, "0"),
    };
  }
  return {
    source: "([a-z]{3,9})",
    set: (parts, text) => {
      parts.month = MONTHS.findIndex((month) => text.toLowerCase().startsWith(month.toLowerCase())) + 1;
    },
    print: (date) => (width === 3 ? MONTHS : LONG_MONTHS)[date.getUTCMonth()]!,
  };
}
