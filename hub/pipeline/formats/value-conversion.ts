/** Conversions of values to other kinds: those of `convert` in mutate. */

import type { FilterContext } from "#hub/pipeline/plugins/filter.ts";
import { decimal, parseJson } from "#proto/codec/json.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";

/** One change of an event. */
export type Mutation = (event: Event) => void;

/** What text counts as true and false. */
const TRUE = /^(true|t|yes|y|1|1\.0)$/i;
const FALSE = /^(false|f|no|n|0|0\.0)$/i;

/** Converts one value; what it can't convert it returns unchanged. */
export type Conversion = (value: unknown) => unknown;

/** Conversions by the names of the option. */
export const conversions: Readonly<Record<string, Conversion>> = {
  string: (value) => valueText(value),
  integer: (value) => toNumber(value, toInteger, withoutCommas),
  float: (value) => toNumber(value, toDecimal, withoutCommas),
  integer_eu: (value) => toNumber(value, toInteger, european),
  float_eu: (value) => toNumber(value, toDecimal, european),
  boolean: toBoolean,
};

/** Returns the mutations of `{ "field" => "integer" }`; an unknown kind is reported. */
export function convertParts(
  table: Readonly<Record<string, unknown>>,
  { report }: FilterContext,
): Mutation[] {
  return Object.entries(table).flatMap(([name, kind]) => {
    const convert = Object.hasOwn(conversions, valueText(kind)) ? conversions[valueText(kind)] : undefined;
    if (convert === undefined) {
      const hint = `kinds are: ${Object.keys(conversions).join(", ")}`;
      report("error", "convert", `Invalid conversion type "${valueText(kind)}" for ${name}`, hint);
      return [];
    }
    const reference = fieldReference(name);
    const mutation: Mutation = (event) => {
      const value = event.get(reference);
      if (value === undefined || value === null || isHash(value)) return;
      event.set(
        reference,
        Array.isArray(value) ? value.map((item) => (item === null ? null : convert(item))) : convert(value),
      );
    };
    return [mutation];
  });
}

/** `written` brings a text into the form that `read` expects; what is a number is in it. */
function toNumber(
  value: unknown,
  read: (text: string) => unknown,
  written: (text: string) => string,
): unknown {
  if (typeof value === "string") return read(written(value));
  return read(typeof value === "boolean" ? String(Number(value)) : valueText(value));
}

function withoutCommas(text: string): string {
  return text.includes(",") ? text.replaceAll(",", "") : text;
}

/** Fast path: nearly all texts that are to be integers are; up to 15 digits are exact. */
function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== "" && text.length <= 15;
}

/** "1.234,5" is 1234.5. */
function european(text: string): string {
  return text.replaceAll(".", "").replace(",", ".");
}

/**
 * As Ruby's to_i: the digits at the start, 0 without any. Beyond 2^53 it is kept as it was written; a text whose number no
 * float holds (1e400) is returned, as JSON has no infinity.
 */
export function toInteger(text: string): unknown {
  if (isDigits(text)) return Number(text);
  const number = /^\s*[-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?/i.exec(text)?.[0];
  if (number === undefined) return 0;
  const value = Math.trunc(Number(number)) + 0;
  if (!Number.isFinite(value)) return text;
  const [digits] = /^\s*[-+]?\d{16,40}(?![\de])/i.exec(number) ?? [];
  return Number.isSafeInteger(value) || digits === undefined ? value : parseJson(String(BigInt(digits)));
}

/** As Ruby's to_f: the number at the start, 0 without one; a text whose number no float holds is returned. */
export function toFloat(text: string): number | string {
  const value = Number(/^\s*[-+]?(?:\d+(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?/i.exec(text)?.[0] ?? 0);
  return Number.isFinite(value) ? value : text;
}

/** Like `toFloat`, for an event: a number without a fraction stays a decimal in its JSON. */
export function toDecimal(text: string): unknown {
  const value = toFloat(text);
  return typeof value === "number" ? decimal(value) : value;
}

function toBoolean(value: unknown): unknown {
  if (typeof value === "boolean") return value;
  const text = valueText(value);
  if (TRUE.test(text)) return true;
  if (FALSE.test(text) || text === "") return false;
  return value;
}
