/** Prints times quickly: the day is cached, since consecutive events mostly share it. */

import { DAY_MS } from "#proto/kit/units.ts";

const TWO = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));
const THREE = Array.from({ length: 1_000 }, (_, number) => String(number).padStart(3, "0"));

let day = Number.NaN;
/** "2024-01-02T" of `day`. */
let date = "";

/** Returns a time as `2024-01-02T03:04:05.678Z`. `timeMs`: whole ms since 1970-01-01 UTC, years 0 to 9999. */
export function isoText(timeMs: number): string {
  const itsDay = Math.floor(timeMs / DAY_MS);
  if (itsDay !== day) {
    date = new Date(itsDay * DAY_MS).toISOString().slice(0, 11);
    day = itsDay;
  }
  const ms = timeMs - itsDay * DAY_MS;
  const second = Math.floor(ms / 1_000);
  const minute = Math.floor(second / 60);
  return `${date}${TWO[Math.floor(minute / 60)]}:${TWO[minute % 60]}:${TWO[second % 60]}.${THREE[ms % 1_000]}Z`;
}
