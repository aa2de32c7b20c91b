/**
 * Values of scripts. Whole numbers are JavaScript numbers where these are exact, else bigints of 64 bits; `Decimal` marks
 * a number with a fraction, so that 7 / 2 is 3 and 7.0 / 2 is 3.5. Texts, booleans and null are themselves. Lists are
 * arrays, maps are `Map`s or plain objects (documents), sets are `Set`s. All else is an instance of a class of the library.
 */

import { doubleText, shortestFloat } from "#proto/kit/number-text.ts";
import { hashOrder } from "./hash-order.ts";

/** A number of a document that is kept as it was written. */
interface RawNumber {
  readonly rawJSON: string;
}

/** TC39 "JSON.parse source text access", which the compiler's library doesn't know yet. */
const EXACT = JSON as unknown as { rawJSON(text: string): RawNumber; isRawJSON(value: unknown): boolean };

/** Returns true for a number kept as it was written. */
export function isRawNumber(value: unknown): value is RawNumber {
  return EXACT.isRawJSON(value);
}

/** Returns a whole number as JSON.stringify writes it with all digits. */
export function rawNumber(value: bigint): unknown {
  return EXACT.rawJSON(String(value));
}

/** A float or double. */
export class Decimal {
  readonly value: number;
  /** True: of 32 bits. */
  readonly isFloat: boolean;

  constructor(value: number, isFloat = false) {
    this.value = isFloat ? Math.fround(value) : value;
    this.isFloat = isFloat;
  }

  /** The number whose digits are the fewest that mean the value: 0.1 for the float nearest to it. */
  get shortest(): number {
    return this.isFloat && Number.isFinite(this.value) ? shortestFloat(this.value) : this.value;
  }

  /** As the language prints it: 1.0, 1.0E10, NaN. */
  toString(): string {
    return doubleText(this.shortest);
  }

  /** As a document holds it: with a point also where it is whole, null for what JSON has no number for. */
  toJSON(): unknown {
    if (Number.isInteger(this.value)) return EXACT.rawJSON(this.toString());
    return Number.isFinite(this.value) ? this.shortest : null;
  }
}

/** A char: one UTF-16 unit. */
export class Char {
  readonly code: number;

  constructor(code: number) {
    this.code = code & 0xffff;
  }

  toString(): string {
    return String.fromCharCode(this.code);
  }
}

/** A lambda, a method reference or a function of the script, as a value. */
export class Callable {
  readonly call: (...values: unknown[]) => unknown;

  constructor(call: (...values: unknown[]) => unknown) {
    this.call = call;
  }
}

/** A value of the library with methods of its own: a date, a builder, a matcher, what a context gives. */
export abstract class ScriptObject {
  /** Simple name of its class, e.g. "StringBuilder". */
  abstract readonly type: string;
  /** Methods by name; what isn't here can't be called. */
  abstract readonly methods: Methods;

  /** As the language prints it. */
  toString(): string {
    return this.type;
  }

  /** Returns true where the class extends or implements the class of that simple name. */
  isA(_name: string): boolean {
    return false;
  }
  /** What documents hold of it, where that isn't the text that it prints. */
  asJson?(): Readonly<Record<string, number>> | string;
  /** The members that each of its methods walks through. */
  streamed?(): readonly unknown[];
  /** What its text is made of, where that may be long. Spends what it costs to read these. */
  parts?(context: CallContext): readonly unknown[];
  /** Reads a member by name or key, where the class has members instead of fields. */
  lookup?(key: unknown): unknown;
  /** Assigns a member. */
  assign?(key: unknown, value: unknown): void;
}

/** What a call of a method may use besides its values. */
export interface CallContext {
  /** Counts work; throws ScriptLimit where the budget is spent. */
  spend(units: number): void;
}

// biome-ignore lint/suspicious/noExplicitAny: each method knows the class of its own values.
export type Method = (self: any, values: readonly unknown[], context: CallContext) => unknown;
export type Methods = ReadonlyMap<string, Method>;

/** Whether a value is a number without fraction. */
export function isWhole(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

/** Whether a value is a number, chars not counted. */
export function isNumber(value: unknown): value is number | bigint | Decimal {
  return isWhole(value) || value instanceof Decimal;
}

/** Whether a value is a map: a `Map` or an object of a document. */
export function isMap(value: unknown): value is Map<unknown, unknown> | Record<string, unknown> {
  if (value instanceof Map) return true;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** Returns a whole number of 64 bits: as a number where that is exact. Wraps around as the language's long does. */
export function whole(value: bigint): number | bigint {
  const wrapped = BigInt.asIntN(64, value);
  const short = Number(wrapped);
  return Number.isSafeInteger(short) ? short : wrapped;
}

/** Returns a number of a document or column as a value: with a fraction where it isn't whole. */
export function fromJson(value: unknown): unknown {
  if (typeof value === "object") return isRawNumber(value) ? BigInt(value.rawJSON) : value;
  if (typeof value === "number" && !Number.isSafeInteger(value)) return new Decimal(value);
  return value;
}

/** Simple name of a value's class, as errors of the language print it. */
export function typeOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "string") return "String";
  if (typeof value === "boolean") return "Boolean";
  if (typeof value === "bigint") return "Long";
  if (typeof value === "number") return value === (value | 0) ? "Integer" : "Long";
  if (value instanceof Decimal) return "Double";
  if (value instanceof Char) return "Character";
  if (Array.isArray(value)) return "ArrayList";
  if (value instanceof Set) return "HashSet";
  if (value instanceof Callable) return "Function";
  if (value instanceof ScriptObject) return value.type;
  return "HashMap";
}

/** Returns a value as the language prints it in a text. */
export function print(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "null";
  if (value instanceof Decimal || value instanceof Char || value instanceof ScriptObject)
    return value.toString();
  if (typeof value !== "object") return typeof value === "string" ? value : scalarText(value);
  if (depth > MAX_PRINT_DEPTH) return "…";
  if (Array.isArray(value) || value instanceof Set)
    return `[${[...value].map((each) => print(each, depth + 1)).join(", ")}]`;
  if (isRawNumber(value)) return value.rawJSON;
  if (isMap(value)) {
    const entries = value instanceof Map ? [...value] : hashOrder(Object.entries(value), ([key]) => key);
    return `{${entries.map(([key, each]) => `${print(key, depth + 1)}=${print(each, depth + 1)}`).join(", ")}}`;
  }
  return typeOf(value);
}

/** Members of a collection that one step reads. */
const MEMBERS_A_STEP = 8;
/** Characters that one step reads. */
const CHARS_A_STEP = 64;

/** Spends what it costs to print a value: a list that holds another many times has its members as often. */
export function weigh(value: unknown, context: CallContext, depth = 0): void {
  if (typeof value === "string") context.spend(Math.floor(value.length / CHARS_A_STEP));
  if (typeof value !== "object" || value === null || depth > MAX_PRINT_DEPTH) return;
  if (value instanceof Decimal || value instanceof Char) return;
  const parts = partsOf(value, context);
  context.spend(1 + Math.floor(parts.length / MEMBERS_A_STEP));
  // Objects print their parts on their own.
  const inner = value instanceof ScriptObject ? 0 : depth + 1;
  for (const each of parts) weigh(each, context, inner);
}

function partsOf(value: object, context: CallContext): readonly unknown[] {
  if (value instanceof ScriptObject) return value.parts?.(context) ?? [];
  if (Array.isArray(value)) return value;
  if (value instanceof Set) return [...value];
  if (!isMap(value)) return [];
  return value instanceof Map ? [...value.keys(), ...value.values()] : Object.entries(value).flat();
}

function scalarText(value: unknown): string {
  return `${value as boolean | number | bigint}`;
}

/** Deeper values are cut when they are printed: a map may hold itself. */
const MAX_PRINT_DEPTH = 20;
