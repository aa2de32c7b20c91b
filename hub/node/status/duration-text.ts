/** Durations in the reasons of health. */

import { DAY_MS, HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";

/** Returns "40 s", "3 min", "5 h" or "12 days"; the sign is dropped. */
export function durationText(ms: number): string {
  const size = Math.abs(ms);
  if (size < 2 * MINUTE_MS) return `${Math.round(size / 1_000)} s`;
  if (size < 2 * HOUR_MS) return `${Math.round(size / MINUTE_MS)} min`;
  if (size < 2 * DAY_MS) return `${Math.round(size / HOUR_MS)} h`;
  return `${Math.round(size / DAY_MS)} days`;
}
