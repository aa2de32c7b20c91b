/** Values of rows and of sql_last_value, between databases and events. */

import type { Address } from "./database.ts";

/** A value as events hold it: bytes as base64, whole numbers as text where they would lose digits. */
export function fieldValue(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  return value;
}

/** A remembered number as a statement takes it, with all of its digits. */
export function numberOf(text: string, kind: Address["kind"]): unknown {
  const value = Number(text);
  if (!/^-?\d+$/.test(text) || Number.isSafeInteger(value)) return Number.isNaN(value) ? 0 : value;
  return kind === "sqlite" ? BigInt(text) : text;
}
