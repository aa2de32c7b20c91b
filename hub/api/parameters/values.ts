/** Single values in bodies, which clients write as text, number or boolean. */

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

/** Returns true if the value of [terms] names a document with the values: {index, id, path}. */
export function isTermsLookup(value: unknown): value is JsonObject {
  return isObject(value) && value["id"] !== undefined && typeof value["path"] === "string";
}
