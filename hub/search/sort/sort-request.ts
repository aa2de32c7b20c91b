/** The option `sort` of a request. */

import type { Script } from "#hub/scripts/script.ts";
import { type GeoPoint, parsePoints, unitMetres } from "#hub/search/geo/point.ts";
import { objectOf } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  integer,
  object,
  oneOf,
  readOptions,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import type { Query } from "#hub/search/query/query.ts";
import { readScoreScript } from "#hub/search/scripting/document-script.ts";
import { type RuntimeField, sortField } from "#hub/search/scripting/runtime-fields.ts";
import { isQuick } from "#hub/search/scripting/script-costs.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

export type SortMode = "min" | "max" | "avg" | "sum" | "median";

/** Types as which numbers can be compared. */
export const NUMERIC_TYPES = ["long", "double", "date", "date_nanos"] as const;
export type NumericType = (typeof NUMERIC_TYPES)[number];

/** One key of the order; the first counts most. */
export type SortKey = { readonly descending: boolean } & (
  | { readonly kind: "score" }
  | { readonly kind: "doc" }
  | { readonly kind: "shard_doc" }
  | {
      readonly kind: "field";
      readonly field: string;
      /** "_first", "_last" or the value of documents without one; null (of nested objects): they have an infinite key. */
      readonly missing: unknown;
      readonly mode: SortMode | undefined;
      /** Type assumed for the field if it isn't mapped. */
      readonly unmappedType: string | undefined;
      /** Type as which values are compared, so that fields of several types have one order. */
      readonly numericType: NumericType | undefined;
      /** Format in which times are shown and read; numbers of milliseconds or nanoseconds without it. */
      readonly format: string | undefined;
      readonly nested: NestedSort | undefined;
    }
  | {
      readonly kind: "distance";
      readonly field: string;
      readonly points: readonly GeoPoint[];
      readonly metres: number;
      readonly mode: SortMode | undefined;
      readonly ignoreUnmapped: boolean;
      readonly nested: NestedSort | undefined;
    }
  | { readonly kind: "script"; readonly script: Script }
);

/** The nested objects that a key is read from. */
export interface NestedSort {
  readonly path: string;
  /** Runs among the objects; undefined: all count. */
  readonly filter: Query | undefined;
  /** Objects of a document that count, the first ones. */
  readonly maxChildren: number;
}

/** Parses the filter of nested objects, undefined for none, and records that the path is read. */
export type ReadNestedFilter = (path: string, filter: unknown) => Query | undefined;

/** Key of documents over all shards of a point in time, by which no two are equal. */
export const SHARD_DOC = "_shard_doc";

/** Keys of one request. */
const MAX_KEYS = 32;

/** Options of a sort key. */
export const SORT_OPTIONS = {
  order: oneOf("direction", ["asc", "desc"], undefined),
  missing: anything("_first, _last or a value"),
  mode: oneOf("which of several values counts", ["min", "max", "avg", "sum", "median"], undefined),
  unmapped_type: text("type of the field if it isn't mapped", undefined),
  nested: object("nested objects whose values count"),
  nested_path: text("path of nested objects; nested is the newer form", undefined),
  nested_filter: anything("which nested objects count; nested is the newer form"),
  numeric_type: oneOf("type as which values are compared", NUMERIC_TYPES, undefined),
  format: text("format of sort values that are times", undefined),
} as const;

/** Options of `_geo_distance`. */
export const DISTANCE_SORT_OPTIONS = {
  order: oneOf("direction", ["asc", "desc"], undefined),
  unit: text("unit of the distance: m, km, mi …", "m"),
  mode: oneOf("which of several distances counts", ["min", "max", "avg", "median"], undefined),
  distance_type: withoutEffect(oneOf("distances are those along the great circle", ["arc", "plane"], "arc")),
  ignore_unmapped: flag("whether an unmapped field counts as missing", false),
  nested: object("nested objects whose values count"),
  nested_path: text("path of nested objects; nested is the newer form", undefined),
  nested_filter: anything("which nested objects count; nested is the newer form"),
  validation_method: withoutEffect(
    oneOf("points out of bounds are refused", ["STRICT", "COERCE", "IGNORE_MALFORMED"], "STRICT"),
  ),
} as const;

/** Options of `_script`. */
export const SCRIPT_SORT_OPTIONS = {
  script: required(anything("Painless with params, doc and _score; a number or a text")),
  type: required(oneOf("what the script returns", ["number", "string"], undefined)),
  order: oneOf("direction", ["asc", "desc"], undefined),
} as const;

/** By score, the best first. */
export const BY_SCORE: readonly SortKey[] = [{ kind: "score", descending: true }];

/** Returns true if an order is by score, the best first: hits show their score and no sort values. */
export function isByScore(sort: readonly SortKey[]): boolean {
  return sort.length === 0 || (sort.length === 1 && sort[0]!.kind === "score" && sort[0]!.descending);
}

/** Returns true if an order needs the scores of documents. */
export function needsScores(sort: readonly SortKey[]): boolean {
  return sort.some(
    (key) => key.kind === "score" || (key.kind === "script" && key.script.compiled.source.includes("_score")),
  );
}

/** What the keys of a sort may need besides themselves. */
interface SortContext {
  readonly readFilter: ReadNestedFilter;
  /** Gets the fields that scripts make for the search; absent if there are none. */
  readonly fields?: RuntimeField[] | undefined;
}

/**
 * Parses `sort`; an empty list means by score. `fields` gets those that the search has to define for it; without it
 * such scripts are refused. Throws parsing, request_invalid, not_offered, script_failed.
 */
export function parseSort(json: unknown, readFilter: ReadNestedFilter, fields?: RuntimeField[]): SortKey[] {
  if (json === undefined || json === null) return [];
  const context = { readFilter, fields };
  const keys = (Array.isArray(json) ? json : [json]).flatMap((each: unknown) => parseEntry(each, context));
  if (keys.length > MAX_KEYS)
    throw new AppError("request_invalid", `[sort] may have at most ${MAX_KEYS} keys`);
  return keys;
}

function parseEntry(json: unknown, context: SortContext): SortKey[] {
  const { readFilter } = context;
  if (typeof json === "string") return [namedKey(json, undefined, readFilter)];
  if (!isObject(json))
    throw new AppError(
      "request_invalid",
      "malformed sort format, within the sort array, an object, or an actual string are allowed",
    );
  return Object.entries(json).map(([name, options]) => {
    if (name === "_geo_distance" || name === "_geoDistance")
      return distanceKey(objectOf(options, "_geo_distance"), readFilter);
    if (name === "_script") return scriptKey(objectOf(options, "_script"), context);
    return namedKey(name, options, readFilter);
  });
}

/**
 * Documents are sorted by the thousand, so that only scripts that are quick run meanwhile; texts, and numbers of other
 * scripts, are computed before as a field. Throws not_offered if there are no such fields.
 */
function scriptKey(json: JsonObject, { fields }: SortContext): SortKey {
  const options = readOptions("_script", json, SCRIPT_SORT_OPTIONS, "option");
  const descending = options.order === "desc";
  if (options.type === "number") {
    const script = readScoreScript(options.script);
    if (isQuick(script)) return { kind: "script", script, descending };
  }
  if (fields === undefined)
    throw new AppError(
      "not_offered",
      "[_script] that returns a text, or has loops, functions or collections, isn't offered within hits; sort the search by it",
    );
  const field = sortField(options.script, options.type === "string" ? "string" : "number", fields.length);
  fields.push(field);
  return {
    kind: "field",
    field: field.name,
    descending,
    missing: "_last",
    mode: undefined,
    unmappedType: undefined,
    numericType: undefined,
    format: undefined,
    nested: undefined,
  };
}

function namedKey(name: string, given: unknown, readFilter: ReadNestedFilter): SortKey {
  const json: JsonObject = typeof given === "string" ? { order: given } : isObject(given) ? given : {};
  const options = readOptions("sort", json, SORT_OPTIONS, "option");
  if (name === "_score") return { kind: "score", descending: options.order !== "asc" };
  const descending = options.order === "desc";
  if (name === "_doc") return { kind: "doc", descending };
  if (name === SHARD_DOC) return { kind: "shard_doc", descending };
  return {
    kind: "field",
    field: name,
    descending,
    missing: options.missing ?? "_last",
    mode: options.mode,
    unmappedType: options.unmapped_type,
    numericType: options.numeric_type,
    format: options.format,
    nested: nestedSort(options, readFilter),
  };
}

/** Options of `nested`. */
const NESTED_SORT = {
  path: required(text("path of the objects", undefined)),
  filter: anything("which of the objects count"),
  max_children: integer("objects of a document that count", Number.MAX_SAFE_INTEGER, 1),
  nested: object("objects below these"),
} as const;

/** Reads `nested`, or `nested_path` and `nested_filter` of versions before it. */
function nestedSort(
  given: { nested: JsonObject | undefined; nested_path: string | undefined; nested_filter: unknown },
  readFilter: ReadNestedFilter,
): NestedSort | undefined {
  const { nested_path: path, nested_filter: filter } = given;
  if (given.nested !== undefined && path !== undefined)
    throw new AppError("request_invalid", "Cannot specify both nested_path and nested in sort");
  const json = given.nested ?? (path === undefined ? undefined : { path, filter });
  if (json === undefined) return undefined;
  const options = readOptions("nested", json, NESTED_SORT, "option");
  if (options.nested !== undefined) {
    if (options.filter === undefined) return nestedSort({ ...given, nested: options.nested }, readFilter);
    throw new AppError(
      "not_offered",
      "[nested] below a [nested] with a filter isn't offered: write the filter into the inner one",
    );
  }
  return {
    path: options.path,
    filter: readFilter(options.path, options.filter),
    maxChildren: options.max_children ?? Number.MAX_SAFE_INTEGER,
  };
}

function distanceKey(json: JsonObject, readFilter: ReadNestedFilter): SortKey {
  const known: JsonObject = {};
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(json)) {
    if (Object.hasOwn(DISTANCE_SORT_OPTIONS, name)) known[name] = value;
    else fields.push([name, value]);
  }
  const [field, second] = fields;
  if (field === undefined) throw new AppError("parsing", "[_geo_distance] needs a field with its points");
  if (second !== undefined) {
    throw new AppError(
      "parsing",
      `Trying to reset fieldName to [${second[0]}], already set to [${field[0]}].`,
    );
  }
  const options = readOptions("_geo_distance", known, DISTANCE_SORT_OPTIONS, "option");
  return {
    kind: "distance",
    field: field[0],
    points: parsePoints(field[1], field[0]),
    metres: unitMetres(options.unit ?? "m"),
    descending: options.order === "desc",
    mode: options.mode,
    ignoreUnmapped: options.ignore_unmapped ?? false,
    nested: nestedSort(options, readFilter),
  };
}
