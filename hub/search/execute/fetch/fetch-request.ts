/** Options that choose the parts of each hit in an answer, `inner_hits` of nested queries among them. */

import type { Script } from "#hub/scripts/script.ts";
import { type HighlightRequest, parseHighlight } from "#hub/search/highlight/highlight-request.ts";
import { describe, objectOf } from "#hub/search/options/json.ts";
import { anything, flag, integer, object, readOptions, text } from "#hub/search/options/options.ts";
import type { NestedPart, QueryLevel, QueryParser } from "#hub/search/parse/query-parser.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { Query } from "#hub/search/query/query.ts";
import { readFieldScript } from "#hub/search/scripting/document-script.ts";
import { parseSort, type SortKey } from "#hub/search/sort/sort-request.ts";
import { ALL_SOURCE, parseSourceFilter, type SourceFilter } from "#hub/search/source/source-filter.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** index.max_inner_result_window. */
const MAX_INNER_HITS = 100;

/** Options of `inner_hits` of a nested query. */
const INNER_HITS_OPTIONS = {
  name: text("name in the answer; the path without it", undefined),
  ignore_unmapped: flag("whether an unknown path has no objects", false),
  from: integer("objects to skip", 0),
  size: integer("objects of each hit", 3),
  sort: anything("order; by score without it"),
  track_scores: flag("whether objects sorted by fields have scores", false),
  _source: anything("which parts of the objects are returned"),
  stored_fields: anything("_none_, or fields"),
  docvalue_fields: anything("fields whose values are returned from columns"),
  fields: anything("fields whose values are returned"),
  script_fields: object("fields that scripts make of an object, by name"),
  highlight: object("which fields are returned with marks"),
  version: flag("whether objects have the versions of their documents", false),
  seq_no_primary_term: flag("whether objects have the sequence numbers of their documents", false),
  explain: flag("whether objects explain their scores", false),
} as const;

export interface FetchOptions {
  /** False: the documents themselves aren't returned. */
  readonly source: SourceFilter | false;
  /** True: neither ids nor documents are returned. */
  readonly bare: boolean;
  readonly columns: readonly FieldRequest[];
  /** Fields read from documents (option `fields`). */
  readonly fields: readonly FieldRequest[];
  /** Fields of the request itself: no document has their values. */
  readonly runtime?: ReadonlySet<string>;
  /** Fields that the mapping may mark as stored; patterns. */
  readonly stored: readonly string[];
  /** Scripts that make a field of a hit, by its name. */
  readonly scripts: readonly ScriptField[];
  readonly highlight: HighlightRequest | undefined;
  readonly version: boolean;
  readonly sequence: boolean;
  /** Whether each hit explains its score. */
  readonly explain: boolean;
  /** Named queries: the hit lists those that match it. */
  readonly named: ReadonlyMap<string, Query>;
  /** Nested objects that are returned with a hit. */
  readonly innerHits?: readonly InnerHits[];
}

/** What is returned of the objects that match a nested query. */
export interface InnerHits {
  /** Unique among the inner hits of its level. */
  readonly name: string;
  readonly path: string;
  /** Runs among the objects. */
  readonly query: Query;
  readonly from: number;
  readonly size: number;
  /** Empty: by score. */
  readonly sort: readonly SortKey[];
  readonly trackScores: boolean;
  readonly ignoreUnmapped: boolean;
  readonly fetch: FetchOptions;
}

/** A field of which values are returned. */
export interface FieldRequest {
  /** May hold `*`. */
  readonly field: string;
  /** Format of dates and numbers. */
  readonly format: string | undefined;
}

/** A field that a script makes. */
export interface ScriptField {
  readonly name: string;
  readonly script: Script;
  /** True: a hit for which the script fails has no such field. */
  readonly ignoresFailure: boolean;
}

/** Columns of a hit by default. */
export const MAX_FIELDS = 100;

interface FetchBody {
  readonly _source: unknown;
  readonly stored_fields: unknown;
  readonly docvalue_fields: unknown;
  readonly fields: unknown;
  readonly script_fields?: JsonObject | undefined;
  readonly highlight: JsonObject | undefined;
  readonly version: boolean | undefined;
  readonly seq_no_primary_term: boolean | undefined;
  readonly explain?: boolean | undefined;
}

/** `maxColumns`: maximum number of requested columns. Throws parsing or request_invalid. */
export function parseFetch(
  body: FetchBody,
  queries: QueryParser,
  maxColumns = MAX_FIELDS,
  { named }: Pick<QueryLevel, "named"> = queries,
): FetchOptions {
  const stored = storedFields(body.stored_fields);
  // If stored fields or scripts are named, the document is left out unless it is also requested.
  const scripts = scriptFields(body.script_fields ?? {});
  const isImplied = stored === undefined ? scripts.length === 0 : stored.includes("_source");
  const implied = isImplied ? ALL_SOURCE : false;
  return {
    source: body._source === undefined ? implied : parseSourceFilter(body._source),
    bare: stored?.length === 1 && stored[0] === "_none_",
    columns: fieldRequests(body.docvalue_fields, "docvalue_fields", maxColumns),
    fields: fieldRequests(body.fields, "fields", MAX_FIELDS),
    stored: (stored ?? []).filter((name) => !name.startsWith("_")),
    scripts,
    highlight: body.highlight === undefined ? undefined : parseHighlight(body.highlight, queries),
    version: body.version ?? false,
    sequence: body.seq_no_primary_term ?? false,
    explain: body.explain ?? false,
    named,
  };
}

/** Returns the options if `names` are fields of the request itself: `fields` reads those from columns. */
export function withRuntimeFields(options: FetchOptions, names: readonly string[]): FetchOptions {
  if (names.length === 0) return options;
  const columns = options.fields.flatMap(({ field, format }) => {
    const pattern = compileWildcard(field);
    return names.filter((name) => pattern.matches(name)).map((name) => ({ field: name, format }));
  });
  return { ...options, columns: [...options.columns, ...columns], runtime: new Set(names) };
}

function storedFields(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.split(",");
  if (Array.isArray(value)) return value.map(String);
  throw new AppError("parsing", `[stored_fields] must be a list of names, but is ${describe(value)}`);
}

function scriptFields(fields: JsonObject): ScriptField[] {
  return Object.entries(fields).map(([name, given]) => {
    const { script, ignore_failure: ignores = false, ...others } = objectOf(given, `script_fields] [${name}`);
    const [unknown] = Object.keys(others);
    if (unknown !== undefined || script === undefined)
      throw new AppError(
        "parsing",
        `[script_fields] [${name}] must have [script], and maybe [ignore_failure]`,
      );
    return { name, script: readFieldScript(script), ignoresFailure: ignores === true };
  });
}

function fieldRequests(value: unknown, name: string, limit: number): FieldRequest[] {
  if (value === undefined || value === null) return [];
  const requests = (Array.isArray(value) ? value : [value]).map((each: unknown): FieldRequest => {
    if (typeof each === "string") return { field: each, format: undefined };
    if (isObject(each) && typeof each["field"] === "string") {
      const { format } = each;
      return {
        field: each["field"],
        format: typeof format === "string" && format !== "use_field_mapping" ? format : undefined,
      };
    }
    throw new AppError(
      "parsing",
      `[${name}] must be a list of names or objects with [field], but holds ${describe(each)}`,
    );
  });
  if (requests.length > limit) {
    throw new AppError(
      "request_invalid",
      `Trying to retrieve too many docvalue_fields. Must be less than or equal to: [${limit}] but was [${requests.length}]. This limit can be set by changing the [index.max_docvalue_fields_search] index level setting.`,
    );
  }
  return requests;
}

/** Parses the `inner_hits` of the nested queries of one level. Throws parsing, request_invalid. */
export function parseInnerHits(parts: readonly NestedPart[], queries: QueryParser): InnerHits[] {
  const found: InnerHits[] = [];
  for (const part of parts) {
    const below = parseInnerHits(part.nested, queries);
    if (part.innerHits === undefined) continue;
    const read = parseInner(part, part.innerHits, queries);
    if (found.some(({ name }) => name === read.name)) {
      throw new AppError("request_invalid", `[inner_hits] already contains an entry for key [${read.name}]`);
    }
    found.push({ ...read, fetch: { ...read.fetch, innerHits: below } });
  }
  return found;
}

function parseInner(part: NestedPart, given: JsonObject, queries: QueryParser): InnerHits {
  const options = readOptions("inner_hits", given, INNER_HITS_OPTIONS, "option");
  const [from, size] = [options.from ?? 0, options.size ?? 3];
  const name = options.name ?? part.path;
  if (from + size > MAX_INNER_HITS) {
    throw new AppError(
      "request_invalid",
      `Inner result window is too large, the inner hit definition's [${name}]'s from + size must be less than or equal to: [${MAX_INNER_HITS}] but was [${from + size}]. This limit can be set by changing the [index.max_inner_result_window] index level setting.`,
    );
  }
  return {
    name,
    path: part.path,
    query: part.query,
    from,
    size,
    sort: parseSort(options.sort, queries.nestedFilter),
    trackScores: options.track_scores ?? false,
    ignoreUnmapped: options.ignore_unmapped ?? false,
    fetch: parseFetch(options, queries, MAX_FIELDS, part),
  };
}
