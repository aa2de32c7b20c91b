/** Formatters of dates: DateTimeFormatter with a pattern or of ISO 8601, and SimpleDateFormat. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type Method, type Methods, print } from "#hub/scripts/values/values.ts";
import { civilTime, isoWeek, utcTime } from "#proto/kit/dates/civil-time.ts";
import { JODA, type PatternDialect } from "#proto/kit/dates/date-pattern.ts";
import { compilePrinter } from "#proto/kit/dates/date-printer.ts";
import { compileReader, type DateReader } from "#proto/kit/dates/date-reader.ts";
import { type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { MAX_DATE } from "./date-patterns.ts";
import { DateTime } from "./dates.ts";
import { DatePrinter, Moment, zoneOf } from "./moment.ts";

/** Compiled patterns that are kept; a script has few. */
const MAX_PATTERNS = 100;
/** Longest pattern, characters. */
const MAX_PATTERN = 200;
/** Years of two digits are in the hundred years from this one on. */
const PIVOT_YEAR = 2000;

/** Patterns of scripts have Joda's letters, once those of Java that differ are replaced. */
const DIALECT: PatternDialect = {
  ...JODA,
  refuse: (pattern, problem) => {
    const { message } = JODA.refuse(pattern, problem);
    // Becomes the script's error, with its position.
    throw new ScriptException("IllegalArgumentException", message);
  },
};

function kept<T>(compile: (pattern: string) => T): (pattern: string) => T {
  const known = new Map<string, T>();
  return (pattern) => {
    let made = known.get(pattern);
    if (made === undefined) {
      if (known.size >= MAX_PATTERNS) known.clear();
      known.set(pattern, (made = compile(pattern)));
    }
    return made;
  };
}

const printerOf = kept((pattern) => compilePrinter(pattern, DIALECT));
const readerOf = kept((pattern): DateReader => compileReader(pattern, DIALECT, PIVOT_YEAR));

/** Texts in quotes, and runs of the letters that Joda lacks or prints in UTC alone. */
const JAVA_LETTERS = /'[^']*'|u+|X+|x+|Z+|VV/g;

/** Replaces letters of Java in a pattern; `zoned` gives those of zones. */
function withoutJava(pattern: string, zoned: (letters: string) => string): string {
  return pattern.replace(JAVA_LETTERS, (found) => {
    if (found.startsWith("'")) return found;
    return found.startsWith("u") ? found.replaceAll("u", "y") : zoned(found);
  });
}

/** Prints an offset as letters of Java say: X, XX, XXX with Z for UTC, x without, Z for +0100. */
function offsetText(letters: string, date: Moment): string {
  if (letters === "VV") return date.zone === UTC ? "Z" : date.zone.name;
  const suffix = date.zone.suffix(date.timeMs);
  const hasZ = letters.startsWith("X") || letters === "ZZZZZ";
  if (suffix === "Z" && hasZ) return "Z";
  const offset = suffix === "Z" ? "+00:00" : suffix;
  if (letters === "ZZZZ") return suffix === "Z" ? "GMT" : `GMT${offset}`;
  if (letters.length === 3 && !letters.startsWith("Z")) return offset;
  if (letters === "ZZZZZ") return offset;
  const short = offset.replace(":", "");
  return letters.length === 1 && !letters.startsWith("Z") ? short.replace(/00$/, "") : short;
}

/** Prints by a pattern, or as a format of ISO 8601. */
export class Formatter extends DatePrinter {
  readonly type = "DateTimeFormatter";
  readonly methods = FORMATTER_METHODS;
  /** Undefined: of `named` alone. */
  readonly pattern: string;
  readonly named: ((date: Moment) => string) | undefined;
  /** Scripts may change it, of SimpleDateFormat. */
  zone: TimeZone | undefined;

  /** Throws IllegalArgumentException for letters without a meaning. */
  constructor(pattern: string, zone?: TimeZone, named?: (date: Moment) => string) {
    super();
    if (pattern.length > MAX_PATTERN)
      throw new ScriptException(
        "IllegalArgumentException",
        `a date's pattern has at most ${MAX_PATTERN} characters`,
      );
    this.pattern = pattern;
    this.zone = zone;
    this.named = named;
    printerOf(withoutJava(pattern, () => "Z"));
  }

  print(given: Moment): string {
    const date = this.zone === undefined ? given : new DateTime(given.timeMs, this.zone, given.nanos);
    if (this.named !== undefined) return this.named(date);
    const pattern = withoutJava(this.pattern, (letters) => `'${offsetText(letters, date)}'`);
    return printerOf(pattern)(date.local.getTime());
  }

  /** Reads a text; without a zone in it the time is of the formatter's, else of UTC. Throws DateTimeParseException. */
  read(text: string, error = "DateTimeParseException"): DateTime {
    const fields = text.length > MAX_DATE ? undefined : readerOf(withoutJava(this.pattern, () => "Z"))(text);
    const local = fields === undefined ? Number.NaN : civilTime(fields, fields.year ?? 1970);
    const zone = this.zone ?? UTC;
    const timeMs = fields === undefined ? Number.NaN : utcTime(fields, local, zone);
    if (fields === undefined || Number.isNaN(timeMs))
      throw new ScriptException(error, `Text '${text.slice(0, MAX_DATE)}' could not be parsed at index 0`);
    const offset = fields.offsetMs === undefined ? undefined : Math.round(fields.offsetMs / 60_000);
    return new DateTime(timeMs, offset === undefined ? zone : fixedZone(offset));
  }
}

/** `minutes`: east of UTC. */
function fixedZone(minutes: number): TimeZone {
  if (minutes === 0) return UTC;
  const two = (value: number): string => String(value).padStart(2, "0");
  const size = Math.abs(minutes);
  return zoneOf(`${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`);
}

const FORMATTER_METHODS: Methods = new Map<string, Method>(
  Object.entries({
    format: (self: Formatter, [date]: readonly unknown[]) => {
      if (date instanceof Moment) return self.print(date);
      throw new ScriptException("ClassCastException", "a date was expected");
    },
    parse: (self: Formatter, [text]: readonly unknown[]) => self.read(print(text), "ParseException"),
    withZone: (self: Formatter, [zone]: readonly unknown[]) =>
      new Formatter(self.pattern, zoneOf(zone), self.named),
    // The names of months and weekdays are English whatever the locale.
    withLocale: (self: Formatter) => self,
    setTimeZone: (self: Formatter, [zone]: readonly unknown[]) => {
      self.zone = zoneOf(zone);
      return null;
    },
    toPattern: (self: Formatter) => self.pattern,
  }),
);

function localTime(date: Moment): string {
  const digits = String(date.local.getUTCMilliseconds() * 1e6 + date.nanos).padStart(9, "0");
  const fraction = digits.replace(/0+$/, "");
  const { isoText } = date;
  const at = isoText.indexOf("T") + 1;
  return isoText.slice(at, at + 8) + (fraction === "" ? "" : `.${fraction}`);
}

const localDate = (date: Moment): string => date.isoText.split("T")[0]!;
const offset = (date: Moment): string => (date.isLocal ? "" : date.zone.suffix(date.timeMs));
const region = (date: Moment): string => (date.zone.name.includes("/") ? `[${date.zone.name}]` : "");
const localDateTime = (date: Moment): string => `${localDate(date)}T${localTime(date)}`;

function weekDate(date: Moment): string {
  const { year, week } = isoWeek(date.local.getTime());
  return `${year}-W${String(week).padStart(2, "0")}-${date.local.getUTCDay() || 7}${offset(date)}`;
}

function ordinalDate(date: Moment): string {
  const { local } = date;
  const year = local.getUTCFullYear();
  const day = Math.floor((local.getTime() - Date.UTC(year, 0, 1)) / DAY_MS) + 1;
  return `${year}-${String(day).padStart(3, "0")}${offset(date)}`;
}

/** As in mails: the day has no leading zero, and UTC is GMT. */
function mailDate(date: Moment): string {
  const zone = date.zone.suffix(date.timeMs);
  const text = printerOf("EEE, d MMM yyyy HH:mm:ss")(date.local.getTime());
  return `${text} ${zone === "Z" ? "GMT" : zone.replace(":", "")}`;
}

const named = (shown: (date: Moment) => string): Formatter => new Formatter("", undefined, shown);

/** Constants of DateTimeFormatter. */
export const FORMATTERS: Readonly<Record<string, Formatter>> = {
  ISO_LOCAL_DATE: named(localDate),
  ISO_LOCAL_TIME: named(localTime),
  ISO_LOCAL_DATE_TIME: named(localDateTime),
  ISO_DATE: named((date) => localDate(date) + offset(date)),
  ISO_TIME: named((date) => localTime(date) + offset(date)),
  ISO_OFFSET_DATE: named((date) => localDate(date) + offset(date)),
  ISO_OFFSET_TIME: named((date) => localTime(date) + offset(date)),
  ISO_OFFSET_DATE_TIME: named((date) => localDateTime(date) + offset(date)),
  ISO_ZONED_DATE_TIME: named((date) => localDateTime(date) + offset(date) + region(date)),
  ISO_DATE_TIME: named((date) => localDateTime(date) + offset(date) + region(date)),
  ISO_INSTANT: named((date) => String(new DateTime(date.timeMs, UTC, date.nanos, "Instant"))),
  ISO_WEEK_DATE: named(weekDate),
  ISO_ORDINAL_DATE: named(ordinalDate),
  BASIC_ISO_DATE: named((date) => localDate(date).replaceAll("-", "") + offset(date).replace(":", "")),
  RFC_1123_DATE_TIME: named(mailDate),
};
