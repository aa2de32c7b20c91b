/** The forms in which answers print sizes and times. */

import { AppError } from "#proto/kit/errors.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";

const SIZES: Readonly<Record<string, number>> = {
  b: 1,
  k: 1024,
  kb: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  t: 1024 ** 4,
  tb: 1024 ** 4,
  p: 1024 ** 5,
  pb: 1024 ** 5,
};
const TIMES: Readonly<Record<string, number>> = {
  nanos: 1e-6,
  micros: 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: HOUR_MS,
  d: DAY_MS,
};

/** Returns 1536 as "1.5kb", or in whole units if `unit` is given. Throws request_invalid. */
export function printSize(bytes: number, unit: string | undefined): string {
  if (unit !== undefined && unit !== "") {
    const factor = Object.hasOwn(SIZES, unit) ? SIZES[unit]! : undefined;
    if (factor === undefined)
      throw new AppError(
        "request_invalid",
        `bytes [${unit}] isn't a unit; use ${Object.keys(SIZES).join(", ")}`,
      );
    return String(Math.floor(bytes / factor));
  }
  const fitting = ["pb", "tb", "gb", "mb", "kb"].find((name) => bytes >= SIZES[name]!);
  return fitting === undefined ? `${bytes}b` : `${oneDecimal(bytes / SIZES[fitting]!)}${fitting}`;
}

/** Returns 1500 as "1.5s", 0 as "0s", or in whole units if `unit` is given. Throws request_invalid. */
export function printTime(ms: number, unit: string | undefined): string {
  if (unit !== undefined && unit !== "") {
    const factor = Object.hasOwn(TIMES, unit) ? TIMES[unit]! : undefined;
    if (factor === undefined)
      throw new AppError(
        "request_invalid",
        `time [${unit}] isn't a unit; use ${Object.keys(TIMES).join(", ")}`,
      );
    return String(Math.floor(ms / factor));
  }
  if (ms === 0) return "0s";
  const fitting = ["d", "h", "m", "s"].find((name) => ms >= TIMES[name]!);
  return fitting === undefined ? `${Math.round(ms)}ms` : `${oneDecimal(ms / TIMES[fitting]!)}${fitting}`;
}

/** Prints a time in the largest unit that gives a whole number, e.g. "25h", so that different times are printed differently. */
export function printExactTime(ms: number): string {
  const fitting = ["d", "h", "m", "s"].find((name) => ms > 0 && ms % TIMES[name]! === 0);
  return fitting === undefined ? `${ms}ms` : `${ms / TIMES[fitting]!}${fitting}`;
}

/** Truncates instead of rounding; whole numbers have no fraction. */
function oneDecimal(value: number): string {
  return String(Math.floor(value * 10) / 10);
}
