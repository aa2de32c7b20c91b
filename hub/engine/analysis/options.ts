/** Settings of analysis parts: numbers and booleans may be strings, lists may be comma-separated or a single value. */

import { AppError } from "#proto/kit/errors.ts";

export type Options = Readonly<Record<string, unknown>>;

/** Returns a string setting. */
export function readString(options: Options, name: string, fallback: string): string {
  const value = options[name];
  if (value === undefined || value === null) return fallback;
  if (typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return String(value);
  throw invalid(name, value, "a string");
}

/** Returns a whole number. Throws settings_invalid. */
export function readInteger(options: Options, name: string, fallback: number): number {
  const value = options[name];
  if (value === undefined || value === null) return fallback;
  const number = typeof value === "string" ? Number(value) : value;
  if (typeof number === "number" && Number.isInteger(number)) return number;
  throw invalid(name, value, "a whole number");
}

/** Returns a boolean; "true" and "false" are taken. Throws settings_invalid. */
export function readBoolean(options: Options, name: string, fallback: boolean): boolean {
  const value = options[name];
  if (value === undefined || value === null) return fallback;
  if (value === true || value === "true") return true;
  if (value === false || value === "false") return false;
  throw invalid(name, value, "true or false");
}

/** Returns a list of strings. */
export function readList(options: Options, name: string, fallback: readonly string[]): readonly string[] {
  const value = options[name];
  if (value === undefined || value === null) return fallback;
  if (Array.isArray(value)) return value.map(String);
  return readString(options, name, "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function invalid(name: string, value: unknown, expected: string): AppError {
  return new AppError(
    "settings_invalid",
    `analysis setting [${name}] must be ${expected}, but was [${JSON.stringify(value)}]`,
  );
}
