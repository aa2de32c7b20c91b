/**
 * Filter date: parses a field as the event's time. An event without the field stays as it is and gets no tag, such as one
 * that `grok` didn't match: only a field that no format fits is a failure.
 */

import { type DateParser, dateParser } from "#hub/pipeline/formats/date-parser.ts";
import { defineFilter, type FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { Timestamp, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { compileFormat, type Format } from "#proto/format.ts";
import { JODA } from "#proto/kit/dates/date-pattern.ts";
import { findTimeZone, type TimeZone } from "#proto/kit/dates/time-zone.ts";
import { list, optional, options, text } from "#proto/kit/options.ts";

export const dateFilter = defineFilter({
  name: "date",
  description: "parses a time from a field, by default into @timestamp",
  options: options({
    match: list(
      "field, followed by formats: ISO8601, UNIX, UNIX_MS, TAI64N or patterns such as yyyy-MM-dd HH:mm:ss",
    ),
    timezone: optional(text("time zone of texts without one, a format; default: that of this process")),
    locale: optional(text("language of month and day names; default: English")),
    target: text("target field for the time", "@timestamp"),
    tag_on_failure: list(
      "tags of events that match no format, or have a local time that a change of the clocks skips",
      ["_dateparsefailure"],
    ),
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
    const parsers = formats.map((format) => parserOf(format, (locale ?? "en").replace("_", "-")));
    const zoneOf = zones(timezone, context);
    const now = (): number => context.clock.now();
    return {
      apply(event) {
        const value = event.get(source);
        const first: unknown = Array.isArray(value) ? value[0] : value;
        if (first === undefined || first === null) return false;
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

/** A number beyond this isn't seconds but milliseconds, which a later format may read. */
const MAX_UNIX_S = 2 ** 31 - 1;

function parserOf(format: string, locale: string): DateParser {
  const parser = dateParser(format, locale, JODA, "none");
  if (format !== "UNIX") return parser;
  return (value, zone, now) => (Number(value) > MAX_UNIX_S ? undefined : parser(value, zone, now));
}

/** DD is the day of the year; beside a month that is hardly meant. */
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

/** Returns the zone of an event; undefined if its text names none. */
function zones(
  timezone: string | undefined,
  { report }: FilterContext,
): (event: Parameters<Format>[0]) => TimeZone | undefined {
  const format = compileFormat(timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (!format.isConstant) return (event) => findTimeZone(format(event));
  const zone = findTimeZone(timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone);
  if (zone === undefined)
    report(
      "error",
      "timezone",
      `"${timezone}" is not a time zone`,
      "write for example Europe/Berlin or +02:00",
    );
  return () => zone;
}
