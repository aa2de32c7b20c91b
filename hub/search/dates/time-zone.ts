/** The time zone that a request names. */

import { findTimeZone, type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the zone of a name or an offset ("+01:00", "Europe/Berlin"); UTC without one. Throws request_invalid. */
export function timeZone(name: string | undefined): TimeZone {
  if (name === undefined || name === "") return UTC;
  const zone = findTimeZone(name);
  if (zone !== undefined) return zone;
  throw new AppError("request_invalid", `The datetime zone id '${name}' is not recognised`);
}
