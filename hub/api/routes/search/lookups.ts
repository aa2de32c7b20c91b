/**
 * Look-ups of a query elsewhere, done before the search, once for all shards: values of `terms`, the documents that
 * `more_like_this` compares with, and stored scripts.
 */

import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { valuesAt } from "#hub/search/source/source-values.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Look-ups of one request. */
const MAX_LOOKUPS = 100;

/**
 * Returns `body` with what was looked up in its place; itself where there is nothing to. `index`: what is searched, where
 * documents are that name none. Throws index_missing, request_invalid.
 */
export async function resolveLookups(
  parts: ApiContext,
  body: JsonObject,
  index: string | undefined,
): Promise<JsonObject> {
  const lookups = new Map<JsonObject, unknown>();
  for (const script of findScripts(body)) lookups.set(script, inlineScript(parts, script));
  const keep = async (lookup: JsonObject, look: () => Promise<unknown>): Promise<void> => {
    if (lookups.size >= MAX_LOOKUPS)
      throw new AppError(
        "request_invalid",
        `a request may hold at most ${MAX_LOOKUPS} look-ups of terms or documents`,
      );
    lookups.set(lookup, await look());
  };
  for (const lookup of findLookups(body)) await keep(lookup, () => lookUp(parts, lookup));
  for (const item of findLikes(body)) await keep(item, () => likeOf(parts, item, index));
  return lookups.size === 0 ? body : (replaced(body, lookups) as JsonObject);
}

/** Scripts that are named by the id of a stored one. */
function* findScripts(value: unknown): Iterable<JsonObject> {
  if (Array.isArray(value)) for (const each of value) yield* findScripts(each);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if (!/(?:^|_)script$/.test(key) || !isObject(inner)) yield* findScripts(inner);
    else if (inner["id"] !== undefined || inner["stored"] !== undefined) yield inner;
    else yield* findScripts(inner);
  }
}

/** The script with its source instead of its id. Throws not_found. */
function inlineScript(parts: ApiContext, { id, stored, ...script }: JsonObject): JsonObject {
  const found = findStored(parts)(valueText(id ?? stored));
  if (found === undefined)
    throw new AppError("not_found", `unable to find script [${valueText(id ?? stored)}]`);
  return { ...script, ...found };
}

/** Documents of `more_like_this` that are named, not given. */
function* findLikes(value: unknown): Iterable<JsonObject> {
  if (Array.isArray(value)) for (const each of value) yield* findLikes(each);
  if (!isObject(value)) return;
  for (const [key, inner] of Object.entries(value)) {
    if ((key !== "more_like_this" && key !== "mlt") || !isObject(inner)) yield* findLikes(inner);
    else {
      const items = [inner["like"], inner["unlike"]].flat();
      for (const item of items)
        if (isObject(item) && item["_id"] !== undefined && item["doc"] === undefined) yield item;
    }
  }
}

/** The item with its document, {} for one that isn't there. */
async function likeOf(
  parts: ApiContext,
  item: JsonObject,
  searched: string | undefined,
): Promise<JsonObject> {
  const { _index: index = searched, _id: id, routing = item["_routing"] } = item;
  if (typeof index !== "string" || /[*,]/.test(index))
    throw new AppError(
      "request_invalid",
      `a document of [more_like_this] needs [_index], as several indices are searched: [${valueText(id)}] has none`,
    );
  const options = routing === undefined ? {} : { routing: valueText(routing) };
  const document = await parts.documents.get(index, valueText(id), options);
  const doc = document === null ? {} : parseJson(Buffer.from(document.source).toString("utf8"));
  return { ...item, doc };
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
async function lookUp(parts: ApiContext, { index, id, path, routing }: JsonObject): Promise<unknown[]> {
  if (typeof index !== "string")
    throw new AppError("request_invalid", "[terms] query lookup element requires specifying the index.");
  const options = routing === undefined ? {} : { routing: valueText(routing) };
  const document = await parts.documents.get(index, String(id), options);
  if (document === null) return [];
  return valuesAt(parseJson(Buffer.from(document.source).toString("utf8")) as JsonObject, String(path));
}

function replaced(value: unknown, lookups: ReadonlyMap<JsonObject, unknown>): unknown {
  if (Array.isArray(value)) return value.map((each: unknown) => replaced(each, lookups));
  if (!isObject(value)) return value;
  const found = lookups.get(value);
  if (found !== undefined) return found;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, replaced(each, lookups)]));
}
