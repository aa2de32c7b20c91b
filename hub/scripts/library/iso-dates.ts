/** Reads dates of ISO 8601. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { print } from "#hub/scripts/values/values.ts";
import { type TimeZone, UTC } from "#proto/kit/dates/time-zone.ts";
import { dayStart } from "./date-fields.ts";
import { MAX_DATE } from "./date-patterns.ts";
import { DateTime } from "./dates.ts";
import { zoneOf } from "./moment.ts";

const ISO_ZONE = /(?:Z|[+-]\d{2}:?\d{2})(?:\[[^\]]+\])?$/;

/** Reads ISO 8601. Throws DateTimeParseException. */
export function parseDate(value: unknown, zone: TimeZone = UTC): DateTime {
  const text = print(value);
  if (text.length > MAX_DATE)
    throw new ScriptException(
      "DateTimeParseException",
      "a date that is too long could not be parsed at index 0",
    );
  const found = ISO_ZONE.exec(text);
  const timeMs = Date.parse(
    found === null ? `${text.includes("T") ? text : `${text}T00:00:00`}Z` : text.replace(/\[.*$/, ""),
  );
  if (Number.isNaN(timeMs))
    throw new ScriptException("DateTimeParseException", `Text '${text}' could not be parsed at index 0`);
  checkWritten(text);
  // A date counts milliseconds alone.
  const nanos = Number((/\.\d{3}(\d{1,6})/.exec(text)?.[1] ?? "").padEnd(6, "0"));
  if (found === null) return new DateTime(zone.toUtc(timeMs), zone, nanos);
  const offset = found[0].replace(/\[.*$/, "");
  return new DateTime(timeMs, offset === "Z" || offset === "+00:00" ? UTC : zoneOf(offset), nanos);
}

/** The host takes the 30th of February for a day in March. */
function checkWritten(text: string): void {
  const [, year, month, day] = /^([+-]?\d{4,6})-(\d\d)-(\d\d)/.exec(text) ?? [];
  if (year === undefined) return;
  try {
    dayStart(Number(year), Number(month), Number(day));
  } catch (error) {
    const message = `Text '${text}' could not be parsed: ${(error as ScriptException).message}`;
    throw new ScriptException("DateTimeParseException", message);
  }
}
