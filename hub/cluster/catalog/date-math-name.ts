/** Names of indices that hold a date, which date math gives: `<logs-{now/d{yyyy.MM.dd|+01:00}}>`. */

import { civilTime } from "#proto/kit/dates/civil-time.ts";
import { JODA } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { compileReader } from "#proto/kit/dates/date-reader.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";

const DEFAULT_FORMAT = "yyyy.MM.dd";
/** Years of two digits are those of 1970 to 2069. */
const PIVOT_YEAR = 1970;

/**
 * Replaces each `{now/d}`, `{now/d{format|zone}}` or `{2018-11-14||/M{format|zone}}` of a name in angle brackets; other
 * names stay. Throws request_invalid.
 */
export function decodeDateMath(name: string, now: Date = new Date()): string {
  if (!name.startsWith("<") || !name.endsWith(">")) return name;
  return name
    .slice(1, -1)
    .replace(/\{([^{}]+)(?:\{([^{}]*)\})?\}/g, (_, math: string, given = DEFAULT_FORMAT) => {
      const [format = DEFAULT_FORMAT, zoneName] = (given as string).split("|");
      const zone = zoneName === undefined ? UTC : findTimeZone(zoneName);
      if (zone === undefined)
        throw new AppError("request_invalid", `The datetime zone id '${zoneName}' is not recognised`);
      try {
        return compilePrinter(format, JODA)(applyDateMath(math, format, zone, now).getTime());
      } catch (error) {
        if (error instanceof AppError && error.code === "request_invalid") throw error;
        throw new AppError("request_invalid", `[${format}] is no date format: ${(error as Error).message}`);
      }
    });
}

/**
 * Applies `+1d`, `-2h`, `/M` to now, or to a date in the format before `||`; all of it on the zone's wall clock, which
 * the fields in UTC of the answer show. Throws request_invalid.
 */
function applyDateMath(math: string, format: string, zone: TimeZone, now: Date): Date {
  const at = math.indexOf("||");
  const isNow = at < 0 && math.startsWith("now");
  const start = isNow ? zone.toLocal(now.getTime()) : readDate(math.slice(0, Math.max(at, 0)), format);
  const rest = isNow ? math.slice("now".length) : math.slice(at + 2);
  const steps = rest.match(/[+-]\d+[yMwdhHms]|\/[yMwdhHms]/g) ?? [];
  if (start === undefined || steps.join("") !== rest) {
    throw new AppError(
      "request_invalid",
      `[${math}] is no date math; write for example now/d, now-1d/M or a date in the format of the name and ||/d`,
    );
  }
  const date = new Date(start);
  for (const step of steps) {
    const unit = step.at(-1)!;
    if (step.startsWith("/")) roundDown(date, unit);
    else shift(date, Number(step.slice(0, -1)), unit);
  }
  return date;
}

/** Returns the wall-clock time that a text names, ms, or undefined. */
function readDate(text: string, format: string): number | undefined {
  const fields = compileReader(format, JODA, PIVOT_YEAR)(text);
  const time = fields?.year === undefined ? Number.NaN : civilTime(fields, fields.year);
  return Number.isNaN(time) ? undefined : time;
}

function shift(date: Date, amount: number, unit: string): void {
  if (unit === "y") date.setUTCFullYear(date.getUTCFullYear() + amount);
  else if (unit === "M") date.setUTCMonth(date.getUTCMonth() + amount);
  else {
    const ms: Record<string, number> = {
      w: 604_800_000,
      d: 86_400_000,
      h: 3_600_000,
      H: 3_600_000,
      m: 60_000,
      s: 1_000,
    };
    date.setTime(date.getTime() + amount * ms[unit]!);
  }
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
