/** Codec json: one JSON object a line, integers beyond 2^53 kept exactly, and decimals distinguished from integers. */

import { isDeeper, isObject, type JsonObject } from "#proto/kit/json.ts";
import { wholeDecimals } from "./whole-decimals.ts";

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

/**
 * Only a text with such a number can hold a decimal without a fraction, such as 30.0 or 3e1: an index that meets it first makes
 * a field of decimals of it, while 30 makes one of whole numbers, which drops the fractions that follow.
 */
const WHOLE_DECIMAL = /[0-9](?:\.0+|[eE][-+]?[0-9]+)\s*(?:[,}\]]|$)/;

/** Returns the object that a text of the installation's own holds, or undefined if it isn't a JSON object. */
export function parseJsonObject(text: string): JsonObject | undefined {
  return objectOf(parseJson(text));
}

/** Returns the value that `text` holds, or undefined if it isn't JSON. */
export function parseJson(text: string): unknown {
  try {
    return LONG_DIGITS.test(text) ? EXACT.parse(text, keepLongIntegers) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Characters of a text whose decimals are looked for beside it: in a longer one names might be looked for too often. */
const MAX_MARKED = 65_536;

/** From here on the language writes numbers with an exponent, which tells them from integers. */
const EXPONENT_FROM = 1e21;

/** Objects and arrays in one another that an event takes from a text, as many as Jackson does. */
const MAX_NESTING = 1_000;

/**
 * Like `parseJson`, but a decimal without a fraction stays one: it is kept as written by `decimal`. Undefined also where the
 * value nests so deep that those who walk it would run out of stack.
 */
export function parseEventJson(text: string): unknown {
  const value = WHOLE_DECIMAL.test(text) ? parseKeeping(text) : parseJson(text);
  return text.length > 2 * MAX_NESTING && isDeeper(value, MAX_NESTING) ? undefined : value;
}

/** Returns the object that a text from outside holds, or undefined if it isn't a JSON object, or nests too deeply. */
export function parseEventObject(text: string): JsonObject | undefined {
  return objectOf(parseEventJson(text));
}

/** Returns a number for an event, one without a fraction as a text with a point, which a document's JSON then has. */
export function decimal(value: number): unknown {
  if (!Number.isInteger(value) || Math.abs(value) >= EXPONENT_FROM) return value;
  return EXACT.rawJSON(`${Object.is(value, -0) ? "-0" : value}.0`);
}

/** Returns a number, also one kept as it was written; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return isRawJson(value) ? Number(value.rawJSON) : undefined;
}

/** Returns true for a number kept as it was written. */
export function isRawJson(value: unknown): value is RawJson {
  return EXACT.isRawJSON(value);
}

function objectOf(value: unknown): JsonObject | undefined {
  return isObject(value) && !isRawJson(value) ? value : undefined;
}

function parseKeeping(text: string): unknown {
  try {
    return parseMarking(text) ?? EXACT.parse(text, keepAsWritten);
  } catch {
    return undefined;
  }
}

/** Fast path: parses a text as usual, and replaces the decimals. Undefined if that can't be done. Throws SyntaxError. */
function parseMarking(text: string): unknown {
  if (text.length > MAX_MARKED || LONG_DIGITS.test(text)) return undefined;
  const value: unknown = JSON.parse(text);
  if (typeof value === "number") return undefined;
  const decimals = wholeDecimals(text);
  if (decimals === undefined) return undefined;
  for (const { path, value: number } of decimals) {
    let holder: unknown = value;
    for (const name of path.slice(0, -1)) holder = memberOf(holder, name);
    const name = path.at(-1)!;
    // Of a name that occurs again the last value counts.
    if (memberOf(holder, name) !== number) return undefined;
    (holder as Record<string, unknown>)[name] = decimal(number);
  }
  return value;
}

function memberOf(holder: unknown, name: string | number): unknown {
  // A name that occurs again may be a list by now, whose length isn't a member.
  const isHolder = typeof name === "number" ? Array.isArray(holder) : isObject(holder);
  return isHolder ? (holder as Record<string, unknown>)[name] : undefined;
}

function keepAsWritten(key: string, value: unknown, context: { source?: string }): unknown {
  if (Number.isInteger(value) && context.source !== undefined && /[.eE]/.test(context.source))
    return decimal(value as number);
  return keepLongIntegers(key, value, context);
}

function keepLongIntegers(_key: string, value: unknown, context: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value) || context.source === undefined) return value;
  return /^-?[0-9]+$/.test(context.source) ? EXACT.rawJSON(context.source) : value;
}
