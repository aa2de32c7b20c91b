/** Static methods and fields of the classes of dates. */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { print } from "#hub/scripts/values/values.ts";
import { findTimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { ADJUSTERS } from "./date-adjusters.ts";
import { CHRONO_UNITS, msBetween, plusUnit } from "./date-arithmetic.ts";
import { Constant, dayOfWeek, monthOfYear } from "./date-constants.ts";
import { checkedDayOfYear, checkedField, dayStart, isLeapYear, timeOfDay } from "./date-fields.ts";
import { CHRONO_FIELDS } from "./date-methods.ts";
import { DateTime } from "./dates.ts";
import { Duration, Period } from "./durations.ts";
import { FORMATTERS, Formatter } from "./formatters.ts";
import { parseDate } from "./iso-dates.ts";
import { zoneOf } from "./moment.ts";

const EPOCH = new DateTime(0);

type Static = (values: readonly unknown[]) => unknown;
/** Every name is a method's, those of the host's objects too. */
type Statics = { [name: string]: Static; valueOf?: Static };

function zoneName(name: unknown): string {
  if (name !== "Z" && findTimeZone(print(name)) === undefined) zoneOf(name);
  return print(name);
}

/** Throws ClassCastException. */
function instantOf(value: unknown): DateTime {
  if (value instanceof DateTime) return value;
  throw new ScriptException("ClassCastException", "a date was expected");
}

const ofInstant = ([instant, zone]: readonly unknown[]): DateTime => {
  const { timeMs, nanos } = instantOf(instant);
  return new DateTime(timeMs, zoneOf(zone), nanos);
};

/** Of year, month, day, hour, minute, second, nanosecond; the first parts may be all. */
function dateOf(values: readonly unknown[], zoneAt: number): DateTime {
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0, nano = 0] = values
    .slice(0, 7)
    .map((value) => (value instanceof Constant ? value.ordinal : toInteger(value)));
  const zone = zoneOf(values[zoneAt] ?? "Z");
  const local = dayStart(year, month, day) + timeOfDay(hour, minute, second);
  const nanos = checkedField("NanoOfSecond", nano);
  return new DateTime(zone.toUtc(local + Math.floor(nanos / 1e6)), zone, nanos % 1e6);
}

/** ISO 8601: P1DT2H3.5S. Throws DateTimeParseException. */
function parseDuration(text: string): Duration {
  const found =
    /^([+-]?)P(?:([+-]?\d{1,9})D)?(?:T(?:([+-]?\d{1,9})H)?(?:([+-]?\d{1,9})M)?(?:([+-]?\d{1,12}(?:\.\d{1,9})?)S)?)?$/i.exec(
      text,
    );
  if (found === null || !/\d/.test(text))
    throw new ScriptException("DateTimeParseException", "Text cannot be parsed to a Duration");
  const [days, hours, minutes, seconds] = found.slice(2).map((part) => Number(part ?? 0));
  const ms = days! * DAY_MS + hours! * HOUR_MS + minutes! * 60_000 + seconds! * 1000;
  return new Duration(found[1] === "-" ? -ms : ms);
}

/** Reads a text as ISO 8601 or by a formatter. Throws DateTimeParseException. */
function read([text, formatter]: readonly unknown[]): DateTime {
  if (formatter instanceof Formatter && formatter.named === undefined) return formatter.read(print(text));
  return parseDate(text);
}

/** Returns the static method that makes a date of a local class. */
const as =
  (
    kind: "LocalDate" | "LocalDateTime" | "LocalTime",
    make: (values: readonly unknown[]) => DateTime,
  ): Static =>
  (values) =>
    make(values).toLocal(kind);

const asInstant =
  (make: (values: readonly unknown[]) => DateTime): Static =>
  (values) => {
    const { timeMs, nanos } = make(values);
    return new DateTime(timeMs, UTC, nanos, "Instant");
  };

const ofEpochSecond = ([seconds, nano = 0]: readonly unknown[]): DateTime =>
  new DateTime(toInteger(seconds) * 1000 + Math.floor(toInteger(nano) / 1e6), UTC, toInteger(nano) % 1e6);

/** Static methods by class. */
export const DATE_STATICS: Readonly<Record<string, Statics>> = {
  ZonedDateTime: { parse: read, ofInstant, of: (values) => dateOf(values, 7) },
  LocalDate: {
    parse: as("LocalDate", read),
    of: as("LocalDate", (values) => dateOf(values, 3)),
    ofEpochDay: as("LocalDate", ([day]) => new DateTime(toInteger(day) * DAY_MS)),
    ofYearDay: as("LocalDate", ([given, day]) => {
      const year = toInteger(given);
      return new DateTime(dayStart(year, 1, 1) + (checkedDayOfYear(year, toInteger(day)) - 1) * DAY_MS);
    }),
  },
  LocalDateTime: {
    parse: as("LocalDateTime", read),
    ofInstant: as("LocalDateTime", ofInstant),
    of: as("LocalDateTime", (values) => dateOf(values, 7)),
    ofEpochSecond: as("LocalDateTime", ofEpochSecond),
  },
  LocalTime: {
    parse: as("LocalTime", ([text, formatter]) =>
      read(formatter === undefined ? [`1970-01-01T${print(text)}`] : [text, formatter]),
    ),
    of: as("LocalTime", (values) => dateOf([1970, 1, 1, ...values], 7)),
    ofSecondOfDay: as(
      "LocalTime",
      ([second]) => new DateTime(checkedField("SecondOfDay", toInteger(second)) * 1000),
    ),
  },
  Instant: {
    ofEpochMilli: asInstant(([ms]) => new DateTime(toInteger(ms))),
    ofEpochSecond: asInstant(ofEpochSecond),
    parse: asInstant(([text]) => parseDate(text)),
  },
  TemporalAdjusters: ADJUSTERS,
  TimeZone: { getTimeZone: ([name]) => new Constant("ZoneId", zoneName(name), 0) },
  Year: { isLeap: ([year]) => isLeapYear(toInteger(year)) },
  ZoneId: { of: ([name]) => new Constant("ZoneId", zoneName(name), 0) },
  ZoneOffset: { of: ([name]) => new Constant("ZoneId", zoneName(name), 0) },
  DayOfWeek: {
    of: ([day]) => dayOfWeek(toInteger(day)),
    valueOf: ([name]) => constantOf("DayOfWeek", print(name)),
  },
  Duration: {
    between: ([from, to]) => Duration.between(from, to),
    parse: ([text]) => parseDuration(print(text)),
    of: ([count, unit]) => new Duration(msBetween(EPOCH, plusUnit(EPOCH, [count, unit], 1))),
    ofNanos: ([nanos]) => new Duration(toInteger(nanos) / 1e6),
    ofMillis: ([ms]) => new Duration(toInteger(ms)),
    ofSeconds: ([seconds]) => new Duration(toInteger(seconds) * 1000),
    ofMinutes: ([minutes]) => new Duration(toInteger(minutes) * 60_000),
    ofHours: ([hours]) => new Duration(toInteger(hours) * HOUR_MS),
    ofDays: ([days]) => new Duration(toInteger(days) * DAY_MS),
  },
  Period: {
    between: ([from, to]) => Period.between(from, to),
    ofDays: ([days]) => new Period(0, toInteger(days)),
    ofMonths: ([months]) => new Period(toInteger(months), 0),
    ofYears: ([years]) => new Period(12 * toInteger(years), 0),
  },
  Month: {
    of: ([month]) => monthOfYear(toInteger(month)),
    valueOf: ([name]) => constantOf("Month", print(name)),
  },
  ChronoUnit: { valueOf: ([name]) => constantOf("ChronoUnit", print(name)) },
  DateTimeFormatter: { ofPattern: ([pattern]) => new Formatter(print(pattern)) },
};

function prefixed(type: string, fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [`${type}.${name}`, value]));
}

/** Static fields by class and name. */
export const DATE_FIELDS: Readonly<Record<string, unknown>> = {
  "ZoneOffset.UTC": new Constant("ZoneId", "Z", 0),
  ...Object.fromEntries(
    Object.entries({
      ROOT: "",
      ENGLISH: "en",
      US: "en_US",
      UK: "en_GB",
      GERMAN: "de",
      GERMANY: "de_DE",
      FRENCH: "fr",
      FRANCE: "fr_FR",
    }).map(([name, locale]) => [`Locale.${name}`, new Constant("Locale", locale, 0)]),
  ),
  "Instant.EPOCH": new DateTime(0, UTC, 0, "Instant"),
  "Duration.ZERO": new Duration(0),
  ...prefixed("DateTimeFormatter", FORMATTERS),
  ...prefixed(
    "TextStyle",
    Object.fromEntries(
      ["FULL", "SHORT", "NARROW", "FULL_STANDALONE", "SHORT_STANDALONE", "NARROW_STANDALONE"].map(
        (name, at) => [name, new Constant("TextStyle", name, at)],
      ),
    ),
  ),
};

/** Throws IllegalArgumentException where there is no such constant. */
function constantOf(type: string, name: string): Constant {
  const constant = dateConstant(type, name);
  if (constant !== undefined) return constant;
  const path = type === "ChronoUnit" ? "java.time.temporal" : "java.time";
  throw new ScriptException("IllegalArgumentException", `No enum constant ${path}.${type}.${name}`);
}

/** Returns a constant such as DayOfWeek.MONDAY; undefined where there is none. */
export function dateConstant(type: string, name: string): Constant | undefined {
  if (type === "ChronoUnit") return CHRONO_UNITS.get(name);
  if (type === "ChronoField" || type === "IsoFields") return CHRONO_FIELDS.get(name);
  for (let at = 1; at <= 12; at++) {
    if (type === "DayOfWeek" && at <= 7 && dayOfWeek(at).name === name) return dayOfWeek(at);
    if (type === "Month" && monthOfYear(at).name === name) return monthOfYear(at);
  }
  return undefined;
}
