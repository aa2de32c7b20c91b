/** Prints times by date patterns, in UTC. */

import { DAY_MS } from "#proto/kit/units.ts";
import { isoWeek } from "./civil-time.ts";
import {
  dayNames,
  monthNames,
  namesIn,
  type PatternDialect,
  type PatternToken,
  parsePattern,
} from "./date-pattern.ts";

/** Letters of java.time for a name of one character. */
const NARROW = 5;

const ORDINALS = ["st", "nd", "rd", "th"];

/** Returns a function that prints ms since 1970-01-01 UTC. Throws what the dialect refuses a pattern with. */
export function compilePrinter(pattern: string, dialect: PatternDialect): (timeMs: number) => string {
  const writers = parsePattern(pattern, dialect).map((token) => writerOf(token, pattern, dialect));
  return (timeMs) => {
    const date = new Date(timeMs);
    let text = "";
    for (const write of writers) text += write(date);
    return text;
  };
}

function writerOf(
  { letter, count, literal }: PatternToken,
  pattern: string,
  dialect: PatternDialect,
): (date: Date) => string {
  const isText = dialect.hasTextForms === true && count >= 3;
  const padded = (value: number): string => String(value).padStart(count, "0");
  switch (letter) {
    case "":
      return () => literal;
    case "y":
    case "Y":
    case "u":
      return (date) => yearText(date.getUTCFullYear(), count);
    case "x":
      return (date) => yearText(isoWeek(date.getTime()).year, count);
    case "C":
      return (date) => padded(Math.floor(date.getUTCFullYear() / 100));
    case "G":
      return (date) => (date.getUTCFullYear() > 0 ? "AD" : "BC");
    case "w":
      return (date) => padded(isoWeek(date.getTime()).week);
    case "e":
    case "E": {
      if (letter === "e" && !isText) return (date) => padded(date.getUTCDay() || 7);
      const names = namesOf(dayNames, count, pattern, dialect);
      return (date) => names[date.getUTCDay()]!;
    }
    case "D":
      return (date) => padded(dayOfYear(date));
    case "M": {
      if (count < 3) return (date) => padded(date.getUTCMonth() + 1);
      const names = namesOf(monthNames, count, pattern, dialect);
      return (date) => names[date.getUTCMonth()]!;
    }
    case "d":
      return (date) => padded(date.getUTCDate());
    case "Q":
      return isText ? (date) => quarterText(quarterOf(date), count) : (date) => padded(quarterOf(date));
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
    case "n":
      return (date) => padded(date.getUTCMilliseconds() * 1_000_000);
    case "A":
      return (date) => padded(date.getTime() - Math.floor(date.getTime() / DAY_MS) * DAY_MS);
    default:
      return () => dialect.utc(letter, count);
  }
}

/** Returns names as long as `count` letters ask for. */
function namesOf(
  names: typeof dayNames,
  count: number,
  pattern: string,
  dialect: PatternDialect,
): readonly string[] {
  const { long, short } = namesIn(names, pattern, dialect);
  if (count >= NARROW && dialect.hasTextForms === true) return long.map((name) => name.slice(0, 1));
  return count >= 4 ? long : short;
}

function quarterOf(date: Date): number {
  return Math.floor(date.getUTCMonth() / 3) + 1;
}

function quarterText(quarter: number, count: number): string {
  if (count >= NARROW) return String(quarter);
  return count === 3 ? `Q${quarter}` : `${quarter}${ORDINALS[quarter - 1]} quarter`;
}

function yearText(year: number, count: number): string {
  if (count === 2) return String(year % 100).padStart(2, "0");
  return String(year).padStart(count, "0");
}

function dayOfYear(date: Date): number {
  return Math.floor(date.getTime() / DAY_MS) - Math.floor(Date.UTC(date.getUTCFullYear(), 0, 1) / DAY_MS) + 1;
}
