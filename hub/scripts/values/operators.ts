/** Operators of the language on values: arithmetic with whole numbers and fractions, comparison, equality, casts. */

import { ScriptException } from "./script-error.ts";
import {
  type CallContext,
  Char,
  Decimal,
  isNumber,
  isWhole,
  print,
  ScriptObject,
  typeOf,
  weigh,
  whole,
} from "./values.ts";

/** Operators with two operands, but those that may leave out the second. */
export type BinaryOperator =
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "<<"
  | ">>"
  | ">>>"
  | "&"
  | "|"
  | "^"
  | "=="
  | "!="
  | "==="
  | "!=="
  | "<"
  | "<="
  | ">"
  | ">="
  | "=~"
  | "==~"; // prettier-ignore

type Whole = number | bigint;

/** Returns left `operator` right. Throws ClassCastException, ArithmeticException. */
export function binary(
  operator: BinaryOperator,
  left: unknown,
  right: unknown,
  context?: CallContext,
): unknown {
  switch (operator) {
    case "+":
      return add(left, right);
    case "-":
      // Fast path: most numbers are whole and small.
      if (typeof left === "number" && typeof right === "number")
        return exact(left - right, left, right, operator);
      return arithmetic(operator, left, right);
    case "*":
      if (typeof left === "number" && typeof right === "number")
        return exact(left * right, left, right, operator);
      return arithmetic(operator, left, right);
    case "/":
    case "%":
      return arithmetic(operator, left, right);
    case "<":
    case "<=":
    case ">":
    case ">=":
      return compareBy(operator, left, right);
    case "==":
      return equals(left, right, context);
    case "!=":
      return !equals(left, right, context);
    case "===":
      return isSame(left, right);
    case "!==":
      return !isSame(left, right);
    case "&":
    case "|":
    case "^":
      return bits(operator, left, right);
    default:
      return shift(operator, left, right);
  }
}

function add(left: unknown, right: unknown): unknown {
  if (typeof left === "number" && typeof right === "number") return exact(left + right, left, right, "+");
  if (typeof left === "string" || typeof right === "string") return print(left) + print(right);
  return arithmetic("+", left, right);
}

/** Results beyond what a number holds exactly are computed again with 64 bits. */
function exact(result: number, left: number, right: number, operator: "+" | "-" | "*"): Whole | Decimal {
  if (Number.isSafeInteger(result) && Number.isInteger(left)) return result === 0 ? 0 : result;
  // Numbers in lists of documents may have fractions.
  if (!Number.isInteger(left) || !Number.isInteger(right)) return new Decimal(result);
  const [a, b] = [BigInt(left), BigInt(right)];
  return whole(operator === "+" ? a + b : operator === "-" ? a - b : a * b);
}

function arithmetic(operator: "+" | "-" | "*" | "/" | "%", left: unknown, right: unknown): unknown {
  const a = numeric(left, operator, right);
  const b = numeric(right, operator, left);
  if (a instanceof Decimal || b instanceof Decimal)
    return new Decimal(fractions(operator, toDouble(a), toDouble(b)), isFloat(a) && isFloat(b));
  if (operator === "/" || operator === "%") return divide(operator, a, b);
  if (typeof a === "number" && typeof b === "number")
    return exact(operator === "+" ? a + b : operator === "-" ? a - b : a * b, a, b, operator);
  const [x, y] = [BigInt(a), BigInt(b)];
  return whole(operator === "+" ? x + y : operator === "-" ? x - y : x * y);
}

/** Numbers and chars have no identity of their own. */
function isSame(left: unknown, right: unknown): boolean {
  if (left instanceof Char) return right instanceof Char && left.code === right.code;
  return left === right || (isNumber(left) && equals(left, right));
}

/** Whether a number keeps a float one: doubles don't. */
function isFloat(value: Whole | Decimal): boolean {
  return !(value instanceof Decimal) || value.isFloat;
}

function fractions(operator: "+" | "-" | "*" | "/" | "%", a: number, b: number): number {
  switch (operator) {
    case "+":
      return a + b;
    case "-":
      return a - b;
    case "*":
      return a * b;
    case "/":
      return a / b;
    case "%":
      return a % b;
  }
}

function divide(operator: "/" | "%", a: Whole, b: Whole): Whole {
  if (Number(b) === 0) throw new ScriptException("ArithmeticException", "/ by zero");
  if (typeof a === "number" && typeof b === "number") {
    const result = operator === "/" ? Math.trunc(a / b) : a % b;
    return result === 0 ? 0 : result;
  }
  return whole(operator === "/" ? BigInt(a) / BigInt(b) : BigInt(a) % BigInt(b));
}

function bits(operator: "&" | "|" | "^", left: unknown, right: unknown): unknown {
  if (typeof left === "boolean" && typeof right === "boolean") {
    if (operator === "&") return left && right;
    return operator === "|" ? left || right : left !== right;
  }
  const [a, b] = [BigInt(integral(left, operator, right)), BigInt(integral(right, operator, left))];
  return whole(operator === "&" ? a & b : operator === "|" ? a | b : a ^ b);
}

function shift(operator: string, left: unknown, right: unknown): unknown {
  const value = integral(left, operator, right);
  const by = Number(integral(right, operator, left));
  // An int shifts within 32 bits, a long within 64.
  if (typeof value === "number" && value === (value | 0)) {
    if (operator === ">>") return value >> by;
    if (operator === ">>>") return (value >>> by) | 0;
    return value << by;
  }
  return shiftBy(operator, value, by);
}

function shiftBy(operator: string, value: Whole, by: number): Whole {
  const places = BigInt(by & 63);
  if (operator === "<<") return whole(BigInt(value) << places);
  return whole((operator === ">>" ? BigInt(value) : BigInt.asUintN(64, BigInt(value))) >> places);
}

/** Shifts a number within 64 bits, also a small one. Throws ClassCastException. */
export function shiftLong(operator: "<<" | ">>>", left: unknown, right: unknown): unknown {
  return shiftBy(operator, integral(left, operator, right), Number(integral(right, operator, left)));
}

/** Returns a whole number wrapped around at 32 bits, as an int is; all else as it is. */
export function wrapInt(value: unknown): unknown {
  if (typeof value === "number") return Number.isSafeInteger(value) ? value | 0 : value;
  return typeof value === "bigint" ? Number(BigInt.asIntN(32, value)) : value;
}

/** Returns -value, +value, !value or ~value. */
export function unary(operator: "-" | "+" | "!" | "~", value: unknown): unknown {
  if (operator === "!") return !truth(value);
  if (operator === "~") return whole(~BigInt(integral(value, operator, value)));
  const number = numeric(value, operator, value);
  if (operator === "+") return number;
  if (number instanceof Decimal) return new Decimal(-number.value, number.isFloat);
  return number === 0 ? 0 : typeof number === "number" ? -number : whole(-number);
}

/** Returns a boolean. Throws ClassCastException for all else. */
export function truth(value: unknown): boolean {
  if (typeof value === "boolean") return value;
  if (value === null || value === undefined) throw new ScriptException("NullPointerException", null);
  throw castError(value, "boolean");
}

/** Members or entries that are compared in one step. */
const MEMBERS_A_STEP = 8;
/** Characters that are compared in one step. */
const CHARS_A_STEP = 64;

/** `==` of the language: numbers by value, all else by equals(). `context`: spends what a long comparison costs. */
export function equals(left: unknown, right: unknown, context?: CallContext): boolean {
  const [a, b] = [left ?? null, right ?? null];
  if (typeof a === "string" && typeof b === "string" && a.length === b.length)
    context?.spend(Math.floor(a.length / CHARS_A_STEP));
  if (a === b) return true;
  if (a === null || b === null) return false;
  if (isNumber(a) || isNumber(b)) {
    const [x, y] = [charCode(a), charCode(b)];
    if (!isNumber(x) || !isNumber(y)) return false;
    return compareNumbers(x, y) === 0;
  }
  if (a instanceof Char || b instanceof Char) return sameText(a, b, context);
  if (typeof a !== "object" || typeof b !== "object") return false;
  return sameContent(a, b, context);
}

/** Whether two values print the same. */
function sameText(a: unknown, b: unknown, context: CallContext | undefined): boolean {
  if (context !== undefined) {
    if (typeof a === "object") weigh(a, context);
    if (typeof b === "object") weigh(b, context);
  }
  return print(a) === print(b);
}

function sameContent(a: object, b: object, context: CallContext | undefined): boolean {
  const same = (x: unknown, y: unknown): boolean => equals(x, y, context);
  context?.spend(1);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    context?.spend(Math.floor(a.length / MEMBERS_A_STEP));
    return a.every((each, at) => same(each, b[at]));
  }
  if (a instanceof Set) {
    if (!(b instanceof Set) || a.size !== b.size) return false;
    context?.spend(Math.floor(a.size / MEMBERS_A_STEP));
    return [...a].every((each) => b.has(each));
  }
  if (a instanceof ScriptObject)
    return b instanceof ScriptObject && a.type === b.type && sameText(a, b, context);
  if (b instanceof ScriptObject || Array.isArray(b) || b instanceof Set) return false;
  const [x, y] = [entriesOf(a), entriesOf(b)];
  context?.spend(Math.floor((x.size + y.size) / MEMBERS_A_STEP));
  return x.size === y.size && [...x].every(([key, value]) => y.has(key) && same(value, y.get(key)));
}

function entriesOf(map: object): Map<unknown, unknown> {
  return map instanceof Map ? map : new Map(Object.entries(map));
}

/** Returns < 0, 0 or > 0, as compareTo() does. Throws ClassCastException where there is no order. */
export function compare(left: unknown, right: unknown): number {
  const [a, b] = [charCode(left), charCode(right)];
  if (isNumber(a) && isNumber(b)) return compareNumbers(a, b);
  if (typeof a === "string" && typeof b === "string") return a < b ? -1 : Number(a > b);
  if (typeof a === "boolean" && typeof b === "boolean") return Number(a) - Number(b);
  if (a === null || a === undefined || b === null || b === undefined)
    throw new ScriptException("NullPointerException", null);
  if (a instanceof ScriptObject && b instanceof ScriptObject) {
    const [x, y] = [a.valueOf(), b.valueOf()];
    if (typeof x === "number" && typeof y === "number") return x - y;
  }
  throw new ScriptException("ClassCastException", `Cannot compare [${typeOf(a)}] with [${typeOf(b)}]`);
}

function compareNumbers(a: Whole | Decimal, b: Whole | Decimal): number {
  const [x, y] = [a instanceof Decimal ? a.value : a, b instanceof Decimal ? b.value : b];
  if (Number.isNaN(x) || Number.isNaN(y)) return Number.NaN;
  return x < y ? -1 : Number(x > y);
}

function compareBy(operator: "<" | "<=" | ">" | ">=", left: unknown, right: unknown): boolean {
  if (typeof left !== "number" || typeof right !== "number") {
    const [a, b] = [charCode(left), charCode(right)];
    if (!isNumber(a) || !isNumber(b)) throw operandError(operator, left, right);
    const order = compareNumbers(a, b);
    if (operator === "<") return order < 0;
    if (operator === "<=") return order <= 0;
    return operator === ">" ? order > 0 : order >= 0;
  }
  if (operator === "<") return left < right;
  if (operator === "<=") return left <= right;
  return operator === ">" ? left > right : left >= right;
}

/** Returns a number of any kind as a double. Throws ClassCastException. */
export function toDouble(value: unknown): number {
  if (value instanceof Decimal) return value.value;
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Char) return value.code;
  if (value === null || value === undefined) throw new ScriptException("NullPointerException", null);
  throw castError(value, "double");
}

/** Returns a number as a whole one within the safe integers, fractions cut. Throws ClassCastException. */
export function toInteger(value: unknown): number {
  const number = Math.trunc(toDouble(value));
  return Number.isNaN(number) ? 0 : number === 0 ? 0 : number;
}

function charCode(value: unknown): unknown {
  return value instanceof Char ? value.code : value;
}

function numeric(value: unknown, operator: string, other: unknown): Whole | Decimal {
  const number = charCode(value);
  if (typeof number === "number" && !Number.isInteger(number)) return new Decimal(number);
  if (isNumber(number)) return number;
  throw operandError(operator, value, other);
}

function integral(value: unknown, operator: string, other: unknown): Whole {
  const number = charCode(value);
  if (isWhole(number)) return number;
  throw operandError(operator, value, other);
}

function operandError(operator: string, left: unknown, right: unknown): ScriptException {
  if ((left ?? null) === null || (right ?? null) === null)
    return new ScriptException("NullPointerException", null);
  const message = `Cannot apply [${operator}] operation to types [${typeOf(left)}] and [${typeOf(right)}].`;
  return new ScriptException("ClassCastException", message);
}

/** The error of a value that isn't of the type it is used as. */
export function castError(value: unknown, type: string): ScriptException {
  return new ScriptException("ClassCastException", `Cannot cast from [${typeOf(value)}] to [${type}].`);
}
