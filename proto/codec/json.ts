/** Codec json: one JSON object a line, integers beyond 2^53 kept exactly. */

import { isDeeper, isObject, type JsonObject } from "#proto/kit/json.ts";

/** The runtime's marker of a number kept as it was written; JSON.stringify writes `rawJSON` verbatim. */
interface RawJson {
  readonly rawJSON: string;
}

/** TC39 "JSON.parse source text access", which the runtime has and the compiler's library doesn't know yet. */
interface ExactJson {
  rawJSON(text: string): RawJson;
  isRawJSON(value: unknown): boolean;
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
}

const EXACT = JSON as unknown as ExactJson;

/** Only a text with such a run of digits can hold an integer beyond 2^53. */
const LONG_DIGITS = /[0-9]{16}/;

/** Returns the object that a text of the installation's own holds, or undefined if it is no JSON or no object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
}

/** Returns the value that `text` holds, or undefined if it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return LONG_DIGITS.test(text) ? EXACT.parse(text, keepLongIntegers) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Objects and arrays in one another that an event takes from a text, as many as Jackson does. */
const MAX_NESTING = 1_000;

/** Like `parseJson`; undefined also where it nests so deep that those who walk it would run out of stack. */
export function parseEventJson(text: string): unknown {
  const value = parseJson(text);
  return text.length > 2 * MAX_NESTING && isDeeper(value, MAX_NESTING) ? undefined : value;
}

/** Returns the object that a text from outside holds, or undefined if it is no JSON, no object, or nests too deep. */
export function parseEventObject(text: string): JsonObject | undefined {
  const value = parseEventJson(text);
  return isObject(value) ? value : undefined;
}

/** Returns true for a number kept as it was written. */
export function isRawJson(value: unknown): value is RawJson {
  return EXACT.isRawJSON(value);
}

function keepLongIntegers(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || context.source === undefined) return value;
  return /^-?[0-9]+$/.test(context.source) ? EXACT.rawJSON(context.source) : value;
}
