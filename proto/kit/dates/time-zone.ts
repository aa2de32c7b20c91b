/** Offsets of time zones from UTC, with the hours at which they change. */

import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";

/** First and last time that a date can be, ms (ECMA-262 section 21.4.1.1). */
const MAX_TIME_MS = 8.64e15;

/** Days that a zone remembers; a request over more of them computes some again. */
const DAY_LIMIT = 40_000;

/** How a time's offset is printed, hours, minutes and in old times seconds: "5 PM GMT+00:53:28"; "GMT" alone is none. */
const PRINTED_OFFSET = /GMT([+-])(\d+):(\d+)(?::(\d+))?$/;

/** What a zone's offset is within one UTC day: at its start, and at its end, where the following day starts. */
interface Day {
  readonly before: number;
  readonly after: number;
  /** First ms with the offset `after`. */
  readonly changeMs: number;
}

/** A time zone: converts between UTC and local time, both as ms since 1970-01-01. */
export class TimeZone {
  /** "UTC", "+01:00" or "Europe/Berlin". */
  readonly name: string;
  /** Offset in ms where it never changes. */
  readonly fixedMs: number | undefined;
  readonly #format: Intl.DateTimeFormat | undefined;
  readonly #days = new Map<number, Day>();

  /** Throws RangeError for unknown names; `findTimeZone` keeps zones and doesn't throw. */
  constructor(name: string) {
    this.name = name;
    this.fixedMs = fixedOffset(name);
    if (this.fixedMs !== undefined) return;
    // Nothing is as quick to print as this, and the date isn't needed.
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hour: "numeric",
      timeZoneName: "longOffset",
    });
  }

  /** Offset in ms at a time in UTC: local = utc + offset. Beyond what dates reach it is that of the last date; NaN: NaN. */
  offsetAt(utcMs: number): number {
    if (this.fixedMs !== undefined) return this.fixedMs;
    const number = Math.floor(utcMs / DAY_MS);
    let day = this.#days.get(number);
    if (day === undefined) {
      day = this.#readDay(number);
      if (this.#days.size >= DAY_LIMIT) this.#days.clear();
      this.#days.set(number, day);
    }
    return utcMs < day.changeMs ? day.before : day.after;
  }

  toLocal(utcMs: number): number {
    return utcMs + this.offsetAt(utcMs);
  }

  /** The first UTC time with this local time; a local time that a change skips becomes the moment of the change. */
  toUtc(localMs: number): number {
    if (this.fixedMs !== undefined) return localMs - this.fixedMs;
    const earlier = this.offsetAt(localMs - DAY_MS);
    const later = this.offsetAt(localMs + DAY_MS);
    const first = localMs - Math.max(earlier, later);
    if (this.toLocal(first) === localMs) return first;
    const second = localMs - Math.min(earlier, later);
    if (this.toLocal(second) === localMs) return second;
    return this.changeBetween(first, second);
  }

  /** First ms in (low, high] whose offset is that of `high`; there may be one change between them. */
  changeBetween(low: number, high: number): number {
    return firstAsLast(low, high, (utcMs) => this.offsetAt(utcMs));
  }

  /** "Z" or "+01:00" at a time in UTC. */
  suffix(utcMs: number): string {
    const minutes = Math.round(this.offsetAt(utcMs) / 60_000);
    if (minutes === 0) return "Z";
    const size = Math.abs(minutes);
    const two = (value: number): string => String(value).padStart(2, "0");
    return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
  }

  #readDay(number: number): Day {
    const startMs = number * DAY_MS;
    const endMs = startMs + DAY_MS;
    const before = this.#days.get(number - 1)?.after ?? this.#measure(startMs);
    const after = this.#days.get(number + 1)?.before ?? this.#measure(endMs);
    const changeMs =
      before === after
        ? Number.POSITIVE_INFINITY
        : firstAsLast(startMs, endMs, (utcMs) => this.#measure(utcMs));
    return { before, after, changeMs };
  }

  #measure(utcMs: number): number {
    if (Number.isNaN(utcMs)) return utcMs;
    const text = this.#format!.format(Math.min(MAX_TIME_MS, Math.max(-MAX_TIME_MS, utcMs)));
    const [, sign, hours, minutes, seconds = "0"] = PRINTED_OFFSET.exec(text) ?? [];
    if (sign === undefined) return 0;
    const size = Number(hours) * HOUR_MS + Number(minutes) * 60_000 + Number(seconds) * 1_000;
    return sign === "-" ? -size : size;
  }
}

/** First whole number in (low, high] with the result of `high`, where results change once. */
function firstAsLast(low: number, high: number, resultOf: (at: number) => number): number {
  const wanted = resultOf(high);
  let [below, at] = [low, high];
  while (at - below > 1) {
    const middle = Math.floor((below + at) / 2);
    if (resultOf(middle) === wanted) at = middle;
    else below = middle;
  }
  return at;
}

export const UTC = new TimeZone("UTC");

/** By name; null: no zone has the name. */
const zones = new Map<string, TimeZone | null>([["UTC", UTC]]);

/** Names that are kept; there are about 600 zones. */
const ZONE_LIMIT = 1000;
/** Longest name that is looked up, UTF-16 units: zones have half of it. Requests may name anything, which would be kept. */
const MAX_NAME = 64;

/** Returns the zone of a name or an offset ("+01:00", "Europe/Berlin"); undefined if there is none. */
export function findTimeZone(name: string): TimeZone | undefined {
  if (name.length > MAX_NAME) return undefined;
  let zone = zones.get(name);
  if (zone === undefined) {
    zone = tryZone(name);
    if (zones.size >= ZONE_LIMIT) zones.clear();
    zones.set(name, zone);
  }
  return zone ?? undefined;
}

/** Returns ms of "Z", "UTC", "+02:00", "+0200", "+2", "UTC+2", or undefined if it is none or beyond 18 hours. */
export function fixedOffset(name: string): number | undefined {
  if (/^(?:utc|gmt|z)$/i.test(name)) return 0;
  const match = /^(?:utc|gmt)?([+-])(\d{1,2}):?(\d{2})?$/i.exec(name);
  if (match === null) return undefined;
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0);
  if (minutes > 18 * 60) return undefined;
  return (match[1] === "-" ? -minutes : minutes) * 60_000;
}

function tryZone(name: string): TimeZone | null {
  try {
    return new TimeZone(name);
  } catch {
    return null;
  }
}
