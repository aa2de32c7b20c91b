/** Filters of aliases as `_search_shards` prints them: with the defaults of their queries. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Returns a query with what its short form leaves out; queries that have no short form as they are. */
export function printedFilter(query: JsonObject): JsonObject {
  const [entry] = Object.entries(query);
  if (entry === undefined) return query;
  const [type, body] = entry;
  if (!isObject(body)) return query;
  if (type === "term" || type === "prefix" || type === "wildcard")
    return { [type]: fieldValues(body, "value") };
  if (type === "match") return { [type]: fieldValues(body, "query") };
  if (type === "terms" || type === "match_all" || type === "exists") return { [type]: { ...body, boost: 1 } };
  if (type !== "bool") return query;
  const clauses = Object.entries(body).map(([name, clause]) => [
    name,
    ["must", "filter", "should", "must_not"].includes(name) ? listed(clause).map(printedFilter) : clause,
  ]);
  return { bool: { ...(Object.fromEntries(clauses) as JsonObject), adjust_pure_negative: true, boost: 1 } };
}

function fieldValues(body: JsonObject, key: string): JsonObject {
  return Object.fromEntries(
    Object.entries(body).map(([field, value]) => [
      field,
      isObject(value) ? { ...value, boost: value["boost"] ?? 1 } : { [key]: value, boost: 1 },
    ]),
  );
}

function listed(clause: unknown): JsonObject[] {
  return (Array.isArray(clause) ? clause : [clause]).filter(isObject);
}
