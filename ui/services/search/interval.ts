/** Bucket lengths of the histogram. */

import { msg } from "@lit/localize";
import type { ResolvedRange } from "./time-range.ts";

export interface Interval {
  /** As the search interface writes it: `30s`, `1h`; from weeks on by the calendar. */
  readonly text: string;
  /** Of months and longer about as long. */
  readonly ms: number;
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const INTERVALS: readonly Interval[] = [
  { text: "100ms", ms: 100 },
  { text: "1s", ms: SECOND },
  { text: "5s", ms: 5 * SECOND },
  { text: "10s", ms: 10 * SECOND },
  { text: "30s", ms: 30 * SECOND },
  { text: "1m", ms: MINUTE },
  { text: "5m", ms: 5 * MINUTE },
  { text: "10m", ms: 10 * MINUTE },
  { text: "30m", ms: 30 * MINUTE },
  { text: "1h", ms: HOUR },
  { text: "3h", ms: 3 * HOUR },
  { text: "12h", ms: 12 * HOUR },
  { text: "1d", ms: DAY },
  { text: "1w", ms: 7 * DAY },
  { text: "1M", ms: 30 * DAY },
  { text: "1q", ms: 91 * DAY },
  { text: "1y", ms: 365 * DAY },
];

/** More steps than this can't be distinguished on a screen. */
const MAX_CHOSEN_BUCKETS = 600;

/**
 * Returns the shortest interval that cuts the range into at most `maxBuckets`; instead `chosen`, an interval's text, if
 * it makes no more than MAX_CHOSEN_BUCKETS.
 */
export function chooseInterval(range: ResolvedRange, maxBuckets: number, chosen = ""): Interval {
  const wanted = intervalsOf(range).find(({ text }) => text === chosen);
  if (wanted !== undefined) return wanted;
  const found = INTERVALS.find(({ ms }) => (range.toMs - range.fromMs) / ms <= maxBuckets);
  return found ?? INTERVALS.at(-1)!;
}

/** Returns the intervals that can be chosen for a range: those that cut it into two steps at least. */
export function intervalsOf({ fromMs, toMs }: ResolvedRange): readonly Interval[] {
  const lengthMs = toMs - fromMs;
  return INTERVALS.filter(({ ms }) => lengthMs / ms <= MAX_CHOSEN_BUCKETS && lengthMs / ms >= 2);
}

/** Returns an interval in words: `30 s`, `1 day`. */
export function intervalName({ text }: Pick<Interval, "text">): string {
  const [, amount = "1", unit = ""] = /^(\d+)(\w+)$/.exec(text) ?? [];
  const name = UNIT_NAMES[unit];
  if (name !== undefined && amount === "1") return name;
  return `${amount} ${unit === "m" ? "min" : unit}`;
}

/** Units of which an interval is one, never more. */
const UNIT_NAMES: Readonly<Record<string, string>> = {
  d: msg("day"),
  w: msg("week"),
  M: msg("month"),
  q: msg("quarter"),
  y: msg("year"),
};
