/**
 * Times that network devices write into syslog beside that of RFC 3164: with sequence numbers, the device's name or a
 * mark before (`29: sw1: *Nov 29 02:10:00.123 UTC:`), with the year (`Nov 29 2026 02:10:00`), with fractions of
 * seconds, with a day of one digit, with a month in capitals, after a space.
 */

import type { Span } from "./span.ts";
import { FUTURE_TOLERANCE_MS, hasDay, isCivil, type LocalTime, monthAt } from "./time.ts";

/** Where a time ends, and its value. */
export interface DeviceTime {
  /** ms since 1970-01-01 UTC. */
  readonly timeMs: number;
  /** Offset after it and its zone. */
  readonly end: number;
  /** The name of the device before the time. */
  readonly host: Span | undefined;
}

/** Longer than any head that is read. */
const HEAD_BYTES = 160;
const HEAD =
  /^ ?(?:(?:\d{1,10}: ){1,2}(?:([A-Za-z][\w.-]{0,62}): )?)?[*.]?([A-Za-z]{3}) {1,2}(\d{1,2})(?: (\d{4}))? (\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?(?: ([A-Z]{3,5})(?=:))?(?=[ :])/d;
const UTC_NAMES: readonly (string | undefined)[] = ["UTC", "GMT"];

/** Returns the time at `start`, or null. `readTimeMs` gives the year if there is none; other zones count as `local`. */
export function deviceTimeAt(
  bytes: Uint8Array,
  start: number,
  end: number,
  readTimeMs: number,
  local: LocalTime,
): DeviceTime | null {
  const head = bytes.subarray(start, Math.min(end, start + HEAD_BYTES));
  const found = HEAD.exec(Buffer.from(head.buffer, head.byteOffset, head.length).toString("latin1"));
  if (found === null) return null;
  const [whole, , name = "", day, year, hour, minute, second, fraction = "", zone] = found;
  const month = monthAt(Buffer.from(name[0]!.toUpperCase() + name.slice(1).toLowerCase()), 0);
  const parts = [month, Number(day), Number(hour), Number(minute), Number(second)] as const;
  if (!isCivil(...parts)) return null;
  const fractionMs = Math.floor(Number(`0.${fraction || 0}`) * 1_000);
  if (year !== undefined && !hasDay(Number(year), month, Number(day))) return null;
  const civil: Civil = { year: year === undefined ? null : Number(year), parts };
  const timeMs = UTC_NAMES.includes(zone) ? utcOf(civil, readTimeMs) : localOf(civil, readTimeMs, local);
  const [from, to] = found.indices?.[1] ?? [];
  const host = from === undefined || to === undefined ? undefined : { start: start + from, end: start + to };
  return { timeMs: timeMs + fractionMs, end: start + whole.length, host };
}

/** A civil time: the year, null if it isn't written; month (0 to 11), day, hour, minute, second. */
interface Civil {
  readonly year: number | null;
  readonly parts: readonly [number, number, number, number, number];
}

function localOf({ year, parts }: Civil, readTimeMs: number, local: LocalTime): number {
  return year === null ? local.withoutYear(readTimeMs, ...parts) : local.toUtcMs(year, ...parts);
}

/** As LocalTime.withoutYear: without a year the latest time that isn't in the future. */
function utcOf({ year, parts }: Civil, readTimeMs: number): number {
  if (year !== null) return Date.UTC(year, ...parts);
  const latestMs = readTimeMs + FUTURE_TOLERANCE_MS;
  const thisYear = new Date(latestMs).getUTCFullYear();
  const timeMs = Date.UTC(thisYear, ...parts);
  return timeMs <= latestMs ? timeMs : Date.UTC(thisYear - 1, ...parts);
}
