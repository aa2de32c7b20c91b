/** Converts the search of a Kibana object (index, query and filters) to a query of the hub. */

import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { jsonIn, type KibanaObject, textOf } from "./exported-objects.ts";

export interface SearchSource {
  /** Index pattern; undefined: the object names none. */
  readonly index: string | undefined;
  readonly query: string;
  /** Id of the saved search that the object belongs to. */
  readonly savedSearch: string | undefined;
  readonly leftOut: readonly string[];
}

/** Index patterns by id. */
export type IndexPatterns = ReadonlyMap<string, string>;

/** Reads `kibanaSavedObjectMeta.searchSourceJSON` of an object. */
export function searchSourceOf(object: KibanaObject, patterns: IndexPatterns): SearchSource {
  const { attributes, references } = object;
  const source = jsonIn(jsonIn(attributes, "kibanaSavedObjectMeta"), "searchSourceJSON");
  const leftOut: string[] = [];
  const byName = (name: unknown): string | undefined => references.find((each) => each.name === name)?.id;
  const id = source["index"] ?? byName(source["indexRefName"]);
  const index = typeof id === "string" ? (patterns.get(id) ?? id) : undefined;
  const parts = [queryOf(source["query"], leftOut)];
  const filters = Array.isArray(source["filter"]) ? source["filter"].filter(isObject) : [];
  for (const filter of filters) parts.push(filterOf(filter, leftOut));
  const savedSearch = attributes["savedSearchId"] ?? byName(attributes["savedSearchRefName"]);
  return {
    index,
    query: joined(parts),
    savedSearch: typeof savedSearch === "string" ? savedSearch : undefined,
    leftOut,
  };
}

/** Joins queries that must all match. */
export function joined(queries: readonly string[]): string {
  const parts = [...new Set(queries.filter((each) => each !== "" && each !== "*"))];
  if (parts.length < 2) return parts[0] ?? "";
  return parts.map((part) => (/\s(?:OR|AND)\s/.test(part) ? `(${part})` : part)).join(" AND ");
}

/** Returns a query in the hub's syntax. */
export function queryOf(given: unknown, leftOut: string[]): string {
  if (typeof given === "string") return given;
  if (!isObject(given)) return "";
  const { query, language } = given;
  if (isObject(query)) {
    // Kibana before 6 stored the query's body.
    const inner = query["query_string"];
    if (isObject(inner) && typeof inner["query"] === "string") return inner["query"];
    if (query["match_all"] === undefined) leftOut.push("a query written as JSON");
    return "";
  }
  if (typeof query !== "string") return "";
  return language === "kuery" ? ofKuery(query, leftOut) : query.trim();
}

/** KQL differs in its words, its comparisons and nested fields. */
function ofKuery(text: string, leftOut: string[]): string {
  if (/[{}]/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ""))) {
    leftOut.push(`the query ${text}: nested fields`);
    return "";
  }
  return text
    .split(/("(?:[^"\\]|\\.)*")/)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .replace(/\b(and|or|not)\b/gi, (word) => word.toUpperCase())
            .replace(/\s*(>=|<=|>|<)\s*/g, ":$1")
            .replace(/\s*:\s*(?=\S)/g, ":"),
    )
    .join("")
    .trim();
}

/** Returns a filter as a query; "" if it is disabled or can't be converted. */
function filterOf(filter: JsonObject, leftOut: string[]): string {
  const meta = isObject(filter["meta"]) ? filter["meta"] : {};
  if (meta["disabled"] === true) return "";
  const text = plainFilter(filter, meta);
  if (text === undefined) {
    leftOut.push(`the filter ${textOf(meta["alias"], meta["key"], meta["type"]) ?? "written as JSON"}`);
    return "";
  }
  return meta["negate"] === true ? `NOT ${text}` : text;
}

function plainFilter(filter: JsonObject, { key, params, type }: JsonObject): string | undefined {
  if (typeof key !== "string") return undefined;
  const range = isObject(filter["range"]) ? filter["range"][key] : undefined;
  if (isObject(range)) return rangeText(key, range);
  if (filter["exists"] !== undefined || type === "exists") return `_exists_:${key}`;
  if (type === "phrases" && Array.isArray(params)) return `${key}:(${params.map(quoted).join(" OR ")})`;
  const value = phraseOf(filter, key) ?? (isObject(params) ? params["query"] : undefined);
  return value === undefined ? undefined : `${key}:${quoted(value)}`;
}

/** The value of `match_phrase: {field: value}`, or of `match: {field: {query: value, type: "phrase"}}`. */
function phraseOf(filter: JsonObject, key: string): unknown {
  const body = isObject(filter["query"]) ? filter["query"] : filter;
  for (const name of ["match_phrase", "match", "term"]) {
    const clause = isObject(body[name]) ? body[name][key] : undefined;
    if (clause !== undefined) return isObject(clause) ? (clause["query"] ?? clause["value"]) : clause;
  }
  return undefined;
}

function rangeText(key: string, { gte, gt, lte, lt }: JsonObject): string {
  const [low, high] = [gte ?? gt ?? "*", lte ?? lt ?? "*"];
  return `${key}:${gt === undefined ? "[" : "{"}${plain(low)} TO ${plain(high)}${lt === undefined ? "]" : "}"}`;
}

function plain(value: unknown): string {
  return typeof value === "string" && /[\s:]/.test(value) ? quoted(value) : String(value);
}

function quoted(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return `"${String(value).replace(/["\\]/g, "\\$&")}"`;
}
