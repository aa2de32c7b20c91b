/**
 * Look-ups of a query, done before the search and once for all shards: values of `terms`, the documents that
 * `more_like_this` compares with, and stored scripts.
 */

import { type ApiContext, findStored } from "#hub/api/context/api-context.ts";
import { isTermsLookup } from "#hub/api/parameters/values.ts";
import { parseJson } from "#hub/search/options/json.ts";
import { valuesAt } from "#hub/search/source/source-values.ts";
import { valueText } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Maximum number of look-ups of one request. */
const MAX_LOOKUPS = 100;

/**
 * Returns `body` with each look-up replaced by its result, or `body` itself if it has none. `index`: the searched
 * index, used for documents that name none. Throws index_missing, request_invalid.
 */
export async function resolveLookups(
  parts: ApiContext,
  body: JsonObject,
  index: string | undefined,
): Promise<JsonObject> {
  const lookups = new Map<JsonObject, unknown>();
  const wanted = wantedLookups(body);
  for (const script of wanted.scripts) lookups.set(script, inlineScript(parts, script));
  const keep = async (lookup: JsonObject, look: () => Promise<unknown>): Promise<void> => {
    if (lookups.size >= MAX_LOOKUPS)
      throw new AppError(
        "request_invalid",
        `a request may hold at most ${MAX_LOOKUPS} look-ups of terms or documents`,
      );
    lookups.set(lookup, await look());
  };
  for (const lookup of wanted.terms) await keep(lookup, () => lookUp(parts, lookup));
  for (const item of wanted.likes) await keep(item, () => likeOf(parts, item, index));
  return lookups.size === 0 ? body : (replaced(body, lookups) as JsonObject);
}

/** The parts of a body that are looked up. */
interface WantedLookups {
  /** Scripts that are given by the id of a stored script. */
  readonly scripts: JsonObject[];
  readonly terms: JsonObject[];
  /** Documents of `more_like_this` that are given by id. */
  readonly likes: JsonObject[];
}

const SCRIPT_KEY = /(?:^|_)script$/;

/** Walks a body only once: a body with a hundred thousand ranges must not delay other requests. */
function wantedLookups(body: JsonObject): WantedLookups {
  const wanted: WantedLookups = { scripts: [], terms: [], likes: [] };
  addWanted(body, wanted, true, true);
  return wanted;
}

/** `findsScripts`, `findsLikes`: false below a script or a `more_like_this`, which contain no further ones. */
function addWanted(value: unknown, wanted: WantedLookups, findsScripts: boolean, findsLikes: boolean): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value)) {
    for (const each of value) addWanted(each, wanted, findsScripts, findsLikes);
    return;
  }
  const members = value as JsonObject;
  for (const key of Object.keys(members)) {
    const inner = members[key];
    if (!isObject(inner)) {
      if (Array.isArray(inner)) addWanted(inner, wanted, findsScripts, findsLikes);
      continue;
    }
    const isStored =
      findsScripts && (inner["id"] !== undefined || inner["stored"] !== undefined) && SCRIPT_KEY.test(key);
    const isLike = findsLikes && (key === "more_like_this" || key === "mlt");
    if (isStored) wanted.scripts.push(inner);
    if (isLike) wanted.likes.push(...namedDocuments(inner));
    if (key === "terms")
      for (const each of Object.values(inner)) if (isTermsLookup(each)) wanted.terms.push(each);
    addWanted(inner, wanted, findsScripts && !isStored, findsLikes && !isLike);
  }
}

function namedDocuments({ like, unlike }: JsonObject): JsonObject[] {
  const items: unknown[] = [like, unlike].flat();
  return items.filter(isObject).filter((item) => item["_id"] !== undefined && item["doc"] === undefined);
}

/** Returns the script with its source instead of its id. Throws not_found. */
function inlineScript(parts: ApiContext, { id, stored, ...script }: JsonObject): JsonObject {
  const found = findStored(parts)(valueText(id ?? stored));
  if (found === undefined)
    throw new AppError("not_found", `unable to find script [${valueText(id ?? stored)}]`);
  return { ...script, ...found };
}

/** Returns the item with its document, {} for a document that doesn't exist. */
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

/** A document that doesn't exist has no values. */
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
