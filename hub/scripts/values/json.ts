/** Values of scripts as JSON: what a script puts into a document, or returns to a client. */

import { AppError } from "#proto/kit/errors.ts";
import { fraction } from "#proto/kit/number-text.ts";
import {
  Callable,
  type CallContext,
  Char,
  Decimal,
  isMap,
  isRawNumber,
  print,
  rawNumber,
  ScriptObject,
  weigh,
} from "./values.ts";

/** Deeper values are refused. */
const MAX_DEPTH = 100;
/** A list may hold another many times, which then has as many copies. */
const MAX_VALUES = 250_000;

/**
 * What numbers become that JSON's own would change: whole ones beyond 2^53, and fractions such as 5.0. `nearest`: numbers.
 * `exact`: bigints and texts, for `writeJson`. `raw`: raw numbers and decimals, for events and further scripts.
 */
export type LongNumbers = "nearest" | "exact" | "raw";

/**
 * Returns a value as JSON holds it. Dates and other objects become their text. Throws request_invalid where a map or list
 * holds itself, as the 6.5 server does, and beyond `maxValues` members.
 */
export function toJson(value: unknown, long: LongNumbers = "nearest", maxValues = MAX_VALUES): unknown {
  return convert(value, [], { ...counter(maxValues), long });
}

/**
 * Returns the texts of a value, those of lists and sets within each other one by one, without nulls. Throws
 * request_invalid as toJson does.
 */
export function toTexts(value: unknown, maxValues = MAX_VALUES): string[] {
  const texts: string[] = [];
  addTexts(texts, value, [], counter(maxValues));
  return texts;
}

function addTexts(texts: string[], value: unknown, around: object[], context: CallContext): void {
  context.spend(1);
  if (value === null || value === undefined) return;
  if (!isList(value)) {
    weigh(value, context);
    // A map is printed only to some depth: without this, one that holds itself would have a text.
    if (isMap(value)) convert(value, around, { ...context, long: "nearest" });
    texts.push(print(value));
    return;
  }
  if (around.length > MAX_DEPTH) throw tooDeep(around);
  around.push(value);
  for (const each of value) addTexts(texts, each, around, context);
  around.pop();
}

function isList(value: unknown): value is object & Iterable<unknown> {
  if (Array.isArray(value) || value instanceof Set) return true;
  return value instanceof ScriptObject && Symbol.iterator in value;
}

interface Conversion extends CallContext {
  readonly long: LongNumbers;
}

function counter(maxValues: number): CallContext {
  let left = maxValues;
  return {
    spend: (units) => {
      left -= units;
      if (left < 0) throw new AppError("request_invalid", `a value may have at most ${maxValues} members`);
    },
  };
}

/** `around`: the maps and lists that hold the value, the outermost first. */
function convert(value: unknown, around: object[], context: Conversion): unknown {
  context.spend(1);
  if (typeof value === "bigint") return longNumber(value, context);
  if (typeof value !== "object" || value === null) return value ?? null;
  if (isRawNumber(value)) return longNumber(BigInt(value.rawJSON), context);
  if (value instanceof Decimal) return decimal(value, context);
  if (value instanceof Char || value instanceof Callable) return print(value);
  if (value instanceof ScriptObject && value.asJson !== undefined) return value.asJson();
  if (value instanceof ScriptObject && !(Symbol.iterator in value)) {
    weigh(value, context);
    return value.toString();
  }
  if (around.length > MAX_DEPTH) throw tooDeep(around);
  around.push(value);
  const converted = convertMembers(value, around, context);
  around.pop();
  return converted;
}

/** Numbers that JSON.parse changes: those of 16 digits and more, and those with a fraction that are whole, such as 5.0 and 1e3. */
const CHANGED = /\d{16}|\d\.0+\s*[,}\]]|\d[eE][+-]?\d+\s*[,}\]]/;

/**
 * Returns the JSON of a document with its numbers as scripts calculate with them: 5.0 is a Decimal. Whole numbers beyond 2^53
 * are bigints, for events raw numbers. Throws SyntaxError.
 */
export function parseDocument(text: string, long: "exact" | "raw" = "exact"): unknown {
  return CHANGED.test(text) ? JSON.parse(text, long === "raw" ? rawNumbers : exactNumbers) : JSON.parse(text);
}

interface Written {
  readonly source?: string;
}

function exactNumbers(_key: string, value: unknown, written?: Written): unknown {
  return asWritten(value, written?.source, BigInt);
}

function rawNumbers(_key: string, value: unknown, written?: Written): unknown {
  return asWritten(value, written?.source, (digits) => rawNumber(BigInt(digits)));
}

function asWritten(value: unknown, text: string | undefined, long: (digits: string) => unknown): unknown {
  if (typeof value !== "number" || text === undefined) return value;
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : long(text);
  return Number.isInteger(value) ? new Decimal(value) : value;
}

/** Returns a value of a document with its raw numbers as scripts calculate with them; itself where it has none. */
export function withLongs(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isRawNumber(value)) return BigInt(value.rawJSON);
  if (Array.isArray(value)) {
    const items = value.map(withLongs);
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (!isMap(value) || value instanceof Map) return value;
  const members = Object.entries(value).map(([key, each]) => [key, withLongs(each)] as const);
  return members.every(([key, each]) => each === value[key]) ? value : Object.fromEntries(members);
}

function decimal(value: Decimal, { long }: Conversion): unknown {
  if (!Number.isFinite(value.value)) return null;
  if (long === "raw" && (value.isFloat || Number.isInteger(value.value))) return value;
  return long === "exact" ? fraction(value.shortest) : value.shortest;
}

function longNumber(value: bigint, { long }: Conversion): unknown {
  if (long === "exact") return value;
  if (long === "nearest" || Number.isSafeInteger(Number(value))) return Number(value);
  return rawNumber(value);
}

/** What holds itself is as deep as one likes. */
function tooDeep(around: readonly object[]): AppError {
  const isInItself = new Set(around).size < around.length;
  const why = isInItself
    ? "Iterable object is self-referencing itself"
    : `a value is nested deeper than ${MAX_DEPTH}`;
  return new AppError("request_invalid", why);
}

function convertMembers(value: object, inner: object[], context: Conversion): unknown {
  if (isList(value)) return [...value].map((each) => convert(each, inner, context));
  if (!isMap(value)) return print(value);
  const object: Record<string, unknown> = {};
  for (const [key, each] of value instanceof Map ? value : Object.entries(value)) {
    const name = typeof key === "string" ? key : print(key);
    // Defined, not assigned: "__proto__" is a name like any other.
    Object.defineProperty(object, name, {
      value: convert(each, inner, context),
      writable: true,
      enumerable: true,
      configurable: true,
    });
  }
  return object;
}
