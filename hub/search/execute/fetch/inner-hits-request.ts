/** The option `inner_hits` of nested queries. */

import { anything, flag, integer, object, readOptions, text } from "#hub/search/options/options.ts";
import type { NestedPart, QueryParser } from "#hub/search/parse/query-parser.ts";
import { parseSort } from "#hub/search/sort/sort-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type InnerHits, MAX_FIELDS, parseFetch } from "./fetch-request.ts";

/** index.max_inner_result_window. */
const MAX_INNER_HITS = 100;

/** Options of `inner_hits` of a nested query. */
export const INNER_HITS_OPTIONS = {
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

/** Reads what nested queries of one level ask for of their objects. Throws parsing, request_invalid. */
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
