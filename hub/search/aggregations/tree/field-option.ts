/** The options `field` and `missing` that most aggregations have. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import { parseDateMath } from "#hub/search/dates/date-math.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Returns the field. Throws request_invalid if none was given. */
export function requireField(field: string | undefined, name: string): string {
  if (field !== undefined) return field;
  throw new AppError(
    "request_invalid",
    `Required one of fields [field, script], but none were specified in aggregation [${name}].`,
    { data: { type: "parsing_exception" } },
  );
}

/** Returns `missing` as the number that the field keeps for it; dates are read by `format`, else the field's. Throws parsing. */
export function missingNumber(
  missing: unknown,
  field: Pick<Field, "type" | "format"> | undefined,
  shard: ShardContext,
  owner: string,
  format?: string,
): number | undefined {
  if (missing === undefined || missing === null) return undefined;
  if (typeof missing === "number") return missing;
  const text = scalarText(missing, `${owner}] [missing`);
  if (text === "true" || text === "false") return text === "true" ? 1 : 0;
  if (field !== undefined && isDate(field)) {
    return parseDateMath(text, {
      format: format ?? field.format,
      nowMs: shard.nowMs,
      zone: UTC,
      roundUp: false,
    });
  }
  const value = Number(text);
  if (text !== "" && !Number.isNaN(value)) return value;
  throw new AppError("parsing", `[${owner}] [missing] must be a number, but is ${JSON.stringify(missing)}`);
}

/** The error for a field that holds no numbers. */
export function fieldTypeFault(field: Field, owner: string): AppError {
  return new AppError(
    "request_invalid",
    `Expected numeric type on field [${field.path}], but got [${field.type}]; [${owner}] needs numbers, dates or booleans`,
  );
}
