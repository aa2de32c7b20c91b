/** Conversions of mutate. */

import { textOf, Unspecified, type Value } from "../values.ts";

export const KINDS = ["string", "integer", "float", "boolean", "integer_eu", "float_eu"];

export function converted(value: Value, kind: string): Value {
  if (kind === "string") return textOf(value);
  if (kind === "boolean") {
    const text = textOf(value);
    if (/^[01][^.]0$/m.test(text)) throw new Unspecified("a dot that is any character");
    if (/^(?:true|t|yes|y|1|1.0)$/im.test(text)) return true;
    return text === "" || /^(?:false|f|no|n|0|0.0)$/im.test(text) ? false : value;
  }
  if (typeof value === "string") {
    const text = kind.endsWith("_eu")
      ? value.replaceAll(/[.,]/g, (sign) => (sign === "." ? "," : "."))
      : value;
    return numberOf(text, kind.startsWith("integer"));
  }
  if (typeof value === "boolean") return kind.startsWith("integer") ? BigInt(value) : Number(value);
  if (typeof value !== "bigint" && typeof value !== "number") throw new Unspecified("numbers of lists");
  if (kind.startsWith("integer")) return typeof value === "bigint" ? value : BigInt(Math.trunc(value));
  return Number(value);
}

function numberOf(text: string, isInteger: boolean): Value {
  const plain = text.trim().replaceAll(",", "");
  if (!isInteger && /^\.[0-9]+$/.test(plain)) return Number(plain);
  if (!/^[-+]?[0-9]+(?:\.[0-9]+)?$/.test(plain)) throw new Unspecified("other notations of numbers");
  if (!isInteger) return Number(plain);
  return BigInt(plain.replace(/^\+/, "").replace(/\..*$/, ""));
}
