/** Partial updates: merging JSON objects without losing the text of numbers. */

import { AppError } from "#proto/kit/errors.ts";
import { NumberText } from "#proto/kit/number-text.ts";

type Value = string | number | boolean | null | NumberText | Value[] | { [key: string]: Value };
type ObjectValue = { [key: string]: Value };

const ENCODER = new TextEncoder();
const DECODER = new TextDecoder();

/**
 * Returns `source` with `partial` merged in (objects deeply, all else replaced), or null if nothing changes. Both are
 * JSON objects in UTF-8. Throws mapping_parse for a `partial` that isn't one.
 */
export function mergeSource(source: Uint8Array, partial: Uint8Array): Uint8Array | null {
  const target = parse(source);
  const changed = merge(target, parse(partial));
  return changed ? ENCODER.encode(print(target)) : null;
}

function parse(bytes: Uint8Array): ObjectValue {
  let value: unknown;
  try {
    value = JSON.parse(DECODER.decode(bytes), keepNumber);
  } catch (error) {
    throw new AppError("mapping_parse", "failed to parse", { cause: error });
  }
  if (isObject(value as Value)) return value as ObjectValue;
  throw new AppError("mapping_parse", "failed to parse: a JSON object is expected");
}

/** Reviver: keeps texts that JavaScript wouldn't give back (1.0, 9007199254740993), by source text access. */
function keepNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number") return value;
  const text = context?.source;
  return text === undefined || text === String(value) ? value : new NumberText(text);
}

function isObject(value: Value | undefined): value is ObjectValue {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof NumberText)
  );
}

function merge(target: ObjectValue, partial: ObjectValue): boolean {
  let changed = false;
  for (const [key, value] of Object.entries(partial)) {
    const existing = Object.hasOwn(target, key) ? target[key] : undefined;
    if (isObject(existing) && isObject(value)) {
      changed = merge(existing, value) || changed;
    } else if (existing === undefined || print(existing) !== print(value)) {
      // "__proto__" must become a key like any other.
      Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
      changed = true;
    }
  }
  return changed;
}

function print(value: Value): string {
  if (value instanceof NumberText) return value.text;
  if (Array.isArray(value)) return `[${value.map(print).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${print(inner)}`)
    .join(",")}}`;
}
