/** Units of time as derivatives take them. */

import { AppError } from "#proto/kit/errors.ts";
import { parseDuration } from "#proto/kit/units.ts";

const CALENDAR_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  "1w": 604_800_000,
  month: 2_629_746_000,
  "1M": 2_629_746_000,
  quarter: 7_889_238_000,
  "1q": 7_889_238_000,
  year: 31_556_952_000,
  "1y": 31_556_952_000,
};

/** Returns the ms of "day" or "90m". Throws request_invalid. */
export function unitMs(text: string): number {
  const known = Object.hasOwn(CALENDAR_MS, text) ? CALENDAR_MS[text] : undefined;
  if (known !== undefined) return known;
  try {
    return parseDuration(text, 1);
  } catch (error) {
    throw new AppError("request_invalid", `[unit] [${text}] is no time; write for example day or 90m`, {
      cause: error,
    });
  }
}
