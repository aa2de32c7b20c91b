/** Of which kinds of values each aggregation takes fields, as nodes of 7.10 list them. */

import type { JsonObject } from "#proto/kit/json.ts";
import { AGGREGATION_TYPES } from "./all.ts";

const NUMBERS = ["boolean", "date", "numeric"];
const POINTS = ["geopoint"];
const TERMS = ["boolean", "bytes", "date", "ip", "numeric"];
const ANY = ["boolean", "bytes", "date", "geopoint", "ip", "numeric"];

const KINDS: Readonly<Record<string, readonly string[]>> = {
  auto_date_histogram: NUMBERS,
  avg: NUMBERS,
  cardinality: ANY,
  date_histogram: NUMBERS,
  date_range: NUMBERS,
  diversified_sampler: ["boolean", "bytes", "date", "numeric"],
  extended_stats: NUMBERS,
  geo_bounds: POINTS,
  geo_centroid: POINTS,
  geo_distance: POINTS,
  geohash_grid: POINTS,
  geotile_grid: POINTS,
  histogram: NUMBERS,
  ip_range: ["ip"],
  max: NUMBERS,
  median_absolute_deviation: ["numeric"],
  min: NUMBERS,
  missing: ANY,
  percentile_ranks: NUMBERS,
  percentiles: NUMBERS,
  range: NUMBERS,
  rare_terms: TERMS,
  significant_terms: TERMS,
  stats: NUMBERS,
  sum: NUMBERS,
  terms: TERMS,
  value_count: ANY,
  weighted_avg: ["numeric"],
};

/** Returns `{<aggregation>: {types: […]}}`; "other" for those that take documents or several fields. */
export function aggregationKinds(): JsonObject {
  return Object.fromEntries(AGGREGATION_TYPES.map(({ name }) => [name, { types: KINDS[name] ?? ["other"] }]));
}
