/**
 * Single values in bodies, which clients write as text, number or boolean, and the forms in which answers print sizes and
 * times.
 */

import { describe, scalarText } from "#hub/search/options/json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Returns a value as text; undefined if there is none. Throws parsing for objects and lists. */
export function optionalText(value: unknown, what: string): string | undefined {
  return value === undefined || value === null ? undefined : scalarText(value, what);
}

/** Returns a whole number; undefined if there is none. Throws request_invalid. */
export function optionalInteger(value: unknown, what: string): number | undefined {
  const text = optionalText(value, what);
  if (text === undefined) return undefined;
  const number = Number(text);
  if (text.trim() !== "" && Number.isSafeInteger(number)) return number;
  throw new AppError("request_invalid", `[${what}] must be a whole number, but is ${describe(value)}`);
}

/** Returns a list of texts; a single value becomes a list of one, null and undefined an empty list. Throws parsing. */
export function texts(value: unknown, what: string): string[] {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map((each: unknown) => scalarText(each, what));
}

/** Returns true for true and "true". */
export function isTrue(value: unknown): boolean {
  return value === true || value === "true";
}

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

/** Returns 1536 as "1.5kb", or in whole units if `unit` is given. Throws request_invalid. */
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

/** Returns 1500 as "1.5s", or in whole units if `unit` is given. Throws request_invalid. */
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

/** Prints a time in the largest unit that gives a whole number, e.g. "25h", so that different times are printed differently. */
export function printExactTime(ms: number): string {
  const fitting = ["d", "h", "m", "s"].find((name) => ms > 0 && ms % TIMES[name]! === 0);
  return fitting === undefined ? `${ms}ms` : `${ms / TIMES[fitting]!}${fitting}`;
}

/** Truncates instead of rounding; whole numbers have no fraction. */
function oneDecimal(value: number): string {
  return String(Math.floor(value * 10) / 10);
}

/** Returns true if the value of [terms] names a document with the values: {index, id, path}. */
export function isTermsLookup(value: unknown): value is JsonObject {
  return isObject(value) && value["id"] !== undefined && typeof value["path"] === "string";
}
