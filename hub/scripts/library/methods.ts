/** Finds the method or field of a value by its name. What isn't listed can't be called or read. */

import { cast } from "#hub/scripts/values/casts.ts";
import { compare, toDouble, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import {
  Callable,
  type CallContext,
  Char,
  Decimal,
  isMap,
  isNumber,
  type Method,
  type Methods,
  print,
  ScriptObject,
  typeOf,
} from "#hub/scripts/values/values.ts";
import { LIST_METHODS, SET_METHODS } from "./collections.ts";
import { charge } from "./costs.ts";
import { FUNCTION_METHODS } from "./functions.ts";
import { MAP_METHODS } from "./maps.ts";
import { Pattern, replacePattern } from "./patterns.ts";
import { Stream } from "./streams.ts";
import { equalsMethod, STRING_METHODS } from "./strings.ts";

const NUMBER_METHODS: Methods = new Map<string, Method>(
  Object.entries({
    intValue: (self: unknown) => cast(self, "int", true),
    longValue: (self: unknown) => cast(self, "long", true),
    shortValue: (self: unknown) => cast(self, "short", true),
    byteValue: (self: unknown) => cast(self, "byte", true),
    doubleValue: (self: unknown) => new Decimal(toDouble(self)),
    floatValue: (self: unknown) => new Decimal(toDouble(self), true),
    isNaN: (self: unknown) => Number.isNaN(toDouble(self)),
    isInfinite: (self: unknown) => Math.abs(toDouble(self)) === Number.POSITIVE_INFINITY,
    compareTo: (self: unknown, [other]: readonly unknown[]) => Math.sign(compare(self, other)),
    equals: equalsMethod,
    hashCode: (self: unknown) => toInteger(self) | 0,
    toString: (self: unknown) => print(self),
  }),
);

/** Of booleans and chars. */
const PLAIN_METHODS: Methods = new Map<string, Method>(
  Object.entries({
    booleanValue: (self: unknown) => self === true,
    charValue: (self: unknown) => self,
    compareTo: (self: unknown, [other]: readonly unknown[]) => Math.sign(compare(self, other)),
    equals: equalsMethod,
    hashCode: (self: unknown) => (self instanceof Char ? self.code : Number(self)),
    toString: (self: unknown) => print(self),
  }),
);

/** Streams are above lists and texts, so what makes them is added here. */
const stream = (self: Iterable<unknown>): Stream => new Stream([...self]);
/** Methods of lists. */
export const LISTS: Methods = new Map([...LIST_METHODS, ["stream", stream]]);
const SETS: Methods = new Map([...SET_METHODS, ["stream", stream]]);
const TEXTS: Methods = new Map<string, Method>([
  ...STRING_METHODS,
  [
    "chars",
    (self: string, _, context) => {
      context.spend(self.length >> 3);
      return new Stream(Array.from({ length: self.length }, (_each, at) => self.charCodeAt(at)));
    },
  ],
]);

/** Returns the method of a value. Throws NullPointerException, IllegalArgumentException. */
function methodOf(value: unknown, name: string, count: number): Method {
  const found =
    value instanceof Callable
      ? FUNCTION_METHODS.get(name)
      : (methodsOf(value).get(name) ?? patternMethod(value, name));
  if (found !== undefined) return found;
  const message = `dynamic method [java.${owner(value)}, ${name}/${count}] not found`;
  throw new ScriptException("IllegalArgumentException", message);
}

/** Methods of texts that take an expression. */
function patternMethod(value: unknown, name: string): Method | undefined {
  if (typeof value !== "string" || (name !== "replaceAll" && name !== "replaceFirst")) return undefined;
  return (self: string, [pattern, make], context) => {
    if (!(pattern instanceof Pattern))
      throw new ScriptException("ClassCastException", "a Pattern was expected");
    return replacePattern(pattern, self, make, name === "replaceFirst", context);
  };
}

/** Calls a method of a value, and spends what it costs. Throws NullPointerException, IllegalArgumentException. */
export function callMethod(
  self: unknown,
  name: string,
  values: readonly unknown[],
  context: CallContext,
): unknown {
  const method = methodOf(self, name, values.length);
  charge(self, name, values, context);
  return method(self, values, context);
}

function methodsOf(value: unknown): Methods {
  if (typeof value === "string") return TEXTS;
  if (isNumber(value)) return NUMBER_METHODS;
  if (typeof value === "boolean" || value instanceof Char) return PLAIN_METHODS;
  if (value instanceof ScriptObject) return value.methods;
  if (Array.isArray(value)) return LISTS;
  if (value instanceof Set) return SETS;
  if (isMap(value)) return MAP_METHODS;
  if ((value ?? null) === null) throw new ScriptException("NullPointerException", null);
  throw new ScriptException("IllegalArgumentException", `[${typeOf(value)}] has no methods`);
}

/** Returns what reads a field of a value that isn't a map: `length` of arrays, or getName() and isName(). */
export function fieldReader(value: unknown, name: string): Method | undefined {
  if (Array.isArray(value) && name === "length") return (self: readonly unknown[]) => self.length;
  if (value instanceof Callable) return undefined;
  const methods = methodsOf(value);
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return methods.get(`get${capital}`) ?? methods.get(`is${capital}`);
}

/** The class of a value with its package, as messages name it. */
function owner(value: unknown): string {
  const type = typeOf(value);
  return /^(?:String|Boolean|Integer|Long|Double|Character)$/.test(type) ? `lang.${type}` : `util.${type}`;
}

/** The class of a value as messages name it. */
export function className(value: unknown): string {
  return `java.${owner(value)}`;
}
