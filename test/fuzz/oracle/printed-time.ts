/** Times as texts in the formats that the searches ask for. */

import { HOUR_MS, MINUTE_MS } from "#proto/kit/units.ts";
import type { Zone } from "./zoned-time.ts";

/** The format of a field of times without one of its own. */
const USUAL = "yyyy-MM-dd'T'HH:mm:ss.SSSZZ";

/** Formats with a part for each minute at least, and those that name a day. */
export const MINUTE_FORMATS = ["yyyy-MM-dd'T'HH:mmZZ", "dd.MM.yyyy HH:mm ZZ"] as const;
export const DAY_FORMATS = ["yyyy-MM-dd", "dd/MM/yyyy"] as const;

/** Returns a time in local time, by letters as in `yyyy`; without a format in that of fields. */
export function printedTime(utcMs: number, zone: Zone, format: string = USUAL): string {
  const iso = new Date(zone.toLocal(utcMs)).toISOString();
  const parts: Readonly<Record<string, string>> = {
    yyyy: iso.slice(0, 4),
    MM: iso.slice(5, 7),
    dd: iso.slice(8, 10),
    HH: iso.slice(11, 13),
    mm: iso.slice(14, 16),
    ss: iso.slice(17, 19),
    SSS: iso.slice(20, 23),
    ZZ: offsetText(zone.offset(utcMs)),
  };
  return format.replaceAll(/yyyy|MM|dd|HH|mm|ss|SSS|ZZ/g, (letters) => parts[letters]!).replaceAll("'", "");
}

function offsetText(offsetMs: number): string {
  if (offsetMs === 0) return "Z";
  const size = Math.abs(offsetMs);
  const two = (value: number): string => String(Math.floor(value)).padStart(2, "0");
  return `${offsetMs < 0 ? "-" : "+"}${two(size / HOUR_MS)}:${two((size % HOUR_MS) / MINUTE_MS)}`;
}
