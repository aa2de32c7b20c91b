/** Static methods of Math and of the classes of numbers. */

import { cast } from "#hub/scripts/values/casts.ts";
import { binary, compare, toDouble, toInteger } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type CallContext, Decimal, print, whole } from "#hub/scripts/values/values.ts";

export type Static = (values: readonly unknown[], context: CallContext) => unknown;
/** Every name is a method's, those of the host's objects too ("toString"). */
export type Statics = { [name: string]: Static; toString?: Static; valueOf?: Static };

export const decimal = (value: number): Decimal => new Decimal(value);
const real =
  (compute: (value: number) => number): Static =>
  ([value]) =>
    decimal(compute(toDouble(value)));

/** Math.round: half up; whole. */
function round(value: number): number | bigint {
  if (Number.isNaN(value)) return 0;
  const rounded = Math.floor(value + 0.5);
  return Number.isSafeInteger(rounded)
    ? rounded
    : whole(BigInt(Math.trunc(Math.max(-(2 ** 63), Math.min(2 ** 63 - 1024, rounded)))));
}

/** The larger or smaller of two numbers; with a fraction where one of them has one. */
function extreme(values: readonly unknown[], sign: number): unknown {
  const [a, b] = [values[0], values[1]];
  if (a instanceof Decimal || b instanceof Decimal) {
    const [x, y] = [toDouble(a), toDouble(b)];
    return decimal(sign > 0 ? Math.max(x, y) : Math.min(x, y));
  }
  return compare(a, b) * sign >= 0 ? a : b;
}

export function parseWhole(text: unknown, radix: unknown, bits: 32 | 64): number | bigint {
  const source = print(text);
  const number = radix === undefined ? 10 : toInteger(radix);
  const digits = /^[+-]?[0-9a-z]{1,1000}$/i.test(source) && text !== null;
  const value =
    digits && number === 10 && /^[+-]?\d+$/.test(source) ? BigInt(source.replace("+", "")) : undefined;
  const parsed =
    value ?? (digits && number !== 10 ? BigInt(Number.parseInt(source, number) || 0) : undefined);
  const isExact = parsed !== undefined && BigInt.asIntN(bits, parsed) === parsed;
  if (!isExact || (number !== 10 && Number.isNaN(Number.parseInt(source, number))))
    throw new ScriptException(
      "NumberFormatException",
      `For input string: "${text === null ? "null" : source}"`,
    );
  return whole(parsed);
}

/** The marks of a radix in `decode`, after the sign. */
const RADIX_MARK = /^([+-]?)(?:0[xX]|#|0(?=.))/;

/** Integer.decode, Long.decode: "0x1f", "#1f" and "017" name their radix. Throws NumberFormatException. */
function decodeWhole(text: unknown, bits: 32 | 64): number | bigint {
  const source = textGiven(text);
  const [mark = "", sign = ""] = RADIX_MARK.exec(source) ?? [];
  if (mark === "") return parseWhole(source, undefined, bits);
  const digits = source.slice(mark.length);
  if (/^[+-]/.test(digits))
    throw new ScriptException("NumberFormatException", "Sign character in wrong position");
  const isOctal = !/[xX#]$/.test(mark);
  if (!(isOctal ? /^[0-7]+$/ : /^[0-9a-f]+$/i).test(digits) || digits.length > 1_000)
    throw new ScriptException("NumberFormatException", `For input string: "${digits}"`);
  const size = BigInt(`${isOctal ? "0o" : "0x"}${digits}`);
  const value = sign === "-" ? -size : size;
  if (BigInt.asIntN(bits, value) !== value)
    throw new ScriptException("NumberFormatException", `For input string: "${sign}${digits}"`);
  return whole(value);
}

function textGiven(text: unknown): string {
  if ((text ?? null) === null) throw new ScriptException("NullPointerException", null);
  return print(text);
}

export function parseDecimal(text: unknown): Decimal {
  const source = print(text).trim();
  if (!/^[+-]?(?:NaN|Infinity|(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?[fd]?)$/i.test(source))
    throw new ScriptException(
      "NumberFormatException",
      source === "" ? "empty String" : `For input string: "${source}"`,
    );
  return decimal(Number(source.replace(/[fd]$/i, "")));
}

export const MATH: Statics = {
  // The language has these for doubles alone.
  abs: real(Math.abs),
  max: ([a, b]) => decimal(Math.max(toDouble(a), toDouble(b))),
  min: ([a, b]) => decimal(Math.min(toDouble(a), toDouble(b))),
  round: ([value]) => round(toDouble(value)),
  floorDiv: ([a, b]) => Math.floor(toInteger(a) / toInteger(b)),
  floorMod: ([a, b]) => ((toInteger(a) % toInteger(b)) + toInteger(b)) % toInteger(b),
  pow: ([a, b]) => decimal(toDouble(a) ** toDouble(b)),
  atan2: ([a, b]) => decimal(Math.atan2(toDouble(a), toDouble(b))),
  hypot: ([a, b]) => decimal(Math.hypot(toDouble(a), toDouble(b))),
  signum: real(Math.sign),
  toRadians: real((value) => (value * Math.PI) / 180),
  toDegrees: real((value) => (value * 180) / Math.PI),
  rint: real((value) => (Math.abs(value % 1) === 0.5 ? 2 * Math.round(value / 2) : Math.round(value))),
  random: () => decimal(Math.random()),
  ...Object.fromEntries(
    (
      [
        "acos",
        "asin",
        "atan",
        "cbrt",
        "ceil",
        "cos",
        "cosh",
        "exp",
        "expm1",
        "floor",
        "log",
        "log10",
        "log1p",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
      ] as const
    ).map((name) => [name, real(Math[name])]),
  ),
}; // prettier-ignore

export const wholeClass = (bits: 32 | 64, type: string): Statics => ({
  valueOf: ([value, radix]) => (typeof value === "string" ? parseWhole(value, radix, bits) : value),
  compare: ([a, b]) => compare(a, b),
  toString: ([value, radix]) =>
    radix === undefined ? print(value) : BigInt(value as number).toString(toInteger(radix)),
  toHexString: ([value]) => BigInt.asUintN(bits, BigInt(value as number)).toString(16),
  toOctalString: ([value]) => BigInt.asUintN(bits, BigInt(value as number)).toString(8),
  decode: ([text]) => decodeWhole(text, bits),
  toBinaryString: ([value]) => BigInt.asUintN(bits, BigInt(value as number)).toString(2),
  max: (values) => extreme(values, 1),
  min: (values) => extreme(values, -1),
  sum: ([a, b]) => cast(binary("+", a, b), type, true),
  signum: ([value]) => Math.sign(toDouble(value)),
  bitCount: ([value]) =>
    BigInt.asUintN(bits, BigInt(value as number))
      .toString(2)
      .replaceAll("0", "").length,
});

export const decimalClass: Statics = {
  valueOf: ([value]) => (typeof value === "string" ? parseDecimal(value) : decimal(toDouble(value))),
  compare: ([a, b]) => compare(a, b),
  toString: ([value]) => print(decimal(toDouble(value))),
  isNaN: ([value]) => Number.isNaN(toDouble(value)),
  isInfinite: ([value]) => Math.abs(toDouble(value)) === Number.POSITIVE_INFINITY,
  isFinite: ([value]) => Number.isFinite(toDouble(value)),
  max: (values) => decimal(Math.max(toDouble(values[0]), toDouble(values[1]))),
  min: (values) => decimal(Math.min(toDouble(values[0]), toDouble(values[1]))),
  sum: ([a, b]) => decimal(toDouble(a) + toDouble(b)),
};
