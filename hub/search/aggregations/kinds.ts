/**
 * The kinds of fields that each aggregation takes, which `_nodes` lists. They are apart from the aggregations' own files
 * because the front doesn't load those.
 */

import type { JsonObject } from "#proto/kit/json.ts";

const NUMBERS = ["boolean", "date", "numeric"];
const POINTS = ["geopoint"];
const TERMS = ["boolean", "bytes", "date", "ip", "numeric"];
const ANY = ["boolean", "bytes", "date", "geopoint", "ip", "numeric"];

/** Those that take documents or several fields. */
const OTHER = ["other"];

/** By the names of all aggregations. */
export const KINDS: Readonly<Record<string, readonly string[]>> = {
  adjacency_matrix: OTHER,
  auto_date_histogram: NUMBERS,
  avg: NUMBERS,
  boxplot: ["numeric"],
  cardinality: ANY,
  composite: OTHER,
  date_histogram: NUMBERS,
  date_range: NUMBERS,
  diversified_sampler: ["boolean", "bytes", "date", "numeric"],
  extended_stats: NUMBERS,
  filter: OTHER,
  filters: OTHER,
  geo_bounds: POINTS,
  geo_centroid: POINTS,
  geo_distance: POINTS,
  geohash_grid: POINTS,
  geotile_grid: POINTS,
  global: OTHER,
  histogram: NUMBERS,
  ip_range: ["ip"],
  matrix_stats: OTHER,
  max: NUMBERS,
  median_absolute_deviation: ["numeric"],
  min: NUMBERS,
  missing: ANY,
  multi_terms: OTHER,
  nested: OTHER,
  percentile_ranks: NUMBERS,
  percentiles: NUMBERS,
  range: NUMBERS,
  rare_terms: TERMS,
  rate: ["numeric"],
  reverse_nested: OTHER,
  sampler: OTHER,
  scripted_metric: OTHER,
  significant_terms: TERMS,
  significant_text: OTHER,
  stats: NUMBERS,
  string_stats: ["bytes"],
  sum: NUMBERS,
  terms: TERMS,
  top_hits: OTHER,
  top_metrics: OTHER,
  value_count: ANY,
  weighted_avg: ["numeric"],
};

/** Returns `{<aggregation>: {types: […]}}`. */
export function aggregationKinds(): JsonObject {
  return Object.fromEntries(Object.entries(KINDS).map(([name, types]) => [name, { types }]));
}
