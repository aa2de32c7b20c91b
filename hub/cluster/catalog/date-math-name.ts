/** Names of indices that hold a date, which date math gives: `<logs-{now/d{yyyy.MM.dd|+01:00}}>`. */

import { civilTime } from "#proto/kit/dates/civil-time.ts";
import { JODA, type PatternDialect } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { compileReader } from "#proto/kit/dates/date-reader.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";

const DEFAULT_FORMAT = "yyyy.MM.dd";
/** Joda-Time's letters, and the year of java.time. */
const DIALECT: PatternDialect = { ...JODA, letters: `${JODA.letters}u` };
/** Years of two digits are those of 1970 to 2069. */
const PIVOT_YEAR = 1970;
/** The year of dates whose format has none: each of its days exists, as it is a leap year. */
const DEFAULT_YEAR = 2000;
/** Longest name with date math, UTF-16 units: those of indices have 255 bytes at most, and formats take time to compile. */
const MAX_LENGTH = 1_000;

/** ms of the units that are as long on each day. */
const FIXED_MS: Readonly<Record<string, number>> = { h: HOUR_MS, H: HOUR_MS, m: MINUTE_MS, s: SECOND_MS };

/**
 * Replaces each `{now/d}`, `{now/d{format|zone}}` or `{2018-11-14||/M{format|zone}}` of a name in angle brackets, where `\{`
 * and `\}` are braces of the name; other names stay. Throws request_invalid.
 */
export function decodeDateMath(name: string, now: Date = new Date()): string {
  if (!name.startsWith("<") || !name.endsWith(">")) return name;
  if (name.length > MAX_LENGTH)
    throw new AppError("request_invalid", `a name with date math has ${MAX_LENGTH} characters at most`);
  return name
    .slice(1, -1)
    .replace(
      /\\([{}])|\{([^{}]+)(?:\{([^{}]*)\})?\}|[{}]/g,
      (_, escaped?: string, math?: string, format?: string) => {
        if (escaped !== undefined) return escaped;
        if (math !== undefined) return printDate(math, now, format);
        throw new AppError("request_invalid", `[${name}] has an unmatched brace`);
      },
    );
}

/** Prints what date math gives; `given`: `format` or `format|zone`. Throws request_invalid. */
function printDate(math: string, now: Date, given = DEFAULT_FORMAT): string {
  const [format = DEFAULT_FORMAT, zoneName] = given.split("|");
  const zone = zoneName === undefined ? UTC : findTimeZone(zoneName);
  if (zone === undefined)
    throw new AppError("request_invalid", `The datetime zone id '${zoneName}' is not recognised`);
  try {
    return compilePrinter(format, DIALECT)(applyDateMath(math, format, zone, now));
  } catch (error) {
    if (error instanceof AppError && error.code === "request_invalid") throw error;
    throw new AppError("request_invalid", `[${format}] isn't a date format: ${(error as Error).message}`);
  }
}

/**
 * Applies `+1d`, `-2h`, `/M` to now, or to a date in the format before `||`. Returns the time on the zone's wall clock, ms.
 * Throws request_invalid.
 */
function applyDateMath(math: string, format: string, zone: TimeZone, now: Date): number {
  const at = math.indexOf("||");
  const isNow = at < 0 && math.startsWith("now");
  const start = isNow ? now.getTime() : readDate(math.slice(0, Math.max(at, 0)), format, zone);
  const rest = isNow ? math.slice("now".length) : math.slice(at + 2);
  const steps = rest.match(/[+-]\d+[yMwdhHms]|\/[yMwdhHms]/g) ?? [];
  if (start === undefined || steps.join("") !== rest) {
    throw new AppError(
      "request_invalid",
      `[${math}] isn't date math; write for example now/d, now-1d/M or a date in the format of the name and ||/d`,
    );
  }
  const date = new Date(zone.toLocal(steps.reduce((timeMs, step) => applyStep(timeMs, step, zone), start)));
  if (Number.isNaN(date.getTime()))
    throw new AppError("request_invalid", `[${math}] is out of the range of dates`);
  return date.getTime();
}

/** Returns the time in UTC that a text names, ms, or undefined. */
function readDate(text: string, format: string, zone: TimeZone): number | undefined {
  const fields = compileReader(format, DIALECT, PIVOT_YEAR)(text);
  const time = fields === undefined ? Number.NaN : civilTime(fields, fields.year ?? DEFAULT_YEAR);
  return Number.isNaN(time) ? undefined : zone.toUtc(time);
}

/** Applies one step to a time in UTC, ms. Days are the zone's, which may have 23 or 25 hours. */
function applyStep(timeMs: number, step: string, zone: TimeZone): number {
  const unit = step.at(-1)!;
  const amount = step.startsWith("/") ? undefined : Number(step.slice(0, -1));
  const fixedMs = FIXED_MS[unit];
  if (amount !== undefined && fixedMs !== undefined) return timeMs + amount * fixedMs;
  const date = new Date(zone.toLocal(timeMs));
  if (amount === undefined) roundDown(date, unit);
  else if (unit === "y" || unit === "M") shiftMonths(date, unit === "y" ? amount * 12 : amount);
  else date.setTime(date.getTime() + amount * (unit === "w" ? 7 * DAY_MS : DAY_MS));
  return zone.toUtc(date.getTime());
}

function shiftMonths(date: Date, amount: number): void {
  const day = date.getUTCDate();
  date.setUTCMonth(date.getUTCMonth() + amount);
  // A month earlier than 31 March is the last of February.
  if (date.getUTCDate() !== day) date.setUTCDate(0);
}

function roundDown(date: Date, unit: string): void {
  date.setUTCMilliseconds(0);
  if (unit === "s") return;
  date.setUTCSeconds(0);
  if (unit === "m") return;
  date.setUTCMinutes(0);
  if (unit === "h" || unit === "H") return;
  date.setUTCHours(0);
  if (unit === "w") date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7));
  if (unit === "M" || unit === "y") date.setUTCDate(1);
  if (unit === "y") date.setUTCMonth(0);
}
