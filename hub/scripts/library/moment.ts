/** The value of a date of scripts: a time, a zone and a class, and how these print. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { print, ScriptObject } from "#hub/scripts/values/values.ts";
import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { checkedTime } from "./date-fields.ts";

/** Classes of dates. What has no zone counts as UTC. */
export type DateKind =
  | "ZonedDateTime"
  | "JodaCompatibleZonedDateTime"
  | "Instant"
  | "LocalDate"
  | "LocalDateTime"
  | "LocalTime"
  | "Date";

/** A moment in a zone, or a local date or time. `dates.ts` has the classes, which know their methods. */
export abstract class Moment extends ScriptObject {
  readonly type: string;
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

  /** Returns a date of another class, time or zone. */
  abstract make(timeMs: number, zone: TimeZone, nanos: number, kind: DateKind): Moment;

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
  at(timeMs: number, nanos = this.nanos): Moment {
    const size = this.type === "LocalDate" ? DAY_MS : 1;
    const start = Math.floor(timeMs / size) * size;
    const ms = this.type === "LocalTime" ? ((start % DAY_MS) + DAY_MS) % DAY_MS : start;
    return this.make(ms, this.zone, this.type === "LocalDate" ? 0 : nanos, this.type as DateKind);
  }

  /** Returns the wall clock's time as a local class. */
  toLocal(kind: "LocalDate" | "LocalDateTime" | "LocalTime"): Moment {
    return this.make(0, UTC, 0, kind).at(this.local.getTime(), this.nanos);
  }

  /** Returns the moment in a zone: what has no zone has the wall clock's time there. */
  in(zone: TimeZone): Moment {
    return this.make(this.timeIn(zone), zone, this.nanos, "ZonedDateTime");
  }

  /** Returns the ms since 1970 of `in`. */
  timeIn(zone: TimeZone): number {
    return this.isLocal ? zone.toUtc(this.timeMs) : this.timeMs;
  }

  override isA(name: string): boolean {
    return !this.isLocal && (name === "Instant" || name === "ZonedDateTime" || name === "Date");
  }

  override valueOf(): number {
    return this.timeMs;
  }

  /** Whether this is before (< 0), at or after the moment of a value. Throws ClassCastException. */
  compareTo(other: unknown): number {
    return this.timeMs - timeOf(other) || this.nanos - nanosOf(other);
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
  abstract print(date: Moment): string;
}

/** Returns the ms of a date since 1970. Throws ClassCastException for other values. */
export function timeOf(value: unknown): number {
  if (value instanceof Moment) return value.timeMs;
  throw new ScriptException("ClassCastException", "a date was expected");
}

/** Returns what a date is after its ms, 0 for other values. */
export function nanosOf(value: unknown): number {
  return value instanceof Moment ? value.nanos : 0;
}

/** Returns the zone of a name or constant. Throws DateTimeException. */
export function zoneOf(value: unknown): TimeZone {
  const name = print(value);
  const zone = name === "Z" ? UTC : findTimeZone(name);
  if (zone === undefined) throw new ScriptException("DateTimeException", `Unknown time-zone ID: ${name}`);
  return zone;
}
