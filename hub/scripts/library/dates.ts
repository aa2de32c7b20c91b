/** Dates of scripts: ZonedDateTime (and the class of 6.5 that dates of documents have), DayOfWeek, formatters. */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  type Method,
  type Methods,
  print,
  ScriptObject,
  whole,
} from "#hub/scripts/values/values.ts";
import { isoWeek } from "#proto/kit/dates/civil-time.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { CONSTANT_METHODS, Constant, dayOfWeek, monthOfYear } from "./date-constants.ts";
import {
  checkedDay,
  checkedDayOfYear,
  checkedField,
  checkedTime,
  isLeapYear,
  timeOfDay,
} from "./date-fields.ts";
import { printerOf } from "./date-patterns.ts";

/** Milliseconds of units that always take the same time. */
const UNITS: Readonly<Record<string, number>> = {
  NANOS: 1e-6,
  MICROS: 1e-3,
  MILLIS: 1,
  SECONDS: 1000,
  MINUTES: 60_000,
  HOURS: 3_600_000,
  HALF_DAYS: DAY_MS / 2,
  DAYS: DAY_MS,
  WEEKS: 7 * DAY_MS,
};
const NANOS_A_MS = 1_000_000;
const MONTHS_OF: Readonly<Record<string, number>> = { MONTHS: 1, YEARS: 12, DECADES: 120, CENTURIES: 1200 };

const UNIT_METHODS: Methods = new Map<string, Method>([
  ...CONSTANT_METHODS,
  ["between", (self: Constant, [from, to]) => unitsBetween(self.name, from, to)],
]);

export const CHRONO_UNITS: ReadonlyMap<string, Constant> = new Map(
  [...Object.keys(UNITS), ...Object.keys(MONTHS_OF)].map((name, at) => [
    name,
    new Constant("ChronoUnit", name, at, UNIT_METHODS),
  ]),
);

/** Classes of dates. What has no zone counts as UTC. */
export type DateKind = "ZonedDateTime" | "Instant" | "LocalDate" | "LocalDateTime" | "LocalTime" | "Date";

/** A moment in a zone, or a local date or time. */
export class DateTime extends ScriptObject {
  readonly type: string;
  readonly methods: Methods = DATE_METHODS;
  /** ms since 1970-01-01 UTC. */
  readonly timeMs: number;
  readonly zone: TimeZone;
  /** What the moment is after `timeMs`, 0 to 999,999. */
  readonly nanos: number;

  /** Throws DateTimeException where the time is too far from 1970, or none. */
  constructor(timeMs: number, zone: TimeZone = UTC, nanos = 0, kind: DateKind = "ZonedDateTime") {
    super();
    this.timeMs = checkedTime(timeMs);
    this.zone = zone;
    this.nanos = nanos;
    this.type = kind;
  }

  /** The wall clock's time as a UTC date. */
  get local(): Date {
    return new Date(this.timeMs + this.zone.offsetAt(this.timeMs));
  }

  /** The wall clock's date and time as ISO 8601 with milliseconds; years beyond 9999 have a sign. */
  get isoText(): string {
    return this.local
      .toISOString()
      .slice(0, -1)
      .replace(/^([+-])0{1,2}/, "$1");
  }

  /** True for dates and times without a zone. */
  get isLocal(): boolean {
    return this.type.startsWith("Local");
  }

  /** Returns a date of the same class at another moment. */
  at(timeMs: number, nanos = this.nanos): DateTime {
    const size = this.type === "LocalDate" ? DAY_MS : 1;
    const start = Math.floor(timeMs / size) * size;
    const ms = this.type === "LocalTime" ? ((start % DAY_MS) + DAY_MS) % DAY_MS : start;
    return new DateTime(ms, this.zone, this.type === "LocalDate" ? 0 : nanos, this.type as DateKind);
  }

  /** Returns the wall clock's time as a local class. */
  toLocal(kind: "LocalDate" | "LocalDateTime" | "LocalTime"): DateTime {
    return new DateTime(0, UTC, 0, kind).at(this.local.getTime(), this.nanos);
  }

  /** Returns the moment in a zone: what has no zone has the wall clock's time there. */
  in(zone: TimeZone): DateTime {
    const timeMs = this.isLocal ? zone.toUtc(this.timeMs) : this.timeMs;
    return new DateTime(timeMs, zone, this.nanos);
  }

  override isA(name: string): boolean {
    return !this.isLocal && (name === "Instant" || name === "ZonedDateTime" || name === "Date");
  }

  override valueOf(): number {
    return this.timeMs;
  }

  /** Whether this is before (< 0), at or after the moment of a value. Throws ClassCastException. */
  compareTo(other: unknown): number {
    return this.timeMs - moment(other) || this.nanos - nanosOf(other);
  }

  /** ISO 8601 with milliseconds, and what is beyond them. */
  override asJson(): string {
    if (this.isLocal) return this.toString();
    const text = this.local.toISOString().slice(0, -1);
    const more = this.nanos === 0 ? "" : String(this.nanos).padStart(6, "0").replace(/0+$/, "");
    return `${text}${more}${this.zone === UTC ? "Z" : this.zone.suffix(this.timeMs)}`;
  }

  /** As the class prints: without the parts of the time that are 0, with the name of a zone that has one. */
  override toString(): string {
    const local = this.isoText;
    if (this.type === "LocalDate") return local.slice(0, local.indexOf("T"));
    const more = String(this.nanos)
      .padStart(6, "0")
      .replace(/(?:000)+$/, "");
    const zeros = this.type === "Instant" ? /\.000$/ : /(?::00)?\.000$/;
    const text = more === "" ? local.replace(zeros, "") : local + more;
    if (this.isLocal) return this.type === "LocalTime" ? text.slice(text.indexOf("T") + 1) : text;
    const suffix = this.zone === UTC ? "Z" : this.zone.suffix(this.timeMs);
    return text + suffix + (/^[A-Z].*\//i.test(this.zone.name) ? `[${this.zone.name}]` : "");
  }
}

/** Prints dates: a formatter. */
export abstract class DatePrinter extends ScriptObject {
  /** Throws IllegalArgumentException. */
  abstract print(date: DateTime): string;
}

/** A date of a document, whose class before 8.0 has a day of the week that is a number. */
export class DocumentDate extends DateTime {
  override readonly type = "JodaCompatibleZonedDateTime";
  override readonly methods = DOCUMENT_DATE_METHODS;

  override at(timeMs: number, nanos = this.nanos): DateTime {
    return new DateTime(timeMs, this.zone, nanos);
  }

  override toString(): string {
    return this.asJson();
  }
}

/** Returns the moment of a value. Throws ClassCastException. */
function moment(value: unknown): number {
  if (value instanceof DateTime) return value.timeMs;
  throw new ScriptException("ClassCastException", "a date was expected");
}

function nanosOf(value: unknown): number {
  return value instanceof DateTime ? value.nanos : 0;
}

/** Returns the time from one moment to another in ms, with what is beyond them. Throws ClassCastException. */
export function msBetween(from: unknown, to: unknown): number {
  return moment(to) - moment(from) + (nanosOf(to) - nanosOf(from)) / NANOS_A_MS;
}

function unitsBetween(unit: string, from: unknown, to: unknown): number | bigint {
  const [fromMs, toMs] = [moment(from), moment(to)];
  const length = UNITS[unit];
  if (length !== undefined && length < 1) {
    const nanos = BigInt(toMs - fromMs) * BigInt(NANOS_A_MS) + BigInt(nanosOf(to) - nanosOf(from));
    return whole(nanos / BigInt(Math.round(length * NANOS_A_MS)));
  }
  if (length !== undefined) return Math.trunc(msBetween(from, to) / length);
  const [first, last] = [new Date(fromMs), new Date(toMs)];
  const months =
    (last.getUTCFullYear() - first.getUTCFullYear()) * 12 + last.getUTCMonth() - first.getUTCMonth();
  const full =
    shiftMonths(fromMs, months) > toMs === months > 0 && shiftMonths(fromMs, months) !== toMs
      ? months - Math.sign(months)
      : months;
  return Math.trunc(full / (MONTHS_OF[unit] ?? 1));
}

/** Returns the full months between two dates. Throws ClassCastException. */
export function monthsBetween(from: unknown, to: unknown): number {
  return Number(unitsBetween("MONTHS", from, to));
}

function shiftMonths(timeMs: number, months: number): number {
  const date = new Date(timeMs);
  const day = date.getUTCDate();
  date.setUTCDate(1);
  date.setUTCMonth(date.getUTCMonth() + months);
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
  date.setUTCDate(Math.min(day, last));
  return date.getTime();
}

/** Moves by calendar months, keeping the wall clock's time. */
export function plusMonths(self: DateTime, months: number): DateTime {
  const local = shiftMonths(self.local.getTime(), months);
  return self.at(self.zone.toUtc(checkedTime(local)));
}

function plusMs(self: DateTime, ms: number): DateTime {
  return self.at(self.timeMs + ms);
}

function plusNanos(self: DateTime, count: number): DateTime {
  const nanos = self.nanos + (count % NANOS_A_MS);
  const carried = Math.trunc(count / NANOS_A_MS) + Math.floor(nanos / NANOS_A_MS);
  return self.at(self.timeMs + carried, nanos - Math.floor(nanos / NANOS_A_MS) * NANOS_A_MS);
}

/** Changes the wall clock's time of a date. */
export function withLocal(self: DateTime, change: (local: Date) => void): DateTime {
  const { local } = self;
  change(local);
  return self.at(self.zone.toUtc(checkedTime(local.getTime())));
}

/** Returns the zone of a name or constant. Throws DateTimeException. */
export function zoneOf(value: unknown): TimeZone {
  const name = print(value);
  const zone = name === "Z" ? UTC : findTimeZone(name);
  if (zone === undefined) throw new ScriptException("DateTimeException", `Unknown time-zone ID: ${name}`);
  return zone;
}

/** Prints a date by a pattern of Joda's letters. */
function format(self: DateTime, pattern: string): string {
  return printerOf(pattern)(self.local.getTime());
}

const getter =
  (read: (local: Date, self: DateTime) => unknown): Method =>
  (self: DateTime) =>
    read(self.local, self);

/** Returns the days of the month of a date. */
export function daysOfMonth(local: Date): number {
  return new Date(Date.UTC(local.getUTCFullYear(), local.getUTCMonth() + 1, 0)).getUTCDate();
}

function dayOfYear(local: Date): number {
  return Math.floor((local.getTime() - Date.UTC(local.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
}

const PLUS: Readonly<Record<string, (self: DateTime, count: number) => DateTime>> = {
  Years: (self, count) => plusMonths(self, count * 12),
  Months: (self, count) => plusMonths(self, count),
  Weeks: (self, count) => withLocal(self, (local) => local.setUTCDate(local.getUTCDate() + 7 * count)),
  Days: (self, count) => withLocal(self, (local) => local.setUTCDate(local.getUTCDate() + count)),
  Hours: (self, count) => plusMs(self, count * 3_600_000),
  Minutes: (self, count) => plusMs(self, count * 60_000),
  Seconds: (self, count) => plusMs(self, count * 1000),
  Millis: (self, count) => plusMs(self, count),
  Nanos: plusNanos,
};

/** Returns a date plus a length of time or a number of units. Throws ClassCastException. */
export function plusUnit(self: DateTime, [count, unit]: readonly unknown[], sign: number): DateTime {
  if (count instanceof ScriptObject) return plusNanos(self, Number(count.valueOf()) * NANOS_A_MS * sign);
  const name = String(unit);
  const by = toInteger(count) * sign;
  const months = MONTHS_OF[name];
  if (months !== undefined) return plusMonths(self, by * months);
  const length = UNITS[name] ?? 0;
  return length < 1 ? plusNanos(self, by * Math.round(length * NANOS_A_MS)) : plusMs(self, by * length);
}

function truncated(self: DateTime, unit: string): DateTime {
  const length = UNITS[unit];
  if (length === undefined || length > DAY_MS)
    throw new ScriptException("UnsupportedOperationException", "Unit is too large to be used for truncation");
  const local = self.local.getTime();
  return self.at(self.zone.toUtc(Math.floor(local / length) * length), 0);
}

/** What `get(ChronoField.…)` reads, by the method that reads it, too. */
const FIELD_GETTERS: Readonly<Record<string, string>> = {
  DAY_OF_WEEK: "getDayOfWeek",
  DAY_OF_MONTH: "getDayOfMonth",
  DAY_OF_YEAR: "getDayOfYear",
  EPOCH_DAY: "toEpochDay",
  MONTH_OF_YEAR: "getMonthValue",
  YEAR: "getYear",
  YEAR_OF_ERA: "getYear",
  HOUR_OF_DAY: "getHour",
  MINUTE_OF_HOUR: "getMinute",
  MINUTE_OF_DAY: "getMinuteOfDay",
  SECOND_OF_MINUTE: "getSecond",
  SECOND_OF_DAY: "getSecondOfDay",
  MILLI_OF_SECOND: "getMillisOfSecond",
  MILLI_OF_DAY: "getMillisOfDay",
  NANO_OF_SECOND: "getNano",
  INSTANT_SECONDS: "toEpochSecond",
  ALIGNED_WEEK_OF_YEAR: "getAlignedWeekOfYear",
  ALIGNED_WEEK_OF_MONTH: "getAlignedWeekOfMonth",
  WEEK_OF_WEEK_BASED_YEAR: "getWeekOfWeekyear",
  WEEK_BASED_YEAR: "getWeekyear",
  QUARTER_OF_YEAR: "getQuarterOfYear",
};

export const CHRONO_FIELDS: ReadonlyMap<string, Constant> = new Map(
  Object.keys(FIELD_GETTERS).map((name, at) => [name, new Constant("ChronoField", name, at)]),
);

/** Throws UnsupportedOperationException. */
function fieldOf(self: DateTime, field: unknown): unknown {
  const getterName = FIELD_GETTERS[print(field)];
  if (getterName === undefined)
    throw new ScriptException("UnsupportedOperationException", `Unsupported field: ${print(field)}`);
  const value = DATE_METHODS.get(getterName)!(self, [], { spend: () => undefined });
  return value instanceof Constant ? value.ordinal : value;
}

const DATE_METHODS: Methods = new Map<string, Method>([
  ...Object.entries({
    getYear: getter((local) => local.getUTCFullYear()),
    getMonth: getter((local) => monthOfYear(local.getUTCMonth() + 1)),
    getMonthValue: getter((local) => local.getUTCMonth() + 1),
    getMonthOfYear: getter((local) => local.getUTCMonth() + 1),
    getDayOfMonth: getter((local) => local.getUTCDate()),
    getDayOfYear: getter(dayOfYear),
    getDayOfWeek: getter((local) => dayOfWeek(local.getUTCDay() || 7)),
    getDayOfWeekEnum: getter((local) => dayOfWeek(local.getUTCDay() || 7)),
    getHour: getter((local) => local.getUTCHours()),
    getHourOfDay: getter((local) => local.getUTCHours()),
    getMinute: getter((local) => local.getUTCMinutes()),
    getMinuteOfHour: getter((local) => local.getUTCMinutes()),
    getMinuteOfDay: getter((local) => local.getUTCHours() * 60 + local.getUTCMinutes()),
    getSecond: getter((local) => local.getUTCSeconds()),
    getSecondOfMinute: getter((local) => local.getUTCSeconds()),
    getSecondOfDay: getter((local) => Math.floor((local.getTime() % DAY_MS) / 1000)),
    getMillisOfSecond: getter((local) => local.getUTCMilliseconds()),
    getMillisOfDay: getter((local) => local.getTime() % DAY_MS),
    getNano: getter((local, { nanos }) => local.getUTCMilliseconds() * NANOS_A_MS + nanos),
    getWeekyear: getter((local) => isoWeek(local.getTime()).year),
    getWeekOfWeekyear: getter((local) => isoWeek(local.getTime()).week),
    getAlignedWeekOfYear: getter((local) => Math.floor((dayOfYear(local) - 1) / 7) + 1),
    getAlignedWeekOfMonth: getter((local) => Math.floor((local.getUTCDate() - 1) / 7) + 1),
    getQuarterOfYear: getter((local) => Math.floor(local.getUTCMonth() / 3) + 1),
    getCenturyOfEra: getter((local) => Math.floor(local.getUTCFullYear() / 100)),
    getYearOfEra: getter((local) => local.getUTCFullYear()),
    getYearOfCentury: getter((local) => local.getUTCFullYear() % 100),
    getEra: getter(() => 1),
    getMillis: (self: DateTime) => self.timeMs,
    toEpochMilli: (self: DateTime) => self.timeMs,
    getTime: (self: DateTime) => self.timeMs,
    toEpochSecond: (self: DateTime, [offset]: readonly unknown[]) =>
      Math.floor((offset === undefined ? self.timeMs : self.in(zoneOf(offset)).timeMs) / 1000),
    getEpochSecond: (self: DateTime) => Math.floor(self.timeMs / 1000),
    toEpochDay: getter((local) => Math.floor(local.getTime() / DAY_MS)),
    toInstant: (self: DateTime, [offset = "Z"]: readonly unknown[]) =>
      new DateTime(self.in(self.isLocal ? zoneOf(offset) : UTC).timeMs, UTC, self.nanos, "Instant"),
    toLocalDate: (self: DateTime) => self.toLocal("LocalDate"),
    toLocalDateTime: (self: DateTime) => self.toLocal("LocalDateTime"),
    toLocalTime: (self: DateTime) => self.toLocal("LocalTime"),
    atZone: (self: DateTime, [zone]: readonly unknown[]) => self.in(zoneOf(zone)),
    atOffset: (self: DateTime, [zone]: readonly unknown[]) => self.in(zoneOf(zone)),
    atTime: (self: DateTime, [hour, minute, second = 0]: readonly unknown[]) =>
      self
        .toLocal("LocalDateTime")
        .at(
          self.timeMs +
            (hour instanceof DateTime
              ? hour.timeMs
              : timeOfDay(toInteger(hour), toInteger(minute), toInteger(second))),
        ),
    toSecondOfDay: getter((local) => Math.floor((local.getTime() % DAY_MS) / 1000)),
    lengthOfMonth: getter((local) => daysOfMonth(local)),
    lengthOfYear: getter((local) => (isLeapYear(local.getUTCFullYear()) ? 366 : 365)),
    isLeapYear: getter((local) => isLeapYear(local.getUTCFullYear())),
    with: (self: DateTime, [adjuster]: readonly unknown[]) => {
      if (adjuster instanceof Callable) return adjuster.call(self);
      throw new ScriptException("ClassCastException", "a TemporalAdjuster was expected");
    },
    withZoneSameInstant: (self: DateTime, [zone]: readonly unknown[]) =>
      new DateTime(self.timeMs, zoneOf(zone), self.nanos),
    withZoneSameLocal: (self: DateTime, [zone]: readonly unknown[]) =>
      new DateTime(zoneOf(zone).toUtc(self.local.getTime()), zoneOf(zone), self.nanos),
    getZone: (self: DateTime) => new Constant("ZoneId", self.zone === UTC ? "Z" : self.zone.name, 0),
    isBefore: (self: DateTime, [other]: readonly unknown[]) => self.compareTo(other) < 0,
    isAfter: (self: DateTime, [other]: readonly unknown[]) => self.compareTo(other) > 0,
    isEqual: (self: DateTime, [other]: readonly unknown[]) => self.compareTo(other) === 0,
    equals: (self: DateTime, [other]: readonly unknown[]) =>
      other instanceof DateTime && self.compareTo(other) === 0,
    compareTo: (self: DateTime, [other]: readonly unknown[]) => Math.sign(self.compareTo(other)),
    truncatedTo: (self: DateTime, [unit]: readonly unknown[]) => truncated(self, String(unit)),
    plus: (self: DateTime, values: readonly unknown[]) => plusUnit(self, values, 1),
    minus: (self: DateTime, values: readonly unknown[]) => plusUnit(self, values, -1),
    until: (self: DateTime, [other, unit]: readonly unknown[]) => unitsBetween(String(unit), self, other),
    get: (self: DateTime, [field]: readonly unknown[]) => fieldOf(self, field),
    getLong: (self: DateTime, [field]: readonly unknown[]) => fieldOf(self, field),
    atStartOfDay: (self: DateTime, [zone]: readonly unknown[]) => {
      const day = self.toLocal("LocalDate").toLocal("LocalDateTime");
      return zone === undefined ? day : day.in(zoneOf(zone));
    },
    withMonth: (self: DateTime, [month]: readonly unknown[]) =>
      plusMonths(self, checkedField("MonthOfYear", toInteger(month)) - self.local.getUTCMonth() - 1),
    withDayOfYear: (self: DateTime, [day]: readonly unknown[]) =>
      withLocal(self, (local) =>
        local.setUTCMonth(0, checkedDayOfYear(local.getUTCFullYear(), toInteger(day))),
      ),
    withNano: (self: DateTime, [nano]: readonly unknown[]) => {
      const given = checkedField("NanoOfSecond", toInteger(nano));
      const ms = Math.floor(given / NANOS_A_MS) - self.local.getUTCMilliseconds();
      return self.at(self.timeMs + ms, given % NANOS_A_MS);
    },
    // A leap day becomes the 28th.
    withYear: (self: DateTime, [year]: readonly unknown[]) =>
      plusMonths(self, (toInteger(year) - self.local.getUTCFullYear()) * 12),
    withDayOfMonth: (self: DateTime, [day]: readonly unknown[]) =>
      withLocal(self, (local) =>
        local.setUTCDate(checkedDay(local.getUTCFullYear(), local.getUTCMonth() + 1, toInteger(day))),
      ),
    withHour: (self: DateTime, [hour]: readonly unknown[]) =>
      withLocal(self, (local) => local.setUTCHours(checkedField("HourOfDay", toInteger(hour)))),
    withMinute: (self: DateTime, [minute]: readonly unknown[]) =>
      withLocal(self, (local) => local.setUTCMinutes(checkedField("MinuteOfHour", toInteger(minute)))),
    withSecond: (self: DateTime, [second]: readonly unknown[]) =>
      withLocal(self, (local) => local.setUTCSeconds(checkedField("SecondOfMinute", toInteger(second)))),
    format: (self: DateTime, [formatter]: readonly unknown[]) => formatted(self, formatter),
    toString: (self: DateTime, [pattern]: readonly unknown[], context: CallContext) => {
      context.spend(1);
      return pattern === undefined ? String(self) : format(self, print(pattern));
    },
    hashCode: (self: DateTime) => self.timeMs | 0,
  }),
  ...Object.entries(PLUS).flatMap(([unit, plus]): [string, Method][] => [
    [`plus${unit}`, (self: DateTime, [count]) => plus(self, toInteger(count))],
    [`minus${unit}`, (self: DateTime, [count]) => plus(self, -toInteger(count))],
  ]),
]);

const DOCUMENT_DATE_METHODS: Methods = new Map<string, Method>([
  ...DATE_METHODS,
  ["getDayOfWeek", getter((local) => local.getUTCDay() || 7)],
]);

function formatted(self: DateTime, formatter: unknown): string {
  if (formatter instanceof DatePrinter) return formatter.print(self);
  throw new ScriptException("ClassCastException", "a DateTimeFormatter was expected");
}
