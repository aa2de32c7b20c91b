/** Conversions of csv's columns. A text that can't be converted stays, unlike in mutate. */

import { Timestamp } from "#proto/event.ts";
import { rubyFloat, rubyInteger } from "./ruby-number.ts";

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
