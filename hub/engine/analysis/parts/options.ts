/** Settings of analysis parts: numbers and flags may be texts, lists may be comma-separated or a single value. */

import type { Static, TSchema } from "typebox";
import { AppError } from "#proto/kit/errors.ts";
import { convert, schemaFault, Type } from "#proto/kit/schema.ts";

export type Options = Readonly<Record<string, unknown>>;

/** Returns a text. Throws settings_invalid. */
export function readString(options: Options, name: string, fallback: string): string {
  return read(options, name, Type.String(), fallback, "a string");
}

/** Returns a whole number. Throws settings_invalid. */
export function readInteger(options: Options, name: string, fallback: number): number {
  return read(options, name, Type.Integer(), fallback, "a whole number");
}

/** Returns a flag; "true" and "false" are accepted. Throws settings_invalid. */
export function readBoolean(options: Options, name: string, fallback: boolean): boolean {
  return read(options, name, Type.Boolean(), fallback, "true or false");
}

/** Returns a list of texts. Throws settings_invalid. */
export function readList(options: Options, name: string, fallback: readonly string[]): readonly string[] {
  const value = options[name];
  if (value === undefined || value === null) return fallback;
  if (Array.isArray(value)) return value.map(String);
  return readString(options, name, "")
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function read<T extends TSchema>(
  options: Options,
  name: string,
  schema: T,
  fallback: Static<T>,
  expected: string,
): Static<T> {
  const given = options[name];
  if (given === undefined || given === null) return fallback;
  const value = convert(schema, given);
  if (schemaFault(schema, value) === undefined) return value as Static<T>;
  throw new AppError(
    "settings_invalid",
    `analysis setting [${name}] must be ${expected}, but was [${JSON.stringify(given)}]`,
  );
}
