/** The options of buckets of times: how long they are, and where they begin. */

import { calendarRounding, calendarUnit, fixedRounding, type Rounding } from "#hub/search/dates/rounding.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, parseDuration } from "#proto/kit/units.ts";

/** What times reach on either side of 1970. */
const MAX_OFFSET_MS = 8.64e15;

/** The options that say how long buckets are; exactly one is given. */
export interface Intervals {
  readonly interval: unknown;
  readonly calendar_interval: string | undefined;
  readonly fixed_interval: string | undefined;
}

/** Reads the intervals. Throws request_invalid. */
export function readRounding(options: Intervals, zone: TimeZone, name: string): Rounding {
  const { interval, calendar_interval: calendar, fixed_interval: fixed } = options;
  const given = [interval, calendar, fixed].filter((each) => each !== undefined);
  if (given.length > 1) {
    throw new AppError(
      "request_invalid",
      "Cannot use [interval] with [fixed_interval] or [calendar_interval] configuration options.",
    );
  }
  if (given.length === 0)
    throw new AppError(
      "request_invalid",
      `[interval] must be given for date_histogram aggregation [${name}]`,
    );
  if (interval !== undefined) {
    warnDeprecated(
      "[interval] on [date_histogram] is deprecated, use [fixed_interval] or [calendar_interval] in the future.",
      { from: 702 },
    );
  }
  const value = scalarText(given[0], "interval");
  const unit = fixed === undefined ? calendarUnit(value) : undefined;
  if (unit !== undefined) return calendarRounding(unit, zone);
  if (calendar !== undefined) {
    throw new AppError(
      "request_invalid",
      `The supplied interval [${value}] could not be parsed as a calendar interval; write 1m, 1h, 1d, 1w, 1M, 1q or 1y`,
    );
  }
  return fixedRounding(readTime(value, "interval"), zone);
}

/** How many months buckets are long; undefined for other lengths. */
export function monthsOf({ interval, calendar_interval: calendar }: Intervals): number | undefined {
  const unit = calendarUnit(String(calendar ?? interval));
  return unit === "month" ? 1 : unit === "quarter" ? 3 : unit === "year" ? 12 : undefined;
}

/** Returns ms of "90m", "+6h", "-1d", "1w" or a number of ms. Throws request_invalid. */
function readTime(value: string, option: string): number {
  if (/\d\.\d*[a-z]/i.test(value))
    throw new AppError(
      "request_invalid",
      `failed to parse [${value}], fractional time values are not supported`,
    );
  const match = /^([+-]?)(.+)$/.exec(value.trim());
  const weeks = /^(\d+)w$/.exec(match?.[2] ?? "");
  try {
    const sizeMs = weeks === null ? parseDuration(match?.[2] ?? "", 1) : Number(weeks[1]) * 7 * DAY_MS;
    return match?.[1] === "-" ? -sizeMs : sizeMs;
  } catch (error) {
    throw new AppError(
      "request_invalid",
      `failed to parse setting [date_histogram.${option}] with value [${value}] as a time; write for example 90m or 12h`,
      { cause: error },
    );
  }
}

/** Reads the option `offset` as ms. Throws request_invalid. */
export function readOffset(offset: unknown): number {
  if (offset === undefined || offset === null) return 0;
  const offsetMs = typeof offset === "number" ? offset : readTime(scalarText(offset, "offset"), "offset");
  if (Math.abs(offsetMs) <= MAX_OFFSET_MS) return offsetMs;
  throw new AppError("request_invalid", `[offset] [${offsetMs}] is out of the range of times`);
}

/** Returns a rounding whose buckets begin later. */
export function shifted(rounding: Rounding, offsetMs: number): Rounding {
  if (offsetMs === 0) return rounding;
  return {
    floor: (utcMs) => rounding.floor(utcMs - offsetMs) + offsetMs,
    next: (bucketMs) => rounding.next(bucketMs - offsetMs) + offsetMs,
  };
}
