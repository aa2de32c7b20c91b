/** `convert`: turns a field into a number, a boolean, a text or an address. */

import { isIP } from "node:net";
import { Decimal, print } from "#hub/scripts/values/values.ts";
import { parseJson } from "#proto/codec/json.ts";
import { isHash, valueText } from "#proto/event.ts";
import { ProcessorFault } from "./ingest-document.ts";
import { fieldChange, type ProcessorKind, readField } from "./processor.ts";

type Conversion = (value: unknown) => unknown;

const CONVERSIONS: Readonly<Record<string, Conversion>> = {
  integer: (value) => integer(value, 31),
  long: (value) => integer(value, 63),
  float: floatNumber,
  double: (value) => new Decimal(float(value)),
  // Objects print as those of scripts.
  string: (value) => (isHash(value) || Array.isArray(value) ? print(value) : valueText(value)),
  boolean: toBoolean,
  ip: (value) => {
    const text = valueText(value);
    if (isIP(text) !== 0) return text;
    throw new ProcessorFault(`'${text}' is not an IP string literal.`);
  },
  auto: (value) => {
    if (typeof value !== "string") return value;
    for (const convert of [toBoolean, (text: unknown) => integer(text, 63), floatNumber]) {
      try {
        return convert(value);
      } catch {}
    }
    return value;
  },
};

export const convert: ProcessorKind = (settings) => {
  const change = fieldChange(settings);
  const type = settings.text("type");
  const conversion = CONVERSIONS[type];
  if (conversion === undefined)
    throw settings.fault("type", `type [${type}] not supported, cannot convert field.`);
  return (document) => {
    const value = readField(document, change);
    if (value === undefined) return;
    document.set(change.target, Array.isArray(value) ? value.map(conversion) : conversion(value));
  };
};

/** What a double can't hold keeps its digits. */
function integer(value: unknown, bits: number): unknown {
  const text = valueText(value);
  const found = /^(?:[-+]?\d+|-?0x[0-9a-fA-F]+)$/.test(text) ? BigInt(text.replace(/^[-+]/, "")) : undefined;
  const signed = found !== undefined && text.startsWith("-") ? -found : found;
  const limit = 2n ** BigInt(bits);
  if (signed === undefined || signed >= limit || signed < -limit)
    throw new ProcessorFault(`unable to convert [${text}] to ${bits === 31 ? "integer" : "long"}`);
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : parseJson(String(signed));
}

/** A number of 32 bits, which prints as such. */
function floatNumber(value: unknown): Decimal {
  return new Decimal(float(value), true);
}

/** Java's, whose numbers may end with the letter of their type. Digits that a point doesn't part are read once. */
const FLOAT = /^([-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)[dDfF]?$/;

function float(value: unknown): number {
  const text = valueText(value).trim();
  const number = Number(FLOAT.exec(text)?.[1]);
  if (!Number.isFinite(number)) throw new ProcessorFault(`unable to convert [${text}] to float`);
  return number;
}

function toBoolean(value: unknown): boolean {
  const text = valueText(value).toLowerCase();
  if (text === "true" || text === "false") return text === "true";
  throw new ProcessorFault(`[${valueText(value)}] is not a boolean value, cannot convert to boolean`);
}
