/** The types that dynamic mapping gives to JSON values. */

import { AppError } from "#proto/kit/errors.ts";
import * as json from "../json/scanner.ts";
import { dateFormat } from "./date-format.ts";
import type { JsonType } from "./dynamic-templates.ts";

/** Settings of a mapping that types depend on. */
export interface TypeRules {
  readonly dateDetection: boolean;
  readonly numericDetection: boolean;
  readonly dynamicDateFormats: readonly string[];
}

/** The JSON type of a value for templates, and the mapping where no template matches; null for none. */
export type ResolvedType = readonly [JsonType, Record<string, unknown> | null];

/** Strings that Java reads as a number skip date detection. */
const JAVA_NUMBER =
  /^\s*[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?[fd]?|0x[\da-f.]+p[+-]?\d+[fd]?)\s*$/i;

const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);

/** Longer texts aren't tried as dates. */
const LONGEST_DATE = 64;

/** What a field gets whose first value is a date with slashes. */
const SLASHED_DATE_FORMAT = "yyyy/MM/dd HH:mm:ss||yyyy/MM/dd||epoch_millis";

/** Returns the type of the value that `scanner` has read for the field `name`. Throws mapping_parse unless `lenient`. */
export function resolveType(
  scanner: json.JsonScanner,
  kind: number,
  name: string,
  rules: TypeRules,
  lenient: boolean,
): ResolvedType {
  if (kind === json.TRUE || kind === json.FALSE) return ["boolean", { type: "boolean" }];
  if (kind === json.NUMBER) {
    if (!scanner.integer) return ["double", { type: "float" }];
    if (fitsLong(scanner.text())) return ["long", { type: "long" }];
    if (lenient) return ["long", null];
    throw new AppError("mapping_parse", `No matching token for number_type [BIG_INTEGER] of field [${name}]`);
  }
  return resolveString(scanner.text(), rules);
}

function resolveString(
  text: string,
  { numericDetection, dateDetection, dynamicDateFormats }: TypeRules,
): ResolvedType {
  const isNumber = JAVA_NUMBER.test(text);
  if (numericDetection && isNumber) {
    if (/^[+-]?\d+$/.test(text) && fitsLong(text)) return ["long", { type: "long" }];
    return ["double", { type: "float" }];
  }
  if (dateDetection && !isNumber && text !== "" && text.length <= LONGEST_DATE) {
    for (const format of dynamicDateFormats) {
      if (Number.isNaN(dateFormat(format).parse(text))) continue;
      if (format === "strict_date_optional_time") return ["date", { type: "date" }];
      const isSlashed = format.startsWith("yyyy/MM/dd HH:mm:ss Z");
      return ["date", { type: "date", format: isSlashed ? SLASHED_DATE_FORMAT : format }];
    }
  }
  return ["string", { type: "text", fields: { keyword: { type: "keyword", ignore_above: 256 } } }];
}

function fitsLong(text: string): boolean {
  if (text.length < 16) return true;
  const value = BigInt(text.replace(/^\+/, ""));
  return value >= MIN_LONG && value <= MAX_LONG;
}
