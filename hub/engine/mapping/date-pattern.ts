/** Joda patterns ("dd/MMM/yyyy:HH:mm:ss Z") as regular expressions. */

import { AppError } from "#proto/kit/errors.ts";
import type { DateFormat } from "./date-format.ts";
import { type DateNames, dateNames, monthOf } from "./date-names.ts";
import { assemble, type DateParts, zoneOffset } from "./date-parts.ts";

type PatternParts = DateParts & { afternoon?: boolean; week?: number };
type Setter = (parts: PatternParts, text: string) => void;

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

/** One run of equal letters of a pattern: how it is matched, what it sets, how it is printed. */
interface Piece {
  readonly source: string;
  readonly set: Setter | null;
  readonly print: (date: Date) => string;
}

/** Beginning of patterns of java.time, by which 6.7 tells them from Joda's. */
const JAVA_MARK = /^8(?=[a-zA-Z'])/;

/**
 * Compiles a Joda pattern to a regular expression with a setter for each of its groups. `locale`: language of names; English
 * without it. Throws mapping_parse.
 */
export function compilePattern(pattern: string, strict: boolean, locale: string | undefined): DateFormat {
  const names = dateNames(locale, pattern);
  const pieces: Piece[] = [];
  const plain = pattern.replace(JAVA_MARK, "");
  const hasWeeks = /w/.test(plain.replaceAll(/'[^']*'/g, ""));
  for (const match of plain.matchAll(/'((?:[^']|'')*)'|([a-zA-Z])\2*|[^a-zA-Z']+/g)) {
    const letter = match[2];
    const width = match[0].length;
    if (letter === "w") pieces.push(weekPiece(width));
    else if (hasWeeks && /[yYux]/.test(letter ?? "")) pieces.push(yearPiece(width, weekYear));
    else if (letter !== undefined) pieces.push(letterPiece(letter, width, strict, pattern, names));
    else pieces.push(literalPiece(match[1] === undefined ? match[0] : match[1].replaceAll("''", "'") || "'"));
  }
  const regexp = new RegExp(`^${pieces.map((piece) => piece.source).join("")}$`, "i");
  const setters = pieces.map((piece) => piece.set).filter((set) => set !== null);
  return {
    parse(text) {
      const match = regexp.exec(text);
      if (match === null) return Number.NaN;
      const parts: PatternParts = {
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
      return parts.week === undefined ? assemble(parts) : assembleWeek(parts, parts.week);
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

function letterPiece(
  letter: string,
  width: number,
  strict: boolean,
  pattern: string,
  names: DateNames,
): Piece {
  switch (letter) {
    case "y":
    case "Y":
    case "u":
    case "x":
      return yearPiece(width, (date) => date.getUTCFullYear());
    case "M":
      return monthPiece(width, strict, names);
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
      return {
        source: `(?:${names.word})`,
        set: null,
        print: (date) => (width < 4 ? names.days : names.longDays)[date.getUTCDay()]!,
      };
    case "Z":
    case "z":
    case "X":
      return {
        source: letter === "X" ? "(Z|[+-]\\d{2}(?::?\\d{2})?)" : "(Z|UTC|GMT|[+-]\\d{2}:?\\d{2})",
        set: (parts, text) => {
          parts.zoneMs = zoneOffset(text.toUpperCase());
        },
        print: () => (width === 1 && letter !== "X" ? "+0000" : "Z"),
      };
    default:
      throw new AppError(
        "mapping_parse",
        `Invalid format: [${pattern}]: Illegal pattern component: ${letter}`,
      );
  }
}

/** Weeks as ISO 8601 counts them: from Monday, the first has the year's first Thursday. */
function weekPiece(width: number): Piece {
  return {
    source: width === 2 ? "(\\d{2})" : "(\\d{1,2})",
    set: (parts, text) => {
      parts.week = Number(text);
    },
    print: (date) => {
      const first = firstMonday(weekYear(date));
      return String(1 + Math.floor((date.getTime() - first) / WEEK_MS)).padStart(width, "0");
    },
  };
}

/** The year that a day's week belongs to: that of its Thursday. */
function weekYear(date: Date): number {
  const thursday = new Date(date);
  thursday.setUTCDate(date.getUTCDate() + 3 - ((date.getUTCDay() + 6) % 7));
  return thursday.getUTCFullYear();
}

/** Midnight of the Monday of a year's first week, ms. */
function firstMonday(year: number): number {
  const fourth = new Date(Date.UTC(year, 0, 4));
  return fourth.getTime() - ((fourth.getUTCDay() + 6) % 7) * DAY_MS;
}

/** Returns the Monday of a week, with the time of day; NaN where the year has no such week. */
function assembleWeek(parts: DateParts, week: number): number {
  const timeOfDay = assemble({ ...parts, year: 1970, month: 1, day: 1 });
  const monday = firstMonday(parts.year) + (week - 1) * WEEK_MS;
  return week >= 1 && weekYear(new Date(monday)) === parts.year ? monday + timeOfDay : Number.NaN;
}

function yearPiece(width: number, yearOf: (date: Date) => number): Piece {
  return {
    source: width === 2 ? "(\\d{2})" : "(\\d{4})",
    set: (parts, text) => {
      // Two digits mean the hundred years around the pivot that Joda uses by default.
      parts.year = width === 2 ? Number(text) + (Number(text) < 70 ? 2000 : 1900) : Number(text);
    },
    print: (date) =>
      String(yearOf(date))
        .padStart(4, "0")
        .slice(width === 2 ? 2 : 0),
  };
}

function monthPiece(width: number, strict: boolean, names: DateNames): Piece {
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
    source: `(${names.word})`,
    set: (parts, text) => {
      parts.month = monthOf(text, names) + 1;
    },
    print: (date) => (width === 3 ? names.months : names.longMonths)[date.getUTCMonth()]!,
  };
}
