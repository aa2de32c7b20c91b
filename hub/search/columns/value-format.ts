/** Prints numbers of a field as text: dates, booleans, decimal patterns. */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import { printDate, timeZone } from "#hub/search/dates/date-math.ts";
import { doubleText } from "#proto/kit/number-text.ts";

/** JSON-able. */
export type ValueFormat =
  | { readonly kind: "raw" }
  | { readonly kind: "boolean" }
  | { readonly kind: "decimal"; readonly pattern: string }
  | { readonly kind: "date"; readonly formats: string; readonly zone: string };

export const RAW: ValueFormat = { kind: "raw" };

/** Returns the format of merged values: the one that isn't raw; of two, whichever order they come in, the same. */
export function commonFormat(a: ValueFormat, b: ValueFormat): ValueFormat {
  if (a === b || b.kind === "raw") return a;
  if (a.kind === "raw") return b;
  return JSON.stringify(a) <= JSON.stringify(b) ? a : b;
}

/** Returns the format of a field's values; `format` and `zone` of the request come first. */
export function formatOf(
  field: Pick<Field, "type" | "format"> | undefined,
  format?: string,
  zone?: string,
): ValueFormat {
  if (field !== undefined && isDate(field))
    return { kind: "date", formats: format ?? field.format, zone: zone ?? "UTC" };
  if (field?.type === "boolean") return { kind: "boolean" };
  return format === undefined ? RAW : { kind: "decimal", pattern: format };
}

/** Prints a value, a bigint if it is whole and beyond 2^53; undefined if the number says it all. */
export function printValue(format: ValueFormat, value: number | bigint): string | undefined {
  switch (format.kind) {
    case "raw":
      return undefined;
    case "boolean":
      return Number(value) === 0 ? "false" : "true";
    case "decimal":
      return printDecimal(value, format.pattern);
    case "date":
      return printDate(Number(value), format.formats, timeZone(format.zone));
  }
}

/** Patterns such as "0.00", "#,##0.0" and "$0" with text around them. */
function printDecimal(value: number | bigint, pattern: string): string {
  const match = /^([^#0,.]*)([#0,]*)(?:\.([#0]*))?(.*)$/s.exec(pattern);
  if (typeof value === "bigint") {
    if (match === null) return String(value);
  } else if (match === null || !Number.isFinite(value)) return doubleText(value);
  const [, before = "", whole = "", decimals = "", after = ""] = match;
  const percent = after.startsWith("%");
  const text = new Intl.NumberFormat("en-US", {
    minimumIntegerDigits: Math.max(1, whole.replaceAll(/[^0]/g, "").length),
    minimumFractionDigits: decimals.replaceAll(/[^0]/g, "").length,
    maximumFractionDigits: decimals.length,
    useGrouping: whole.includes(","),
    roundingMode: "halfEven",
  }).format(percent ? times100(value) : value);
  return `${before}${text}${after}`;
}

function times100(value: number | bigint): number | bigint {
  return typeof value === "bigint" ? value * 100n : value * 100;
}
