/** The options `field` and `missing` that most aggregations have. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the field. Throws request_invalid where none was given. */
export function requireField(field: string | undefined, name: string): string {
  if (field !== undefined) return field;
  throw new AppError(
    "request_invalid",
    `Required one of fields [field, script], but none were specified in aggregation [${name}]. Scripts aren't offered; give [field].`,
    { data: { type: "parsing_exception" } },
  );
}

/** Returns `missing` as a number. Throws parsing. */
export function missingNumber(missing: unknown, owner: string): number | undefined {
  if (missing === undefined || missing === null) return undefined;
  if (typeof missing === "boolean") return missing ? 1 : 0;
  const value =
    typeof missing === "string" && Number.isNaN(Number(missing)) ? Date.parse(missing) : Number(missing);
  if (Number.isNaN(value))
    throw new AppError("parsing", `[${owner}] [missing] must be a number, but is ${JSON.stringify(missing)}`);
  return value;
}

/** The error for a field that holds no numbers. */
export function fieldTypeFault(field: Field, owner: string): AppError {
  return new AppError(
    "request_invalid",
    `Expected numeric type on field [${field.path}], but got [${field.type}]; [${owner}] needs numbers, dates or booleans`,
  );
}
