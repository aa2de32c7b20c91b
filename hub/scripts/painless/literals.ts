/** Values of literals. */

import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { Decimal, whole } from "#hub/scripts/values/values.ts";
import type { Token } from "./lexer.ts";

const LONG = 2n ** 63n;
const INT = 2n ** 31n;

/** Returns the value of a number or text. Throws IllegalArgumentException for a number that its type can't hold. */
export function constantOf({ kind, text, offset }: Token): unknown {
  if (kind === "string") return text;
  if (kind === "decimal") {
    const value = Number(text.replace(/[lLfFdD]$/, ""));
    return new Decimal(value, /[fF]$/.test(text));
  }
  const isLong = /[lL]$/.test(text);
  const digits = text.replace(/[lL]$/, "");
  const value = /^0[0-7]+$/.test(digits) ? BigInt(`0o${digits.slice(1)}`) : BigInt(digits);
  // One more than the largest is the smallest after a minus.
  const limit = isLong ? LONG : INT;
  const isHex = /^0x/i.test(digits);
  if (value > (isHex ? 2n * limit - 1n : limit))
    throw new ScriptException(
      "IllegalArgumentException",
      `Invalid ${isLong ? "long" : "int"} constant [${digits}].`,
      offset,
    );
  return isHex && !isLong ? Number(BigInt.asIntN(32, value)) : value === LONG ? value : whole(value);
}
