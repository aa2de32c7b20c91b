/** Sizes and times as `_cat` prints them. */

import { AppError } from "#proto/kit/errors.ts";

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
  h: 3_600_000,
  d: 86_400_000,
};

/** Returns 1536 as "1.5kb", or as whole units where one is asked for. Throws request_invalid. */
export function printSize(bytes: number, unit: string | undefined): string {
  if (unit !== undefined && unit !== "") {
    const factor = Object.hasOwn(SIZES, unit) ? SIZES[unit]! : undefined;
    if (factor === undefined)
      throw new AppError(
        "request_invalid",
        `bytes [${unit}] is no unit; use ${Object.keys(SIZES).join(", ")}`,
      );
    return String(Math.floor(bytes / factor));
  }
  const fitting = ["pb", "tb", "gb", "mb", "kb"].find((name) => bytes >= SIZES[name]!);
  return fitting === undefined ? `${bytes}b` : `${oneDecimal(bytes / SIZES[fitting]!)}${fitting}`;
}

/** Returns 1500 as "1.5s", or as whole units where one is asked for. Throws request_invalid. */
export function printTime(ms: number, unit: string | undefined): string {
  if (unit !== undefined && unit !== "") {
    const factor = Object.hasOwn(TIMES, unit) ? TIMES[unit]! : undefined;
    if (factor === undefined)
      throw new AppError(
        "request_invalid",
        `time [${unit}] is no unit; use ${Object.keys(TIMES).join(", ")}`,
      );
    return String(Math.floor(ms / factor));
  }
  const fitting = ["d", "h", "m", "s"].find((name) => ms >= TIMES[name]!);
  return fitting === undefined ? `${Math.round(ms)}ms` : `${oneDecimal(ms / TIMES[fitting]!)}${fitting}`;
}

/** Cut, not rounded; whole numbers without a fraction. */
function oneDecimal(value: number): string {
  return String(Math.floor(value * 10) / 10);
}
