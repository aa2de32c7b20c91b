/** Totals of hits as versions from 7 on print them: objects. */

import { RawJson } from "#hub/search/options/json-writer.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Returns a total as an object; undefined for none. `limit`: hits up to which they were counted. */
export function objectTotal(
  total: number | undefined,
  limit = Number.POSITIVE_INFINITY,
): JsonObject | undefined {
  if (total === undefined) return undefined;
  return total <= limit ? { value: total, relation: "eq" } : { value: limit, relation: "gte" };
}

/** Returns `value` with the totals of hits in it changed, at any depth but in documents. */
export function withObjectTotals(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withObjectTotals);
  if (!isObject(value) || value instanceof RawJson) return value;
  const { hits, total } = value;
  if (typeof total === "number" && Array.isArray(hits))
    return { ...value, total: objectTotal(total), hits: withObjectTotals(hits) };
  return Object.fromEntries(
    // Documents are what they are.
    Object.entries(value).map(([key, inner]) => [key, key === "_source" ? inner : withObjectTotals(inner)]),
  );
}
