/** Casts between the types of the language: explicit ones, and those of declared variables, parameters and results. */

import { castError, toDouble } from "./operators.ts";
import { ScriptException } from "./script-error.ts";
import {
  Callable,
  Char,
  Decimal,
  fromJson,
  isMap,
  isNumber,
  isWhole,
  ScriptObject,
  whole,
} from "./values.ts";

const BITS: Readonly<Record<string, number>> = { byte: 8, short: 16, int: 32, long: 64 };
const WRAPPERS: Readonly<Record<string, string>> = {
  Boolean: "boolean",
  Byte: "byte",
  Short: "short",
  Integer: "int",
  Long: "long",
  Float: "float",
  Double: "double",
  Character: "char",
}; // prettier-ignore
const MAPS: ReadonlySet<string> = new Set([
  "Map",
  "HashMap",
  "LinkedHashMap",
  "TreeMap",
  "AbstractMap",
  "SortedMap",
]);
const LISTS: ReadonlySet<string> = new Set(["List", "ArrayList", "Collection", "Iterable", "AbstractList"]);
const SETS: ReadonlySet<string> = new Set([
  "Set",
  "HashSet",
  "LinkedHashSet",
  "TreeSet",
  "Collection",
  "Iterable",
]);
const FUNCTIONS = /^(?:.*(?:Function|Operator|Predicate|Consumer|Supplier)|Comparator|Runnable|Callable)$/;

/** Returns `value` as the type `name` demands, e.g. 3 as 3.0 for "double". Throws ClassCastException where it isn't one. */
export function cast(given: unknown, name: string, isExplicit: boolean): unknown {
  const value = fromJson(given);
  const type = WRAPPERS[name] ?? name;
  if ((value ?? null) === null) {
    if (type === name && (type in BITS || ["boolean", "char", "float", "double"].includes(type)))
      throw new ScriptException("NullPointerException", null);
    return null;
  }
  switch (type) {
    case "def":
    case "Object":
      return value;
    case "boolean":
      if (typeof value === "boolean") return value;
      throw castError(value, name);
    case "byte":
    case "short":
    case "int":
    case "long":
      return toWhole(value, type, isExplicit);
    case "float":
    case "double":
      if (!isNumber(value) && !(value instanceof Char)) throw castError(value, name);
      return new Decimal(toDouble(value), type === "float");
    case "char":
      return toChar(value, isExplicit);
    case "String":
      if (typeof value === "string") return value;
      if (value instanceof Char) return String(value);
      throw castError(value, name);
    default:
      if (isInstance(value, name)) return value;
      throw castError(value, name);
  }
}

function toWhole(value: unknown, type: string, isExplicit: boolean): unknown {
  if (value instanceof Decimal) {
    if (!isExplicit) throw castError(value, type);
    if (Number.isNaN(value.value)) return 0;
    return wrap(saturate(value.value, type === "long" ? 64 : 32), type);
  }
  const number = value instanceof Char ? value.code : value;
  if (!isWhole(number)) throw castError(value, type);
  return wrap(number, type);
}

/** A fraction beyond the bits becomes the largest or smallest number of them. */
function saturate(value: number, bits: 32 | 64): bigint {
  const limit = 2n ** BigInt(bits - 1);
  if (value >= Number(limit)) return limit - 1n;
  if (value <= -Number(limit)) return -limit;
  return BigInt(Math.trunc(value));
}

function wrap(value: number | bigint, type: string): number | bigint {
  if (type === "int" && typeof value === "number" && value === (value | 0)) return value;
  if (type === "long") return typeof value === "number" ? value : whole(value);
  return Number(BigInt.asIntN(BITS[type]!, BigInt(value)));
}

function toChar(value: unknown, isExplicit: boolean): Char {
  if (value instanceof Char) return value;
  if (typeof value === "string" && value.length === 1) return new Char(value.charCodeAt(0));
  if (isWhole(value) || (isExplicit && isNumber(value))) return new Char(Number(toWhole(value, "int", true)));
  if (typeof value === "string") {
    const message = "Cannot cast [String] with length other than one to [char].";
    throw new ScriptException("ClassCastException", message);
  }
  throw castError(value, "char");
}

/** Returns true where `value` is an instance of the type `name`. */
export function isInstance(value: unknown, name: string): boolean {
  if ((value ?? null) === null) return false;
  if (name === "def" || name === "Object") return true;
  const type = WRAPPERS[name] ?? name;
  switch (type) {
    case "String":
    case "CharSequence":
      return typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "Number":
      return isNumber(value);
    case "byte":
    case "short":
    case "int":
      return typeof value === "number" && value === (value | 0);
    case "long":
      return typeof value === "bigint" || (typeof value === "number" && value !== (value | 0));
    case "float":
    case "double":
      return value instanceof Decimal && value.isFloat === (type === "float");
    case "char":
      return value instanceof Char;
    default:
      break;
  }
  if (value instanceof ScriptObject) return isScriptType(value, name);
  if (value instanceof Callable) return FUNCTIONS.test(name);
  if (Array.isArray(value)) return LISTS.has(name);
  if (value instanceof Set) return SETS.has(name);
  return isMap(value) && MAPS.has(name);
}

function isScriptType(value: ScriptObject, name: string): boolean {
  // Names of nested classes are written with their outer one ("Map.Entry").
  return value.type === name || value.type === name.slice(name.lastIndexOf(".") + 1) || value.isA(name);
}
