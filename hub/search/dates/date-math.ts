/** Dates of queries: "2018-11-14", "now-1d/d", "2018-11||+1M/M", with a time zone and rounding up. */

import { dateFormat, givenFormat } from "#hub/engine/mapping/date-format.ts";
import { belowMillis, nanosOf } from "#hub/engine/mapping/date-nanos.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { addUnits, type CalendarUnit, calendarRounding, isShort } from "./rounding.ts";

export interface DateMathOptions {
  /** `||`-separated formats of the text. */
  readonly format: string;
  /** What `now` means, ms. */
  readonly nowMs: number;
  readonly zone: TimeZone;
  /** True: missing parts of the time of day, and rounding, give the last ms instead of the first. */
  readonly roundUp: boolean;
}

/** Last nanosecond of a millisecond. */
const LAST_NANO = 999_999;

const UNITS: Readonly<Record<string, CalendarUnit>> = {
  y: "year",
  M: "month",
  w: "week",
  d: "day",
  h: "hour",
  H: "hour",
  m: "minute",
  s: "second",
};

/** A time of day with a zone at the end, and a count of milliseconds or seconds: no zone of the query changes them. */
const HAS_ZONE = /(?:\s|T\d{2}|:\d{2}(?:[.,]\d+)?)(?:Z|[+-]\d{2}:?\d{2})$/i;
const EPOCH = /^-?\d{5,}(?:\.\d+)?$/;

/** Returns ms since 1970-01-01 UTC. Throws parsing. */
export function parseDateMath(text: string, options: DateMathOptions): number {
  if (text.startsWith("now")) return applyMath(options.nowMs, text.slice(3), text, options);
  const at = text.indexOf("||");
  const date = at < 0 ? text : text.slice(0, at);
  const math = at < 0 ? "" : text.slice(at + 2);
  const rounding = { ...options, roundUp: options.roundUp && math === "" };
  return applyMath(parseDate(date, rounding), math, text, options);
}

/** Like parseDateMath, in ns since 1970-01-01 UTC. */
export function nanosMath(text: string, options: DateMathOptions): bigint {
  const timeMs = parseDateMath(text, options);
  const isWritten = !text.startsWith("now") && !text.includes("||");
  const fitting = isWritten
    ? options.format.split("||").find((format) => !Number.isNaN(dateFormat(format).parse(text)))
    : undefined;
  const below = fitting === undefined ? undefined : belowMillis(text, fitting);
  return nanosOf(timeMs, below ?? (options.roundUp ? LAST_NANO : 0));
}

function parseDate(text: string, { format, zone, roundUp }: DateMathOptions): number {
  const compiled = dateFormat(format);
  const parsed = roundUp ? compiled.parseLast(text) : compiled.parse(text);
  if (Number.isNaN(parsed)) {
    throw new AppError(
      "parsing",
      `failed to parse date field [${text}] with format [${givenFormat(format)}]`,
      {
        data: { type: "parse_exception" },
      },
    );
  }
  const absolute = HAS_ZONE.test(text) || (format.includes("epoch_") && EPOCH.test(text));
  return absolute ? parsed : zone.toUtc(parsed);
}

function applyMath(start: number, math: string, text: string, { zone, roundUp }: DateMathOptions): number {
  if (math === "") return start;
  const steps = math.match(/[+-]\d*[yMwdhHms]|\/[yMwdhHms]/g) ?? [];
  if (steps.join("") !== math) {
    throw new AppError(
      "parsing",
      `[${text}] isn't date math; write for example now-1d/d or 2018-11-14||+1M`,
      {
        data: { type: "parse_exception" },
      },
    );
  }
  let utcMs = start;
  for (const step of steps) {
    const unit = UNITS[step.at(-1)!]!;
    if (step.startsWith("/")) {
      const rounding = calendarRounding(unit, zone);
      const floor = rounding.floor(utcMs);
      utcMs = roundUp ? rounding.next(floor) - 1 : floor;
    } else {
      const amount = step.length === 2 ? 1 : Number(step.slice(1, -1));
      utcMs = moved(utcMs, unit, step.startsWith("-") ? -amount : amount, zone);
    }
  }
  return utcMs;
}

/**
 * A time moved by units: hours and shorter ones by the time that passes, others in local time. A local time that is there twice is
 * the one with the offset from before; one that the clocks skip is as much later.
 */
function moved(utcMs: number, unit: CalendarUnit, amount: number, zone: TimeZone): number {
  if (isShort(unit)) return addUnits(utcMs, unit, amount);
  const offset = zone.offsetAt(utcMs);
  const local = addUnits(utcMs + offset, unit, amount);
  const same = local - offset;
  if (zone.offsetAt(same) === offset) return same;
  const first = zone.toUtc(local);
  return zone.toLocal(first) === local ? first : local - zone.offsetAt(first - 1);
}

/** Prints ms since 1970-01-01 UTC in the first of `formats`, as seen in `zone`. */
export function printDate(timeMs: number, formats: string, zone: TimeZone): string {
  const first = formats.split("||")[0] ?? "";
  const format = dateFormat(first);
  if (first.startsWith("epoch_")) return format.print(timeMs);
  const text = format.print(zone.toLocal(timeMs));
  const suffix = zone.suffix(timeMs);
  return suffix === "Z" || !text.endsWith("Z") ? text : text.slice(0, -1) + suffix;
}

/** Returns the zone of a name or an offset ("+01:00", "Europe/Berlin"); UTC without one. Throws request_invalid. */
export function timeZone(name: string | undefined): TimeZone {
  if (name === undefined || name === "") return UTC;
  const zone = findTimeZone(name);
  if (zone !== undefined) return zone;
  throw new AppError("request_invalid", `The datetime zone id '${name}' is not recognised`);
}
