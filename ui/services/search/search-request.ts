/** Bodies of Discover's searches. */

import {
  type DiscoverState,
  type FieldFilter,
  filterGroups,
  NEWEST_FIRST,
  type Sort,
} from "./discover-state.ts";
import type { FieldCatalogue } from "./fields.ts";
import type { Interval } from "./interval.ts";
import type { ResolvedRange } from "./time-range.ts";

export const TIME_FIELD = "@timestamp";
/** Orders the lines of a file that share a time. */
export const OFFSET_FIELD = "log.offset";
/** Rows per request. */
export const PAGE_ROWS = 100;
/** Maximum of rows in one request (index.max_result_window). */
export const MAX_PAGE_ROWS = 10_000;
const TOP_VALUES = 10;
/** Levels a histogram is split by at most. */
const MAX_LEVELS = 20;

type Body = Readonly<Record<string, unknown>>;
type Query = Pick<DiscoverState, "query" | "filters">;

/** Returns the query of a state in a time range; without one in all times. */
export function buildQuery({ query, filters }: Query, range: ResolvedRange | undefined): Body {
  const must: Body[] = [];
  const text = query.trim();
  if (text !== "" && text !== "*")
    // A value that a named field cannot have is an error to show, not a search without lines.
    must.push({
      query_string: { query: text, type: "cross_fields", default_operator: "AND", lenient: false },
    });
  const groups = filterGroups(filters);
  const single = groups.flatMap((group) => (group.length === 1 ? group : []));
  const filter = single.filter(({ exclude }) => !exclude).map(filterClause);
  const mustNot = single.filter(({ exclude }) => exclude).map(filterClause);
  for (const group of groups)
    if (group.length > 1) filter.push({ bool: { should: group.map(eitherClause), minimum_should_match: 1 } });
  if (range !== undefined)
    filter.push({ range: { [TIME_FIELD]: { gte: range.fromMs, lt: range.toMs, format: "epoch_millis" } } });
  return { bool: { must, filter, must_not: mustNot } };
}

/** Where a page of rows continues. */
export interface PageStart {
  /** The last row's values of what is sorted by, time and offset last. */
  readonly after: readonly unknown[];
  /** Rows that are there with exactly these values. */
  readonly rowsAtLast: number;
}

/** What rows are searched by. */
export type RowsQuery = Query & { readonly sort?: Sort };

/**
 * Returns the search for rows. The page after another begins at its last time and offset once more, as lines of several
 * files can share both; its reader leaves out what is there.
 */
export function rowsRequest(state: RowsQuery, range: ResolvedRange, start?: PageStart): Body {
  const sort = state.sort ?? NEWEST_FIRST;
  const body = { size: PAGE_ROWS, query: buildQuery(state, range), sort: sortClauses(sort) };
  if (start === undefined) return body;
  const size = Math.min(MAX_PAGE_ROWS, PAGE_ROWS + start.rowsAtLast);
  const step = sort.field === TIME_FIELD && !sort.isDescending ? -1 : 1;
  const offset = Number(start.after.at(-1));
  // Lines without an offset come after all others of their time.
  const from = Number.isSafeInteger(offset) ? offset + step : -step * Number.MAX_SAFE_INTEGER;
  return { ...body, size, search_after: [...start.after.slice(0, -1), from] };
}

function sortClauses({ field, isDescending }: Sort): Body[] {
  if (field === TIME_FIELD) return timeOrder(isDescending ? "desc" : "asc");
  const order = isDescending ? "desc" : "asc";
  return [{ [field]: { order, unmapped_type: "keyword" } }, ...timeOrder("desc")];
}

/** Returns the order by time in which lines of one file have the order in which they were written, or its reverse. */
export function timeOrder(order: "asc" | "desc"): Body[] {
  return [
    { [TIME_FIELD]: { order, unmapped_type: "date" } },
    { [OFFSET_FIELD]: { order, unmapped_type: "long" } },
  ];
}

/** Returns the search for the histogram, split by level where there is a field for it. */
export function histogramRequest(
  state: Query,
  range: ResolvedRange,
  interval: Interval,
  levelField: string | undefined,
  timeZone: string,
): Body {
  const histogram = {
    field: TIME_FIELD,
    interval: interval.text,
    min_doc_count: 0,
    extended_bounds: { min: range.fromMs, max: range.toMs - 1 },
    time_zone: timeZone,
  };
  const split =
    levelField === undefined ? {} : { aggs: { levels: { terms: { field: levelField, size: MAX_LEVELS } } } };
  return {
    size: 0,
    query: buildQuery(state, range),
    aggs: { times: { date_histogram: histogram, ...split } },
  };
}

/** Returns the search for a field's most frequent values. */
export function topValuesRequest(state: Query, range: ResolvedRange, field: string): Body {
  return {
    size: 0,
    query: buildQuery(state, range),
    aggs: { values: { terms: { field, size: TOP_VALUES } }, existing: { filter: { exists: { field } } } },
  };
}

/** Returns the search for the newest time of all matching documents, whenever. */
export function newestRequest(state: Query): Body {
  return { size: 0, query: buildQuery(state, undefined), aggs: { newest: { max: { field: TIME_FIELD } } } };
}

/** Returns the field a level is counted by: the first that is there and can be. */
export function levelFieldOf(fields: FieldCatalogue | undefined): string | undefined {
  for (const name of ["log.level", "level", "severity", "loglevel"]) {
    const field = fields?.get(name);
    if (field?.aggregatableName !== undefined) return field.aggregatableName;
  }
  return undefined;
}

/** One of a group, which may be to leave something out. */
function eitherClause(filter: FieldFilter): Body {
  const clause = filterClause(filter);
  return filter.exclude ? { bool: { must_not: [clause] } } : clause;
}

function filterClause({ field, value }: FieldFilter): Body {
  if (value === undefined) return { exists: { field } };
  return { match_phrase: { [field]: value } };
}

/** Returns an index expression for a path; commas and stars stay readable. */
export function encodeIndex(index: string): string {
  return encodeURIComponent(index.trim() || "*")
    .replaceAll("%2C", ",")
    .replaceAll("%2A", "*");
}

/** Returns the path of a search; no index at all isn't an error but an empty answer. */
export function searchPath(index: string): string {
  return `/${encodeIndex(index)}/_search?ignore_unavailable=true&allow_no_indices=true`;
}

/** Returns the path of the fields of an index expression. */
export function fieldsPath(index: string): string {
  return `/${encodeIndex(index)}/_field_caps?fields=*&ignore_unavailable=true&allow_no_indices=true`;
}
