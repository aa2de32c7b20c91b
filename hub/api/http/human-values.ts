/** Sizes and times of statistics as texts beside their numbers, which `human=true` asks for. */

import { RawJson } from "#hub/search/options/json-writer.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { NumberText } from "#proto/kit/number-text.ts";
import { printSize, printTime } from "./printed-units.ts";

/** Endings of names, with the text of their values; `size_in_bytes` also becomes `size`. */
const FORMS: readonly (readonly [ending: string, print: (value: number) => string])[] = [
  ["_in_bytes", (bytes) => (bytes < 0 ? `${bytes}b` : printSize(bytes, undefined))],
  ["_in_millis", printMillis],
  ["_in_nanos", printNanos],
  // Of cluster health.
  ["_in_queue_millis", printMillis],
];
/** Points in time, of which the text is a date. */
const DATES: ReadonlySet<string> = new Set(["start_time_in_millis", "stop_time_in_millis"]);

/** Returns plain JSON with the texts before their numbers, unless it has members of these names. */
export function withReadable(value: unknown): unknown {
  if (value instanceof RawJson || value instanceof NumberText) return value;
  if (Array.isArray(value)) return value.map(withReadable);
  if (!isObject(value)) return value;
  const readable: JsonObject = {};
  for (const [key, each] of Object.entries(value)) {
    const added = typeof each === "number" ? textOf(key, each) : undefined;
    if (added !== undefined && !Object.hasOwn(value, added.key)) readable[added.key] = added.text;
    readable[key] = withReadable(each);
  }
  return readable;
}

function textOf(key: string, value: number): { readonly key: string; readonly text: string } | undefined {
  const form = FORMS.find(([ending]) => key.endsWith(ending));
  if (form === undefined) return undefined;
  const [ending, print] = form;
  const name = key.slice(0, key.length - ending.length) + (ending === "_in_queue_millis" ? "_in_queue" : "");
  return { key: name, text: DATES.has(key) ? new Date(value).toISOString() : print(value) };
}

function printMillis(ms: number): string {
  return ms < 0 ? String(ms) : printTime(ms, undefined);
}

function printNanos(nanos: number): string {
  if (nanos <= 0) return printMillis(nanos);
  if (nanos < 1_000) return `${nanos}nanos`;
  return nanos < 1_000_000
    ? `${Math.floor(nanos / 100) / 10}micros`
    : printTime(nanos / 1_000_000, undefined);
}
