/** Reads times by the formats of pipelines: ISO8601, UNIX, UNIX_MS, TAI64N or a date pattern. */

import { civilTime, type DateFields, startOfDay, utcTime } from "#proto/kit/dates/civil-time.ts";
import { JODA, type PatternDialect } from "#proto/kit/dates/date-pattern.ts";
import { compileReader, offsetOf } from "#proto/kit/dates/date-reader.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { HOUR_MS, MINUTE_MS, SECOND_MS } from "#proto/kit/units.ts";

/** Returns ms since 1970-01-01 UTC, or undefined if the text doesn't fit. */
export type DateParser = (value: string, zone: TimeZone, now: () => number) => number | undefined;

/** 2^62, which a TAI64 label adds to the seconds; TAI was 10 s ahead of UTC in 1970. */
const TAI_EPOCH = 2n ** 62n;
const TAI_OFFSET_S = 10n;

/** Largest number of ms a time can have. */
const MAX_MS = 8.64e15;

/** Years of more than four digits have a sign: 161209 is a date without separators, for another format to read. */
const ISO =
  /^([+-]\d{4,6}|\d{4})(?:-(\d{2})(?:-(\d{2}))?)?(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

/** Years of two digits are within the 50 years before and the 49 after the current one. */
const PIVOT_DISTANCE_YEARS = 50;

/** How a local time that a change of the clocks skips is treated: the moment of the change, or no time at all. */
export type SkippedTime = "change" | "none";

/** Compiles a format. Throws what the dialect refuses a pattern with. */
export function dateParser(
  format: string,
  locale: string,
  dialect: PatternDialect = JODA,
  skipped: SkippedTime = "change",
): DateParser {
  switch (format) {
    case "ISO8601":
      return (value, zone) => parseIso(value, zone, skipped);
    case "UNIX":
      return (value) => parseNumber(value, 1000);
    case "UNIX_MS":
      return (value) => parseNumber(value, 1);
    case "TAI64N":
      return parseTai;
    default:
      return patternParser(format, { ...dialect, locale }, skipped);
  }
}

function patternParser(pattern: string, dialect: PatternDialect, skipped: SkippedTime): DateParser {
  const pivotYear = new Date().getUTCFullYear() - PIVOT_DISTANCE_YEARS;
  const read = compileReader(pattern, dialect, pivotYear);
  return (value, zone, now) => {
    const fields = read(value);
    if (fields === undefined) return undefined;
    const local = civilTime(fields, fields.year ?? guessYear(fields, now()));
    const time = utcTime(fields, local, zone);
    if (Number.isNaN(time)) return undefined;
    const isLocal = fields.offsetMs === undefined && fields.zone === undefined;
    return isLocal && skipped === "none" && zone.toLocal(time) !== local ? undefined : time;
  };
}

/** December read in January was last year's, January read in December is next year's. */
function guessYear({ month }: DateFields, nowMs: number): number {
  const now = new Date(nowMs);
  const year = now.getUTCFullYear();
  if (month === 12 && now.getUTCMonth() === 0) return year - 1;
  return month === 1 && now.getUTCMonth() === 11 ? year + 1 : year;
}

function parseNumber(value: string, factor: number): number | undefined {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value)) return undefined;
  // Not the product, which floats may miss by a bit.
  const ms = Math.trunc(Number(factor === 1 ? value : shifted(value)));
  return Math.abs(ms) <= MAX_MS ? ms : undefined;
}

/** Returns the text of a number that is a thousand times as large. */
function shifted(value: string): string {
  const [digits, exponent = "0"] = value.toLowerCase().split("e");
  return `${digits}e${Number(exponent) + 3}`;
}

function parseTai(value: string): number | undefined {
  const found = /^@?([0-9a-fA-F]{16})([0-9a-fA-F]{8})?$/.exec(value);
  if (found === null) return undefined;
  const seconds = BigInt(`0x${found[1]}`) - TAI_EPOCH - TAI_OFFSET_S;
  return Number(seconds) * 1000 + Math.floor(Number.parseInt(found[2] ?? "0", 16) / 1e6);
}

function parseIso(value: string, zone: TimeZone, skipped: SkippedTime): number | undefined {
  const found = ISO.exec(value);
  if (found === null) return undefined;
  const [, year, month = "1", day = "1", hour = "0", minute = "0", second = "0", fraction = "", offset] =
    found;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  const dayMs = startOfDay(Number(year), Number(month), Number(day));
  if (Number.isNaN(dayMs)) return undefined;
  const ms = Math.floor(Number(`0.${fraction || "0"}`) * 1000);
  const civil = dayMs + Number(hour) * HOUR_MS + Number(minute) * MINUTE_MS + Number(second) * SECOND_MS + ms;
  if (offset !== undefined) return civil - offsetOf(offset)!;
  const time = zone.toUtc(civil);
  return skipped === "none" && zone.toLocal(time) !== civil ? undefined : time;
}
