/** Joda-Time patterns ("yyyy-MM-dd'T'HH:mm:ss.SSSZ"): their tokens, and times written by them in UTC. */

import { AppError } from "#proto/kit/errors.ts";

/** A run of one pattern letter, or literal text (`letter` empty). */
export interface PatternToken {
  readonly letter: string;
  /** Number of letters. */
  readonly count: number;
  /** Text between letters; quotes resolved. */
  readonly literal: string;
}

/** Letters of Joda-Time's DateTimeFormat. */
const LETTERS = "GCYxywecEDMdaKhHkmsSzZ";

const DAY_MS = 86_400_000;

const MONTHS = [
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

const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Returns the tokens of `pattern`. Throws settings_invalid for an unknown letter or an open quote. */
export function parseTimePattern(pattern: string): PatternToken[] {
  const tokens: PatternToken[] = [];
  let at = 0;
  const literal = (text: string): void => {
    const last = tokens.at(-1);
    if (last !== undefined && last.letter === "")
      tokens[tokens.length - 1] = { ...last, literal: last.literal + text };
    else tokens.push({ letter: "", count: 0, literal: text });
  };
  while (at < pattern.length) {
    const letter = pattern[at]!;
    if (letter === "'") {
      const end = quoteEnd(pattern, at);
      literal(end === at + 2 ? "'" : pattern.slice(at + 1, end - 1).replaceAll("''", "'"));
      at = end;
    } else if (/[A-Za-z]/.test(letter)) {
      if (!LETTERS.includes(letter)) {
        throw new AppError(
          "settings_invalid",
          `time pattern "${pattern}": unknown letter "${letter}"; put text in quotes: '${letter}'`,
        );
      }
      let end = at;
      while (pattern[end] === letter) end++;
      tokens.push({ letter, count: end - at, literal: "" });
      at = end;
    } else {
      literal(letter);
      at++;
    }
  }
  return tokens;
}

/** Returns a function that writes ms since 1970-01-01 UTC by `pattern`, in UTC and English. Throws settings_invalid. */
export function compileTimeFormat(pattern: string): (timeMs: number) => string {
  const writers = parseTimePattern(pattern).map((token): ((date: Date) => string) =>
    token.letter === "" ? () => token.literal : fieldWriter(token),
  );
  return (timeMs) => {
    const date = new Date(timeMs);
    let text = "";
    for (const write of writers) text += write(date);
    return text;
  };
}

/** Returns the ISO 8601 week and its year. */
export function isoWeek(date: Date): { week: number; year: number } {
  const day = Math.floor(date.getTime() / DAY_MS);
  const weekday = (((day + 3) % 7) + 7) % 7;
  const thursday = new Date((day - weekday + 3) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const firstDay = Math.floor(Date.UTC(year, 0, 1) / DAY_MS);
  return { week: Math.floor((Math.floor(thursday.getTime() / DAY_MS) - firstDay) / 7) + 1, year };
}

function fieldWriter({ letter, count }: PatternToken): (date: Date) => string {
  const padded = (value: number): string => String(value).padStart(count, "0");
  const name = (names: readonly string[], index: number): string =>
    count >= 4 ? names[index]! : names[index]!.slice(0, 3);
  switch (letter) {
    case "y":
    case "Y":
      return (date) => yearText(date.getUTCFullYear(), count);
    case "x":
      return (date) => yearText(isoWeek(date).year, count);
    case "C":
      return (date) => padded(Math.floor(date.getUTCFullYear() / 100));
    case "G":
      return (date) => (date.getUTCFullYear() > 0 ? "AD" : "BC");
    case "w":
      return (date) => padded(isoWeek(date).week);
    case "e":
      return (date) => padded(date.getUTCDay() || 7);
    case "E":
      return (date) => name(WEEKDAYS, date.getUTCDay());
    case "D":
      return (date) => padded(dayOfYear(date));
    case "M":
      return (date) => (count >= 3 ? name(MONTHS, date.getUTCMonth()) : padded(date.getUTCMonth() + 1));
    case "d":
      return (date) => padded(date.getUTCDate());
    case "a":
      return (date) => (date.getUTCHours() < 12 ? "AM" : "PM");
    case "K":
      return (date) => padded(date.getUTCHours() % 12);
    case "h":
      return (date) => padded(date.getUTCHours() % 12 || 12);
    case "H":
      return (date) => padded(date.getUTCHours());
    case "k":
      return (date) => padded(date.getUTCHours() || 24);
    case "m":
      return (date) => padded(date.getUTCMinutes());
    case "s":
      return (date) => padded(date.getUTCSeconds());
    case "S":
      return (date) => String(date.getUTCMilliseconds()).padStart(3, "0").padEnd(count, "0").slice(0, count);
    case "Z":
      return () => (count === 1 ? "+0000" : count === 2 ? "+00:00" : "UTC");
    default:
      return () => "UTC";
  }
}

function yearText(year: number, count: number): string {
  if (count === 2) return String(year % 100).padStart(2, "0");
  return String(year).padStart(count, "0");
}

function dayOfYear(date: Date): number {
  return Math.floor(date.getTime() / DAY_MS) - Math.floor(Date.UTC(date.getUTCFullYear(), 0, 1) / DAY_MS) + 1;
}

/** Returns the place behind the quote that closes the one at `at`. */
function quoteEnd(pattern: string, at: number): number {
  for (let place = at + 1; place < pattern.length; place++) {
    if (pattern[place] !== "'") continue;
    if (pattern[place + 1] === "'" && place > at + 1) place++;
    else return place + 1;
  }
  throw new AppError("settings_invalid", `time pattern "${pattern}": the quote at ${at + 1} is never closed`);
}
