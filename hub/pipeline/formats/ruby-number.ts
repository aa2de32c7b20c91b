/** Numbers as Ruby's `Integer()` and `Float()` read whole texts: what isn't a number is undefined. */

import { decimal, parseJson } from "#proto/codec/json.ts";

const DIGITS = "[0-9]+(?:_[0-9]+)*";
/** Groups: the sign, the digits of another base with their prefix, decimal digits. A leading zero means octal. */
const INTEGER =
  /^\s*([-+]?)(?:(0[xX][0-9a-fA-F]+(?:_[0-9a-fA-F]+)*|0[bB][01]+(?:_[01]+)*|0[oO]?_?[0-7]+(?:_[0-7]+)*)|(0|[1-9][0-9]*(?:_[0-9]+)*))\s*$/;
const FLOAT = new RegExp(`^\\s*[-+]?(?:${DIGITS}(?:\\.${DIGITS})?|\\.${DIGITS})(?:[eE][-+]?${DIGITS})?\\s*$`);

/** Returns a number for an event, one beyond 2^53 with all its digits. */
export function rubyInteger(text: string): unknown {
  const [, sign, other, digits] = INTEGER.exec(text) ?? [];
  if (sign === undefined) return undefined;
  const plain = (other ?? digits!).replaceAll("_", "");
  const size = BigInt(other === undefined ? plain : plain.replace(/^0[oO]?(?=[0-7])/, "0o"));
  return parseJson(String(sign === "-" ? -size : size));
}

/** Returns a number for an event, one without a fraction as a decimal; of one that no float holds undefined. */
export function rubyFloat(text: string): unknown {
  const value = FLOAT.test(text) ? Number(text.replaceAll("_", "")) : Number.NaN;
  return Number.isFinite(value) ? decimal(value) : undefined;
}
