/** Static methods and fields. What isn't listed can't be reached. */

import { cast } from "#hub/scripts/values/casts.ts";
import { compare, equals, toDouble, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  Char,
  Decimal,
  print,
  weigh,
  whole,
} from "#hub/scripts/values/values.ts";
import { DATE_FIELDS, DATE_STATICS, dateConstant } from "./date-statics.ts";
import { explain } from "./explain.ts";
import { EXPRESSION_CLASS, EXPRESSION_FUNCTIONS } from "./expression-functions.ts";
import { COMPARATORS, ENTRIES, IDENTITY } from "./functions.ts";
import { grow, has, joined, membersOf, positionIn } from "./members.ts";
import { MOVING_FUNCTIONS } from "./moving-functions.ts";
import {
  decimal,
  decimalClass,
  MATH,
  parseDecimal,
  parseWhole,
  type Static,
  type Statics,
  wholeClass,
} from "./number-statics.ts";
import { PROCESSOR_STATICS } from "./processor-statics.ts";
import { COLLECTORS, Optional, Stream } from "./streams.ts";
import { bounded, orderOf } from "./strings.ts";

const isClass =
  (pattern: RegExp): Static =>
  ([value]) =>
    pattern.test(value instanceof Char ? String(value) : String.fromCodePoint(toInteger(value)));

/** The result of what changes its first value and returns nothing. */
function nothing(_changed: unknown): null {
  return null;
}

/** Orders the members of a list. Spends a step for each. */
function sort(list: unknown, order: (a: unknown, b: unknown) => number, context: CallContext): null {
  const members = membersOf(list, context);
  context.spend(members.length);
  members.sort(order);
  return null;
}

/** Reduces members, e.g. Collections.max. */
function extremeOf(values: readonly unknown[], sign: number, context: CallContext): unknown {
  const order = orderOf(values[1]);
  const members = membersOf(values[0], context);
  if (members.length === 0) throw new ScriptException("NoSuchElementException", null);
  return members.reduce((best, one) => (order(one, best) * sign > 0 ? one : best));
}

function shown(template: string, values: readonly unknown[]): string {
  let next = 0;
  return template.replace(
    /%(-?)(0?)(\d*)(?:\.(\d+))?([sdfxXcbn%])/g,
    (_, left, zero, width, digits, kind) => {
      if (kind === "%" || kind === "n") return kind === "n" ? "\n" : "%";
      const value = values[next++];
      let text = kind === "f" ? toDouble(value).toFixed(Number(digits ?? 6)) : print(value);
      if (kind === "x" || kind === "X") text = toInteger(value).toString(16);
      if (kind === "X") text = text.toUpperCase();
      const size = Math.min(Number(width), 1000);
      return left === "-" ? text.padEnd(size) : text.padStart(size, zero === "0" ? "0" : " ");
    },
  );
}

/** Static methods by class. */
const STATICS: Readonly<Record<string, Statics>> = {
  [EXPRESSION_CLASS]: EXPRESSION_FUNCTIONS,
  Math: MATH,
  MovingFunctions: MOVING_FUNCTIONS,
  Integer: {
    ...wholeClass(32, "int"),
    parseInt: ([text, radix]) => parseWhole(text, radix, 32),
    parseUnsignedInt: ([text, radix]) => cast(parseWhole(text, radix, 64), "int", true),
  },
  Long: { ...wholeClass(64, "long"), parseLong: ([text, radix]) => parseWhole(text, radix, 64) },
  Short: { ...wholeClass(32, "short"), parseShort: ([text]) => parseWhole(text, undefined, 32) },
  Byte: { ...wholeClass(32, "byte"), parseByte: ([text]) => parseWhole(text, undefined, 32) },
  Double: { ...decimalClass, parseDouble: ([text]) => parseDecimal(text) },
  Float: { ...decimalClass, parseFloat: ([text]) => new Decimal(toDouble(parseDecimal(text)), true) },
  Boolean: {
    parseBoolean: ([text]) => typeof text === "string" && text.toLowerCase() === "true",
    valueOf: ([value]) => (typeof value === "string" ? value.toLowerCase() === "true" : value),
    toString: ([value]) => print(value),
    logicalAnd: ([a, b]) => a === true && b === true,
    logicalOr: ([a, b]) => a === true || b === true,
    logicalXor: ([a, b]) => (a === true) !== (b === true),
    compare: ([a, b]) => compare(a, b),
  },
  Character: {
    isDigit: isClass(/^\p{Nd}$/u),
    isLetter: isClass(/^\p{L}$/u),
    isLetterOrDigit: isClass(/^[\p{L}\p{Nd}]$/u),
    isAlphabetic: isClass(/^\p{Alphabetic}$/u),
    isUpperCase: isClass(/^\p{Lu}$/u),
    isLowerCase: isClass(/^\p{Ll}$/u),
    isWhitespace: isClass(/^\s$/u),
    toUpperCase: ([value]) => new Char(print(value).toUpperCase().charCodeAt(0)),
    toLowerCase: ([value]) => new Char(print(value).toLowerCase().charCodeAt(0)),
    digit: ([value, radix]) =>
      digitOf(
        String(value instanceof Char ? value : String.fromCodePoint(toInteger(value))),
        toInteger(radix),
      ),
    getNumericValue: ([value]) => Number.parseInt(print(value), 36),
    toString: ([value]) => print(value),
    valueOf: ([value]) => value,
    compare: ([a, b]) => print(a).charCodeAt(0) - print(b).charCodeAt(0),
  },
  String: {
    valueOf: ([value]) => (Array.isArray(value) ? value.map((one) => print(one)).join("") : print(value)),
    copyValueOf: ([value], context) =>
      membersOf(value, context)
        .map((one) => print(one))
        .join(""),
    join: ([separator, ...parts], context) => {
      const members =
        parts.length === 1 && typeof parts[0] !== "string" ? membersOf(parts[0], context) : parts;
      return joined(members, print(separator), context);
    },
    format: ([template, ...values], context) =>
      bounded(
        shown(print(template), values.length === 1 && Array.isArray(values[0]) ? values[0] : values),
        context,
      ),
  },
  Objects: {
    equals: ([a, b], context) => equals(a, b, context),
    isNull: ([value]) => (value ?? null) === null,
    nonNull: ([value]) => (value ?? null) !== null,
    toString: ([value, fallback]) =>
      (value ?? null) === null && fallback !== undefined ? fallback : print(value),
    requireNonNull: ([value]) => {
      if ((value ?? null) === null) throw new ScriptException("NullPointerException", null);
      return value;
    },
    hash: (values) => values.length,
  },
  Collections: {
    emptyList: () => [],
    emptyMap: () => new Map(),
    emptySet: () => new Set(),
    singletonList: ([value]) => [value],
    singleton: ([value]) => new Set([value]),
    singletonMap: ([key, value]) => new Map([[key, value]]),
    unmodifiableList: ([list]) => list,
    unmodifiableMap: ([map]) => map,
    unmodifiableSet: ([set]) => set,
    unmodifiableCollection: ([collection]) => collection,
    nCopies: ([count, value], context) => {
      const size = Math.max(0, toInteger(count));
      grow(size, context);
      context.spend(size);
      return Array.from({ length: size }, () => value);
    },
    swap: ([list, from, to], context) => {
      const members = membersOf(list, context);
      const [a, b] = [positionIn(members, from), positionIn(members, to)];
      return nothing(([members[a], members[b]] = [members[b], members[a]]));
    },
    disjoint: ([a, b], context) => {
      const others = membersOf(b, context);
      return !membersOf(a, context).some((one) => has(others, one, context));
    },
    sort: ([list, comparator], context) => sort(list, orderOf(comparator), context),
    reverse: ([list], context) => nothing(membersOf(list, context).reverse()),
    max: (values, context) => extremeOf(values, 1, context),
    min: (values, context) => extremeOf(values, -1, context),
    addAll: ([list, ...values], context) => {
      const members = membersOf(list, context);
      for (const value of values) {
        grow(members.length, context);
        members.push(value);
      }
      return values.length > 0;
    },
    frequency: ([list, value], context) =>
      membersOf(list, context).filter((each) => equals(each, value, context)).length,
    reverseOrder: () => new Callable((a, b) => compare(b, a)),
  },
  Arrays: {
    asList: (values) =>
      values.length === 1 && Array.isArray(values[0]) ? [...(values[0] as unknown[])] : [...values],
    stream: ([values], context) => new Stream(membersOf(values, context)),
    toString: ([values], context) => print(membersOf(values, context)),
    sort: ([values], context) => sort(values, compare, context),
    equals: ([a, b], context) => equals(a, b, context),
  },
  Comparator: COMPARATORS,
  "Map.Entry": ENTRIES,
  Function: IDENTITY,
  UnaryOperator: IDENTITY,
  Collectors: COLLECTORS,
  // An array stands for its members, as where a method takes any number of values.
  Stream: {
    of: (values) => {
      const [first] = values;
      return new Stream(values.length === 1 && Array.isArray(first) ? (first as unknown[]) : values);
    },
    empty: () => new Stream([]),
    concat: ([first, second], context) => {
      const members = [...membersOf(first, context), ...membersOf(second, context)];
      context.spend(members.length);
      return new Stream(members);
    },
  },
  IntStream: {
    range: ([from, to], context) => new Stream(rangeOf(toInteger(from), toInteger(to), context)),
    rangeClosed: ([from, to], context) => new Stream(rangeOf(toInteger(from), toInteger(to) + 1, context)),
    of: (values) => new Stream(values),
  },
  Optional: {
    of: ([value]) => {
      if ((value ?? null) === null) throw new ScriptException("NullPointerException", null);
      return new Optional(value);
    },
    ofNullable: ([value]) => new Optional(value),
    empty: () => new Optional(null),
  },
  ...DATE_STATICS,
  Debug: { explain: ([value]) => explain(value) },
  System: {
    currentTimeMillis: () => Date.now(),
    // No finer than milliseconds: a script has no way to measure others.
    nanoTime: () => whole(BigInt(Date.now()) * 1_000_000n),
  },
  Processors: PROCESSOR_STATICS,
};

/** Character.digit: the value of a digit in a radix, -1 for what is none. */
function digitOf(char: string, radix: number): number {
  const value = Number.parseInt(char, Math.min(36, Math.max(2, radix)));
  return Number.isNaN(value) ? -1 : value;
}

function rangeOf(from: number, to: number, context: CallContext): number[] {
  const count = Math.max(0, to - from);
  grow(count, context);
  context.spend(count);
  return Array.from({ length: count }, (_, at) => from + at);
}

const FIELDS: Readonly<Record<string, unknown>> = {
  "Math.PI": decimal(Math.PI),
  "Math.E": decimal(Math.E),
  "Integer.MAX_VALUE": 2 ** 31 - 1,
  "Integer.MIN_VALUE": -(2 ** 31),
  "Long.MAX_VALUE": 2n ** 63n - 1n,
  "Long.MIN_VALUE": -(2n ** 63n),
  "Double.MAX_VALUE": decimal(Number.MAX_VALUE),
  "Double.MIN_VALUE": decimal(Number.MIN_VALUE),
  "Double.NaN": decimal(Number.NaN),
  "Double.POSITIVE_INFINITY": decimal(Number.POSITIVE_INFINITY),
  "Double.NEGATIVE_INFINITY": decimal(Number.NEGATIVE_INFINITY),
  "Boolean.TRUE": true,
  "Boolean.FALSE": false,
  "Byte.MAX_VALUE": 127,
  "Byte.MIN_VALUE": -128,
  "Short.MAX_VALUE": 2 ** 15 - 1,
  "Short.MIN_VALUE": -(2 ** 15),
  "Float.MAX_VALUE": new Decimal(3.4028234663852886e38, true),
  "Float.MIN_VALUE": new Decimal(1.401298464324817e-45, true),
  "Float.NaN": new Decimal(Number.NaN, true),
  ...DATE_FIELDS,
};

/** Hand on what they are given, without reading it. */
const QUICK: ReadonlySet<string> = new Set(
  "isNull nonNull requireNonNull unmodifiableList unmodifiableMap unmodifiableSet unmodifiableCollection singleton singletonList singletonMap of".split(
    " ",
  ),
);

/** Spends what it costs to read the values first. */
export function counted(method: Static): Static {
  return (values, context) => {
    for (const value of values) weigh(value, context);
    return method(values, context);
  };
}

/** Returns a static method; undefined where there is none. */
export function staticMethod(type: string, name: string): Static | undefined {
  const methods = Object.hasOwn(STATICS, type) ? STATICS[type] : undefined;
  const found = methods !== undefined && Object.hasOwn(methods, name) ? methods[name] : undefined;
  return found === undefined || QUICK.has(name) ? found : counted(found);
}

/** Returns a static field's value; undefined where there is none. */
export function staticField(type: string, name: string): unknown {
  if (type === "Collections" && name.startsWith("EMPTY_")) return EMPTY[name]?.();
  if (Object.hasOwn(FIELDS, `${type}.${name}`)) return FIELDS[`${type}.${name}`];
  return dateConstant(type, name);
}

/** Scripts may change a collection, so that each gets its own. */
const EMPTY: Readonly<Record<string, () => unknown>> = {
  EMPTY_LIST: () => [],
  EMPTY_MAP: () => new Map(),
  EMPTY_SET: () => new Set(),
};
