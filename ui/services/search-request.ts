/** Bodies of the searches Discover makes. */

import { type DiscoverState, type FieldFilter, NEWEST_FIRST, type Sort } from "./discover-state.ts";
import type { FieldCatalogue } from "./fields.ts";
import type { Interval } from "./interval.ts";
import type { ResolvedRange } from "./time-range.ts";

export const TIME_FIELD = "@timestamp";
/** Rows asked for at once. */
export const PAGE_ROWS = 100;
/** More can't be asked for at once (index.max_result_window). */
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
    must.push({ query_string: { query: text, default_operator: "AND", lenient: true } });
  const filter = filters.filter((one) => !one.disabled && !one.exclude).map(filterClause);
  const mustNot = filters.filter((one) => !one.disabled && one.exclude).map(filterClause);
  if (range !== undefined)
    filter.push({ range: { [TIME_FIELD]: { gte: range.fromMs, lt: range.toMs, format: "epoch_millis" } } });
  return { bool: { must, filter, must_not: mustNot } };
}

/** Where a page of rows goes on. */
export interface PageStart {
  /** The last row's values of what is sorted by, the time last. */
  readonly after: readonly unknown[];
  /** Rows that are there with exactly these values. */
  readonly rowsAtLast: number;
}

/** What rows are searched by. */
export type RowsQuery = Query & { readonly sort?: Sort };

/**
 * Returns the search for rows. The page behind another begins at its last time once more, as many lines can share a
 * millisecond; its reader leaves out what is there.
 */
export function rowsRequest(state: RowsQuery, range: ResolvedRange, start?: PageStart): Body {
  const sort = state.sort ?? NEWEST_FIRST;
  const body = { size: PAGE_ROWS, query: buildQuery(state, range), sort: sortClauses(sort) };
  if (start === undefined) return body;
  const size = Math.min(MAX_PAGE_ROWS, PAGE_ROWS + start.rowsAtLast);
  const isOldestFirst = sort.field === TIME_FIELD && !sort.isDescending;
  const lastMs = Number(start.after.at(-1));
  return { ...body, size, search_after: [...start.after.slice(0, -1), lastMs + (isOldestFirst ? -1 : 1)] };
}

function sortClauses({ field, isDescending }: Sort): Body[] {
  const order = isDescending ? "desc" : "asc";
  if (field === TIME_FIELD) return [{ [TIME_FIELD]: { order, unmapped_type: "date" } }];
  return [
    { [field]: { order, unmapped_type: "keyword" } },
    { [TIME_FIELD]: { order: "desc", unmapped_type: "date" } },
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

function filterClause({ field, value }: FieldFilter): Body {
  if (value === undefined) return { exists: { field } };
  return { match_phrase: { [field]: value } };
}
