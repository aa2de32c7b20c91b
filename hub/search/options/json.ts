/** Reads JSON of requests: whole numbers beyond 2^53 stay exact, and errors name what was found. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Digits from which a number may not be exact as a double; shorter texts are parsed natively. */
export const LONG_NUMBER = /\d{16}/;

/** Characters of a number that isn't exact as a double. Elasticsearch's parser has the same limit; longer ones take seconds to convert. */
const MAX_NUMBER_LENGTH = 1_000;

/** Parses a request's JSON; whole numbers beyond 2^53 become bigint. Throws parsing. */
export function parseJson(text: string): unknown {
  checkNesting(text);
  const { stackTraceLimit } = Error;
  // A stack trace says nothing about broken JSON, and capturing it takes longer than parsing a request.
  Error.stackTraceLimit = 0;
  try {
    return LONG_NUMBER.test(text) ? JSON.parse(text, exactNumber) : JSON.parse(text);
  } catch (error) {
    throw new AppError("parsing", `the body isn't valid JSON: ${(error as Error).message}`, {
      data: { type: "json_parse_exception" },
      cause: error,
    });
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** Parses a stored document; whole numbers beyond 2^53 become bigint, unless they are so long that it takes seconds. */
export function parseStored(text: string): unknown {
  return LONG_NUMBER.test(text) ? JSON.parse(text, exactIfShort) : JSON.parse(text);
}

function exactIfShort(key: string, value: unknown, context?: { source?: string }): unknown {
  return (context?.source?.length ?? 0) > MAX_NUMBER_LENGTH ? value : exactNumber(key, value, context);
}

/**
 * Maximum nesting of objects and lists. A deeper text would take a parser far more memory and time than its size
 * suggests.
 */
export const MAX_NESTING = 500;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Throws parsing if the objects and lists of a JSON text are nested too deeply, request_too_large if it has more than
 * `maxValues` values: each takes some 40 bytes, whatever its text has.
 */
export function checkNesting(text: string, maxValues = Number.POSITIVE_INFINITY): void {
  if (text.length <= MAX_NESTING) return;
  let depth = 0;
  let values = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // [ is 0x5b, { is 0x7b, ] is 0x5d, } is 0x7d.
    if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_NESTING) throw nestedTooDeeply();
      values++;
    } else if (code === COMMA) {
      if (++values > maxValues)
        throw new AppError("request_too_large", `the body has more than ${maxValues} values`);
    } else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++)
        if (text.charCodeAt(at) === BACKSLASH) at++;
    }
  }
}

function nestedTooDeeply(): AppError {
  return new AppError("parsing", `the body is nested more than ${MAX_NESTING} levels deep`, {
    data: { type: "json_parse_exception" },
  });
}

/** Returns `value` if it is an object. Throws parsing, saying that `what` must be one. */
export function objectOf(value: unknown, what: string): JsonObject {
  if (isObject(value)) return value;
  throw new AppError("parsing", `[${what}] must be an object, but is ${describe(value)}`);
}

/** Returns the only key of an object with its value. Throws parsing. */
export function onlyEntry(value: JsonObject, what: string): [key: string, value: unknown] {
  const entries = Object.entries(value);
  const [first, second] = entries;
  if (first === undefined) throw new AppError("parsing", `[${what}] is empty; give it a field`);
  if (second !== undefined) {
    throw new AppError(
      "parsing",
      `[${what}] query doesn't support multiple fields, found [${first[0]}] and [${second[0]}]`,
    );
  }
  return first;
}

/** Names a value's kind for messages: "a number", "an array" … */
export function describe(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object") return "an object";
  const text = typeof value === "string" ? JSON.stringify(value) : String(value as number | boolean | bigint);
  return `the ${typeof value} ${text.slice(0, 80)}`;
}

/** Returns a scalar as the text a term is made of. Throws parsing for objects and arrays. */
export function scalarText(value: unknown, what: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "bigint" || typeof value === "boolean")
    return String(value);
  throw new AppError("parsing", `[${what}] must be a single value, but is ${describe(value)}`);
}

/** Returns a whole number as a number if it is exact as one, else as bigint. */
export function shortest(value: bigint): number | bigint {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source ?? "";
  if (source.length > MAX_NUMBER_LENGTH)
    throw new Error(`a number has ${source.length} characters, more than ${MAX_NUMBER_LENGTH}`);
  return /^-?\d+$/.test(source) ? BigInt(source) : value;
}
