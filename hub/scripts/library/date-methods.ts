/** The methods of dates of scripts, by name. */

import { toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Callable, type CallContext, type Method, type Methods, print } from "#hub/scripts/values/values.ts";
import { isoWeek } from "#proto/kit/dates/civil-time.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import {
  dayOfYear,
  daysOfMonth,
  NANOS_A_MS,
  PLUS,
  plusMonths,
  plusUnit,
  truncated,
  unitsBetween,
  withLocal,
} from "./date-arithmetic.ts";
import { Constant, dayOfWeek, monthOfYear } from "./date-constants.ts";
import { checkedDay, checkedDayOfYear, checkedField, isLeapYear, timeOfDay } from "./date-fields.ts";
import { printerOf } from "./date-patterns.ts";
import { DatePrinter, Moment, zoneOf } from "./moment.ts";

const getter =
  (read: (local: Date, self: Moment) => unknown): Method =>
  (self: Moment) =>
    read(self.local, self);

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
function fieldOf(self: Moment, field: unknown): unknown {
  const getterName = FIELD_GETTERS[print(field)];
  if (getterName === undefined)
    throw new ScriptException("UnsupportedOperationException", `Unsupported field: ${print(field)}`);
  const value = DATE_METHODS.get(getterName)!(self, [], { spend: () => undefined });
  return value instanceof Constant ? value.ordinal : value;
}

/** Methods of all classes of dates. */
export const DATE_METHODS: Methods = new Map<string, Method>([
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
    getMillis: (self: Moment) => self.timeMs,
    toEpochMilli: (self: Moment) => self.timeMs,
    getTime: (self: Moment) => self.timeMs,
    toEpochSecond: (self: Moment, [offset]: readonly unknown[]) =>
      Math.floor((offset === undefined ? self.timeMs : self.timeIn(zoneOf(offset))) / 1000),
    getEpochSecond: (self: Moment) => Math.floor(self.timeMs / 1000),
    toEpochDay: getter((local) => Math.floor(local.getTime() / DAY_MS)),
    toInstant: (self: Moment, [offset = "Z"]: readonly unknown[]) =>
      self.make(self.timeIn(self.isLocal ? zoneOf(offset) : UTC), UTC, self.nanos, "Instant"),
    toLocalDate: (self: Moment) => self.toLocal("LocalDate"),
    toLocalDateTime: (self: Moment) => self.toLocal("LocalDateTime"),
    toLocalTime: (self: Moment) => self.toLocal("LocalTime"),
    atZone: (self: Moment, [zone]: readonly unknown[]) => self.in(zoneOf(zone)),
    atOffset: (self: Moment, [zone]: readonly unknown[]) => self.in(zoneOf(zone)),
    atTime: (self: Moment, [hour, minute, second = 0]: readonly unknown[]) =>
      self
        .toLocal("LocalDateTime")
        .at(
          self.timeMs +
            (hour instanceof Moment
              ? hour.timeMs
              : timeOfDay(toInteger(hour), toInteger(minute), toInteger(second))),
        ),
    toSecondOfDay: getter((local) => Math.floor((local.getTime() % DAY_MS) / 1000)),
    lengthOfMonth: getter((local) => daysOfMonth(local)),
    lengthOfYear: getter((local) => (isLeapYear(local.getUTCFullYear()) ? 366 : 365)),
    isLeapYear: getter((local) => isLeapYear(local.getUTCFullYear())),
    with: (self: Moment, [adjuster]: readonly unknown[]) => {
      if (adjuster instanceof Callable) return adjuster.call(self);
      throw new ScriptException("ClassCastException", "a TemporalAdjuster was expected");
    },
    withZoneSameInstant: (self: Moment, [zone]: readonly unknown[]) =>
      self.make(self.timeMs, zoneOf(zone), self.nanos, "ZonedDateTime"),
    withZoneSameLocal: (self: Moment, [zone]: readonly unknown[]) =>
      self.make(zoneOf(zone).toUtc(self.local.getTime()), zoneOf(zone), self.nanos, "ZonedDateTime"),
    getZone: (self: Moment) => new Constant("ZoneId", self.zone === UTC ? "Z" : self.zone.name, 0),
    isBefore: (self: Moment, [other]: readonly unknown[]) => self.compareTo(other) < 0,
    isAfter: (self: Moment, [other]: readonly unknown[]) => self.compareTo(other) > 0,
    isEqual: (self: Moment, [other]: readonly unknown[]) => self.compareTo(other) === 0,
    equals: (self: Moment, [other]: readonly unknown[]) =>
      other instanceof Moment && self.compareTo(other) === 0,
    compareTo: (self: Moment, [other]: readonly unknown[]) => Math.sign(self.compareTo(other)),
    truncatedTo: (self: Moment, [unit]: readonly unknown[]) => truncated(self, String(unit)),
    plus: (self: Moment, values: readonly unknown[]) => plusUnit(self, values, 1),
    minus: (self: Moment, values: readonly unknown[]) => plusUnit(self, values, -1),
    until: (self: Moment, [other, unit]: readonly unknown[]) => unitsBetween(String(unit), self, other),
    get: (self: Moment, [field]: readonly unknown[]) => fieldOf(self, field),
    getLong: (self: Moment, [field]: readonly unknown[]) => fieldOf(self, field),
    atStartOfDay: (self: Moment, [zone]: readonly unknown[]) => {
      const day = self.toLocal("LocalDate").toLocal("LocalDateTime");
      return zone === undefined ? day : day.in(zoneOf(zone));
    },
    withMonth: (self: Moment, [month]: readonly unknown[]) =>
      plusMonths(self, checkedField("MonthOfYear", toInteger(month)) - self.local.getUTCMonth() - 1),
    withDayOfYear: (self: Moment, [day]: readonly unknown[]) =>
      withLocal(self, (local) =>
        local.setUTCMonth(0, checkedDayOfYear(local.getUTCFullYear(), toInteger(day))),
      ),
    withNano: (self: Moment, [nano]: readonly unknown[]) => {
      const given = checkedField("NanoOfSecond", toInteger(nano));
      const ms = Math.floor(given / NANOS_A_MS) - self.local.getUTCMilliseconds();
      return self.at(self.timeMs + ms, given % NANOS_A_MS);
    },
    // A leap day becomes the 28th.
    withYear: (self: Moment, [year]: readonly unknown[]) =>
      plusMonths(self, (toInteger(year) - self.local.getUTCFullYear()) * 12),
    withDayOfMonth: (self: Moment, [day]: readonly unknown[]) =>
      withLocal(self, (local) =>
        local.setUTCDate(checkedDay(local.getUTCFullYear(), local.getUTCMonth() + 1, toInteger(day))),
      ),
    withHour: (self: Moment, [hour]: readonly unknown[]) =>
      withLocal(self, (local) => local.setUTCHours(checkedField("HourOfDay", toInteger(hour)))),
    withMinute: (self: Moment, [minute]: readonly unknown[]) =>
      withLocal(self, (local) => local.setUTCMinutes(checkedField("MinuteOfHour", toInteger(minute)))),
    withSecond: (self: Moment, [second]: readonly unknown[]) =>
      withLocal(self, (local) => local.setUTCSeconds(checkedField("SecondOfMinute", toInteger(second)))),
    format: (self: Moment, [formatter]: readonly unknown[]) => formatted(self, formatter),
    toString: (self: Moment, [pattern]: readonly unknown[], context: CallContext) => {
      context.spend(1);
      return pattern === undefined ? String(self) : format(self, print(pattern));
    },
    hashCode: (self: Moment) => self.timeMs | 0,
  }),
  ...Object.entries(PLUS).flatMap(([unit, plus]): [string, Method][] => [
    [`plus${unit}`, (self: Moment, [count]) => plus(self, toInteger(count))],
    [`minus${unit}`, (self: Moment, [count]) => plus(self, -toInteger(count))],
  ]),
]);

/** Methods of a date of a document before 8.0: its day of the week is a number. */
export const DOCUMENT_DATE_METHODS: Methods = new Map<string, Method>([
  ...DATE_METHODS,
  ["getDayOfWeek", getter((local) => local.getUTCDay() || 7)],
]);

function formatted(self: Moment, formatter: unknown): string {
  if (formatter instanceof DatePrinter) return formatter.print(self);
  throw new ScriptException("ClassCastException", "a DateTimeFormatter was expected");
}

/** Prints a date by a pattern of Joda's letters. */
function format(self: Moment, pattern: string): string {
  return printerOf(pattern)(self.local.getTime());
}
