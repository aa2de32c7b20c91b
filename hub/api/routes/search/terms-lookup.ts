/** `terms` whose values stand in another document: they are looked up before the search, once for all shards. */

import type { ApiParts } from "#hub/api/parts.ts";
import { valuesAt } from "#hub/search/fetch/source-values.ts";
import { isObject, type JsonObject, parseJson } from "#hub/search/json.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Look-ups of one request. */
const MAX_LOOKUPS = 100;

/** Returns `body` with the values in place of look-ups; itself where there are none. Throws index_missing, request_invalid. */
export async function resolveLookups(parts: ApiParts, body: JsonObject): Promise<JsonObject> {
  const lookups = new Map<JsonObject, unknown[]>();
  for (const lookup of findLookups(body)) {
    if (lookups.size >= MAX_LOOKUPS)
      throw new AppError("request_invalid", `a request may hold at most ${MAX_LOOKUPS} look-ups of terms`);
    lookups.set(lookup, await lookUp(parts, lookup));
  }
  return lookups.size === 0 ? body : (replaced(body, lookups) as JsonObject);
}

function* findLookups(value: unknown): Iterable<JsonObject> {
  if (Array.isArray(value)) for (const each of value) yield* findLookups(each);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (key === "terms" && isObject(inner)) {
      for (const each of Object.values(inner)) if (isLookup(each)) yield each;
    }
    yield* findLookups(inner);
  }
}

function isLookup(value: unknown): value is JsonObject {
  return isObject(value) && value["id"] !== undefined && typeof value["path"] === "string";
}

/** A document that isn't there has no values. */
async function lookUp(parts: ApiParts, { index, id, path, routing }: JsonObject): Promise<unknown[]> {
  if (typeof index !== "string")
    throw new AppError("request_invalid", "[terms] query lookup element requires specifying the index.");
  const options = routing === undefined ? {} : { routing: valueText(routing) };
  const document = await parts.documents.get(index, String(id), options);
  if (document === null) return [];
  return valuesAt(parseJson(Buffer.from(document.source).toString("utf8")) as JsonObject, String(path));
}

function replaced(value: unknown, lookups: ReadonlyMap<JsonObject, unknown[]>): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => replaced(each, lookups));
  if (!isObject(value)) return value;
  const found = lookups.get(value);
  if (found !== undefined) return found;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, lookups)]));
}
