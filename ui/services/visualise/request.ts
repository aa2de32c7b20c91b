/** The search of a visualisation. */

import type { Interval } from "#ui/services/search/interval.ts";
import { buildQuery, TIME_FIELD } from "#ui/services/search/search-request.ts";
import type { ResolvedRange } from "#ui/services/search/time-range.ts";
import type { Measure } from "./formula.ts";
import { WORLD } from "./map-view.ts";
import { rangesOf } from "./number-ranges.ts";
import { placesRequest } from "./places.ts";
import { runtimeMappings } from "./scripted-fields.ts";
import { isAdditive, MAX_GROUPS, type Metric, type Split, type Visualisation } from "./visualisation.ts";

type Body = Readonly<Record<string, unknown>>;

const PERCENTS: Readonly<Record<string, number>> = { p50: 50, p95: 95, p99: 99 };
const AGGREGATIONS: Readonly<Record<string, string>> = {
  avg: "avg",
  sum: "sum",
  min: "min",
  max: "max",
  unique: "cardinality",
};

export interface Surroundings {
  readonly range: ResolvedRange;
  readonly interval: Interval;
  readonly timeZone: string;
  /** A further query that must match: a dashboard's. */
  readonly filter: string;
  /** The range is this long before the one that is shown, ms; steps of time must begin as long before theirs. */
  readonly offsetMs?: number;
}

/**
 * Returns the body. Groups are `by`, splits `split`, the metric `metric`. Times and steps are within the splits, so that
 * the most frequent values of the whole range are taken; values of a field are outside, so that each has its splits.
 * Lines without the field are `by_missing` and `split_missing`. Where a metric adds up, groups are asked for beside the
 * splits too: what the splits leave of them are the further values. A formula gives what it measures itself.
 */
export function visualisationRequest(shown: Visualisation, around: Surroundings, measures?: Body): Body {
  const { metric, by, split } = shown;
  const joined = joinedQuery(shown, around.filter);
  const measured = measures === undefined ? metricAggregation(metric) : orNothing(measures);
  const computed = runtimeMappings(shown.scripts);
  const hits = {
    size: 0,
    query: buildQuery({ query: joined, filters: [] }, around.range),
    ...(computed && { runtime_mappings: computed }),
  };
  if (by.kind === "places")
    return { ...hits, aggs: placesRequest(by.field, shown.view ?? WORLD, shown.ring, measured) };
  const splitting = split === undefined ? undefined : termsOf(widened(split, around), metric);
  const grouping = groupingOf(shown, around);
  const isOutside = by.kind === "terms";
  const outer = isOutside ? { name: "by", body: grouping } : { name: "split", body: splitting };
  const inner = isOutside ? { name: "split", body: splitting } : { name: "by", body: grouping };
  const aggs = nest(outer, nest(inner, measured, measured), measured);
  const hasRest = !isOutside && splitting !== undefined && isAdditive(metric);
  const whole = hasRest ? nest(inner, measured, measured) : undefined;
  return { ...hits, ...(aggs && { aggs: { ...whole, ...aggs } }) };
}

/** A formula of numbers of lines alone needs no metric in a bucket. */
function orNothing(measures: Body): Body | undefined {
  return Object.keys(measures).length === 0 ? undefined : measures;
}

/** Returns the query of a visualisation together with a further one that must match. */
export function joinedQuery({ query }: Visualisation, filter: string): string {
  const text = [query.trim(), filter.trim()].filter((one) => one !== "" && one !== "*");
  return text.length > 1 ? text.map((one) => `(${one})`).join(" AND ") : (text[0] ?? "");
}

interface Level {
  readonly name: string;
  readonly body: Body | undefined;
}

/** Each level measures too: terms are ordered by what is measured of them. */
function nest({ name, body }: Level, inside: Body | undefined, measured: Body | undefined): Body | undefined {
  if (body === undefined) return inside;
  const aggs = { ...measured, ...inside };
  const below = Object.keys(aggs).length > 0 && { aggs };
  const field = (body["terms"] as Split | undefined)?.field;
  const missing = field !== undefined && { [`${name}_missing`]: { missing: { field }, ...below } };
  return { ...measured, [name]: { ...body, ...below }, ...missing };
}

function groupingOf({ by, metric }: Visualisation, around: Surroundings): Body | undefined {
  if (by.kind === "none" || by.kind === "places") return undefined;
  if (by.kind === "terms") return termsOf(widened(by, around), metric);
  if (by.kind === "ranges") return { range: { field: by.field, ranges: rangesOf(by.bounds) } };
  if (by.kind === "filters")
    return {
      filters: {
        filters: by.queries.map((query) => ({
          query_string: { query, type: "cross_fields", default_operator: "AND", lenient: false },
        })),
      },
    };
  if (by.kind === "steps") return { histogram: { field: by.field, interval: by.interval, min_doc_count: 0 } };
  const { range, interval, timeZone, offsetMs = 0 } = around;
  const shiftMs = offsetMs % interval.ms;
  return {
    date_histogram: {
      field: TIME_FIELD,
      interval: interval.text,
      min_doc_count: 0,
      extended_bounds: { min: range.fromMs, max: range.toMs - 1 },
      time_zone: timeZone,
      ...(shiftMs > 0 && { offset: `-${shiftMs}ms` }),
    },
  };
}

/** Other times have other values in front: those that are shown are among more of them. */
function widened<T extends Split>(split: T, { offsetMs = 0 }: Surroundings): T {
  return offsetMs > 0 ? { ...split, size: MAX_GROUPS } : split;
}

function termsOf({ field, size }: Split, metric: Metric): Body {
  return {
    terms: {
      field,
      size,
      ...(metric.kind !== "count" && metric.kind !== "formula" && { order: { [orderKey(metric)]: "desc" } }),
    },
  };
}

function orderKey({ kind }: Metric): string {
  return PERCENTS[kind] === undefined ? "metric" : `metric.${PERCENTS[kind]}`;
}

function metricAggregation({ kind, field }: Metric): Body | undefined {
  if (kind === "formula") return undefined;
  const metric = measureAggregation({ kind, field });
  return metric && { metric };
}

/** Returns the aggregation of a measure; undefined for the number of lines, which each bucket has. */
export function measureAggregation({ kind, field }: Pick<Measure, "kind" | "field">): Body | undefined {
  if (kind === "count") return undefined;
  const percent = PERCENTS[kind];
  return percent === undefined
    ? { [AGGREGATIONS[kind]!]: { field } }
    : { percentiles: { field, percents: [percent] } };
}
