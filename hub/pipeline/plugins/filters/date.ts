/** Filter date: makes a field's text the event's time. */

import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { Timestamp, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import { civilTime, type DateFields, utcTime } from "#proto/kit/dates/civil-time.ts";
import { JODA } from "#proto/kit/dates/date-pattern.ts";
import { compileReader, offsetOf } from "#proto/kit/dates/date-reader.ts";
import { findTimeZone, type TimeZone } from "#proto/kit/dates/time-zone.ts";
import { list, optional, options, text } from "#proto/kit/options.ts";

/** Returns ms since 1970-01-01 UTC, or undefined where the text doesn't fit. */
type DateParser = (value: string, zone: TimeZone, now: () => number) => number | undefined;

/** 2^62, which a TAI64 label adds to the seconds; TAI was 10 s ahead of UTC in 1970. */
const TAI_EPOCH = 2n ** 62n;
const TAI_OFFSET_S = 10n;

/** Largest number of ms a time can have. */
const MAX_MS = 8.64e15;

const ISO =
  /^([+-]?\d{4,6})(?:-(\d{2})(?:-(\d{2}))?)?(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(?:[.,](\d{1,9}))?)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?$/;

export const dateFilter = defineFilter({
  name: "date",
  description: "reads a time out of a field, by default into @timestamp",
  options: options({
    match: list(
      "field and then formats: ISO8601, UNIX, UNIX_MS, TAI64N or patterns like yyyy-MM-dd HH:mm:ss",
    ),
    timezone: optional(text("zone of texts that say none, a format; without it that of this process")),
    locale: optional(text("language of the names of months and days; English without it")),
    target: text("field that takes the time", "@timestamp"),
    tag_on_failure: list("tags of events that no format fits", ["_dateparsefailure"]),
  }),
  create({ match, timezone, locale, target, tag_on_failure }, context) {
    const [field = "", ...formats] = match;
    if (formats.length === 0) {
      context.report(
        "error",
        "match",
        "match needs a field and at least one format",
        'write: match => [ "time", "ISO8601" ]',
      );
      return { apply: () => false };
    }
    for (const format of formats) warnOfDays(format, context);
    const source = fieldReference(field);
    const into = fieldReference(target);
    const parsers = formats.map((format) => dateParser(format, (locale ?? "en").replace("_", "-")));
    const zoneOf = zones(timezone, context);
    const now = (): number => context.clock.now();
    return {
      apply(event) {
        const value = event.get(source);
        const first: unknown = Array.isArray(value) ? value[0] : value;
        if (first === undefined || first === null || first === "") return false;
        const zone = zoneOf(event);
        const time = zone === undefined ? undefined : parse(parsers, valueText(first), zone, now);
        if (time === undefined) {
          for (const tag of tag_on_failure) event.tag(tag);
          return false;
        }
        event.set(into, new Timestamp(time));
        return true;
      },
    };
  },
});

/** DD is the day of the year; beside a month nobody means that. */
function warnOfDays(format: string, context: FilterContext): void {
  if (!/DD/.test(format) || !/M/.test(format)) return;
  context.report(
    "warning",
    "match",
    `DD in "${format}" is the day of the year`,
    `the day of the month is dd: "${format.replace(/D+/, "dd")}"`,
  );
}

function parse(
  parsers: readonly DateParser[],
  value: string,
  zone: TimeZone,
  now: () => number,
): number | undefined {
  for (const parser of parsers) {
    const time = parser(value, zone, now);
    if (time !== undefined) return time;
  }
  return undefined;
}

/** Returns the zone of an event; undefined where its text names none. */
function zones(
  timezone: string | undefined,
  { report }: FilterContext,
): (event: Parameters<Format>[0]) => TimeZone | undefined {
  const format = compileFormat(timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (!format.isConstant) return (event) => findTimeZone(format(event));
  const zone = findTimeZone(timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (zone === undefined)
    report("error", "timezone", `"${timezone}" is no time zone`, "write for example Europe/Berlin or +02:00");
  return () => zone;
}

function dateParser(format: string, locale: string): DateParser {
  switch (format) {
    case "ISO8601":
      return parseIso;
    case "UNIX":
      return (value) => parseNumber(value, 1000);
    case "UNIX_MS":
      return (value) => parseNumber(value, 1);
    case "TAI64N":
      return parseTai;
    default:
      return patternParser(format, locale);
  }
}

/** Years of two digits are within the 50 years before and the 49 after the current one. */
const PIVOT_DISTANCE_YEARS = 50;

function patternParser(pattern: string, locale: string): DateParser {
  const pivotYear = new Date().getUTCFullYear() - PIVOT_DISTANCE_YEARS;
  const read = compileReader(pattern, { ...JODA, locale }, pivotYear);
  return (value, zone, now) => {
    const fields = read(value);
    if (fields === undefined) return undefined;
    const time = utcTime(fields, civilTime(fields, fields.year ?? guessYear(fields, now())), zone);
    return Number.isNaN(time) ? undefined : time;
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
  const ms = Math.trunc(Number(value) * factor);
  return Math.abs(ms) <= MAX_MS ? ms : undefined;
}

function parseTai(value: string): number | undefined {
  const found = /^@?([0-9a-fA-F]{16})([0-9a-fA-F]{8})?$/.exec(value);
  if (found === null) return undefined;
  const seconds = BigInt(`0x${found[1]}`) - TAI_EPOCH - TAI_OFFSET_S;
  return Number(seconds) * 1000 + Math.floor(Number.parseInt(found[2] ?? "0", 16) / 1e6);
}

function parseIso(value: string, zone: TimeZone): number | undefined {
  const found = ISO.exec(value);
  if (found === null) return undefined;
  const [, year, month = "1", day = "1", hour = "0", minute = "0", second = "0", fraction = "", offset] =
    found;
  const ms = Math.floor(Number(`0.${fraction || "0"}`) * 1000);
  const civil = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    ms,
  );
  if (
    Number(month) < 1 ||
    Number(month) > 12 ||
    Number(hour) > 23 ||
    Number(minute) > 59 ||
    Number(second) > 59 ||
    new Date(civil).getUTCDate() !== Number(day)
  ) {
    return undefined;
  }
  return offset === undefined ? zone.toUtc(civil) : civil - offsetOf(offset)!;
}
