/** Bucket lengths of the histogram. */

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

/** Returns the shortest interval that cuts the range into at most `maxBuckets`. */
export function chooseInterval({ fromMs, toMs }: ResolvedRange, maxBuckets: number): Interval {
  const found = INTERVALS.find(({ ms }) => (toMs - fromMs) / ms <= maxBuckets);
  return found ?? INTERVALS.at(-1)!;
}
