/** How much indices grew by the day they were created, and when the disk is full at that pace. */

import { DAY_MS } from "#ui/services/text/time-units.ts";
import type { IndexRow } from "./index-admin.ts";

/** Days of the picture. */
export const GROWTH_DAYS = 30;
/** Days whose mean is the pace. */
const PACE_DAYS = 7;
/** More kinds of indices can't be distinguished; all further ones are shown as one. */
const MAX_FAMILIES = 6;
/** Names of indices that are made by time end with a date, or a number of a rollover. */
const TIMED = /^(.*?)[-_.]?(?:\d{4}[-.]\d{2}(?:[-.]\d{2})?(?:[-.]\d{2})?(?:-\d{6})?|\d{6})$/;

/** Indices of one kind: those whose names differ by their time alone. */
export interface GrowthFamily {
  /** `logs-*`; "": all others. */
  readonly name: string;
  /** Bytes by day. */
  readonly bytes: readonly number[];
}

export interface IndexGrowth {
  /** Starts of the days in UTC, ms, ascending. */
  readonly days: readonly number[];
  /** The largest first. */
  readonly families: readonly GrowthFamily[];
  /** Mean of the last whole days that have any; undefined if there are none. */
  readonly bytesPerDay: number | undefined;
}

/** Returns the growth by day, from the oldest index's day on. Indices that aren't made by time aren't a growth of a day. */
export function indexGrowth(rows: readonly IndexRow[], nowMs: number): IndexGrowth {
  const today = Math.floor(nowMs / DAY_MS);
  const timed = rows.filter(({ name, createdMs }) => createdMs > 0 && familyOf(name) !== undefined);
  const first = Math.max(
    today - GROWTH_DAYS + 1,
    Math.min(today, ...timed.map(({ createdMs }) => Math.floor(createdMs / DAY_MS))),
  );
  const days = Array.from({ length: today - first + 1 }, (_, at) => first + at);
  const sizes = new Map<string, number[]>();
  for (const { name, createdMs, sizeBytes } of timed) {
    const at = Math.floor(createdMs / DAY_MS) - first;
    if (at < 0 || at >= days.length) continue;
    const family = familyOf(name)!;
    const bytes = sizes.get(family) ?? days.map(() => 0);
    bytes[at]! += sizeBytes;
    sizes.set(family, bytes);
  }
  return {
    days: days.map((day) => day * DAY_MS),
    families: largest(sizes),
    bytesPerDay: paceOf(sizes, days.length),
  };
}

/** Returns in how many days a disk is full; undefined if nothing grows. */
export function daysUntilFull(freeBytes: number, { bytesPerDay }: IndexGrowth): number | undefined {
  return bytesPerDay === undefined || bytesPerDay <= 0 ? undefined : Math.floor(freeBytes / bytesPerDay);
}

/** `logs-*` of `logs-2026.01.31`; undefined if the name has no time. */
function familyOf(name: string): string | undefined {
  const stem = TIMED.exec(name)?.[1];
  return stem === undefined ? undefined : `${stem}-*`;
}

function largest(sizes: ReadonlyMap<string, readonly number[]>): GrowthFamily[] {
  const sum = (bytes: readonly number[]): number => bytes.reduce((total, one) => total + one, 0);
  const sorted = [...sizes]
    .map(([name, bytes]): GrowthFamily => ({ name, bytes }))
    .toSorted((a, b) => sum(b.bytes) - sum(a.bytes));
  if (sorted.length <= MAX_FAMILIES) return sorted;
  const rest = sorted.slice(MAX_FAMILIES - 1);
  const others = rest[0]!.bytes.map((_, day) => sum(rest.map(({ bytes }) => bytes[day]!)));
  return [...sorted.slice(0, MAX_FAMILIES - 1), { name: "", bytes: others }];
}

/** Today isn't over: it would make the pace too slow. */
function paceOf(sizes: ReadonlyMap<string, readonly number[]>, days: number): number | undefined {
  const from = Math.max(0, days - 1 - PACE_DAYS);
  const counted = days - 1 - from;
  if (counted <= 0) return undefined;
  let total = 0;
  for (const bytes of sizes.values()) for (const one of bytes.slice(from, days - 1)) total += one;
  return total / counted;
}
