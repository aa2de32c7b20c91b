/** Conversions of csv's columns. A text that can't be converted stays, unlike in mutate. */

import { decimal, parseJson } from "#proto/codec/json.ts";
import { Timestamp } from "#proto/event.ts";

/** Numbers as Ruby's `Integer()` and `Float()` read whole texts. */
const DIGITS = "[0-9]+(?:_[0-9]+)*";
/** Groups: the sign, the digits of another base with their prefix, decimal digits. A leading zero means octal. */
const INTEGER =
  /^\s*([-+]?)(?:(0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[bB][01]+(?:_[01]+)*|0[oO]?_?[0-7]+(?:_[0-7]+)*)|(0|[1-9][0-9]*(?:_[0-9]+)*))\s*$/;
const FLOAT = new RegExp(`^\\s*[-+]?(?:${DIGITS}(?:\\.${DIGITS})?|\\.${DIGITS})(?:[eE][-+]?${DIGITS})?\\s*$`);

export type CsvConversion = (value: string) => unknown;

/** Conversions by the names of the option. */
export const csvConversions: ReadonlyMap<string, CsvConversion> = new Map([
  ["integer", (value: string) => rubyInteger(value) ?? value],
  ["float", (value: string) => rubyFloat(value) ?? value],
  ["boolean", (value: string) => booleanOf(value.trim().toLowerCase())],
  ["date", timeOf],
  ["date_time", timeOf],
]);

/** What is neither stays text, in small letters. */
function booleanOf(text: string): unknown {
  return text === "true" ? true : text === "false" ? false : text;
}

/** What isn't a time stays text. */
function timeOf(value: string): unknown {
  const timeMs = Date.parse(value);
  return Number.isNaN(timeMs) ? value : new Timestamp(timeMs);
}

/** Returns a number for an event, one beyond 2^53 with all its digits; of what is no number undefined. */
function rubyInteger(text: string): unknown {
  const [, sign, other, digits] = INTEGER.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const plain = (other ?? digits!).replaceAll("_", "");
  const size = BigInt(other === undefined ? plain : plain.replace(/^0[oO]?(?=[0-7])/, "0o"));
  return parseJson(String(sign === "-" ? -size : size));
}

/** Returns a number for an event, one without a fraction as a decimal; of what is no number, and of one that no float holds, undefined. */
function rubyFloat(text: string): unknown {
  const value = FLOAT.test(text) ? Number(text.replaceAll("_", "")) : Number.NaN;
  return Number.isFinite(value) ? decimal(value) : undefined;
}
