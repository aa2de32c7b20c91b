/** All types of aggregations. To add one, write its file in the folder of its kind, and add a line here and in `kinds.ts`. */

import { composite } from "#hub/search/aggregations/composite/composite.ts";
import { multiTerms } from "#hub/search/aggregations/composite/multi-terms.ts";
import { adjacencyMatrix } from "#hub/search/aggregations/filters/adjacency-matrix.ts";
import { filters } from "#hub/search/aggregations/filters/filters.ts";
import { diversifiedSampler, sampler } from "#hub/search/aggregations/filters/sampler.ts";
import { filter, global, missing } from "#hub/search/aggregations/filters/single-bucket.ts";
import { autoDateHistogram } from "#hub/search/aggregations/histograms/auto-date-histogram.ts";
import { dateHistogram } from "#hub/search/aggregations/histograms/date-histogram.ts";
import { geohashGrid, geotileGrid } from "#hub/search/aggregations/histograms/geo-grid.ts";
import { histogram } from "#hub/search/aggregations/histograms/histogram.ts";
import { boxplot } from "#hub/search/aggregations/metrics/boxplot.ts";
import { cardinality } from "#hub/search/aggregations/metrics/cardinality.ts";
import { extendedStats } from "#hub/search/aggregations/metrics/extended-stats.ts";
import { geoBounds } from "#hub/search/aggregations/metrics/geo-bounds.ts";
import { geoCentroid } from "#hub/search/aggregations/metrics/geo-centroid.ts";
import { matrixStats } from "#hub/search/aggregations/metrics/matrix-stats.ts";
import { medianAbsoluteDeviation } from "#hub/search/aggregations/metrics/median-absolute-deviation.ts";
import { avg, max, min, stats, sum } from "#hub/search/aggregations/metrics/numeric-metric.ts";
import { percentileRanks, percentiles } from "#hub/search/aggregations/metrics/percentiles.ts";
import { rate } from "#hub/search/aggregations/metrics/rate.ts";
import { scriptedMetric } from "#hub/search/aggregations/metrics/scripted-metric.ts";
import { stringStats } from "#hub/search/aggregations/metrics/string-stats.ts";
import { topHits } from "#hub/search/aggregations/metrics/top-hits.ts";
import { topMetrics } from "#hub/search/aggregations/metrics/top-metrics.ts";
import { valueCount } from "#hub/search/aggregations/metrics/value-count.ts";
import { weightedAvg } from "#hub/search/aggregations/metrics/weighted-avg.ts";
import { dateRange } from "#hub/search/aggregations/ranges/date-range.ts";
import { geoDistanceRanges } from "#hub/search/aggregations/ranges/geo-distance.ts";
import { ipRange } from "#hub/search/aggregations/ranges/ip-range.ts";
import { range } from "#hub/search/aggregations/ranges/range.ts";
import { rareTerms } from "#hub/search/aggregations/terms/rare-terms.ts";
import { significantTerms, significantText } from "#hub/search/aggregations/terms/significant-terms.ts";
import { terms } from "#hub/search/aggregations/terms/terms.ts";
import type { AggregationType } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { nested, reverseNested } from "./filters/nested.ts";

export const AGGREGATION_TYPES: readonly AggregationType[] = [
  adjacencyMatrix,
  autoDateHistogram,
  avg,
  boxplot,
  cardinality,
  composite,
  dateHistogram,
  dateRange,
  diversifiedSampler,
  extendedStats,
  filter,
  filters,
  geoBounds,
  geoCentroid,
  geoDistanceRanges,
  geohashGrid,
  geotileGrid,
  global,
  histogram,
  ipRange,
  matrixStats,
  max,
  medianAbsoluteDeviation,
  min,
  missing,
  multiTerms,
  nested,
  percentileRanks,
  percentiles,
  range,
  rareTerms,
  rate,
  reverseNested,
  sampler,
  scriptedMetric,
  significantTerms,
  significantText,
  stats,
  stringStats,
  sum,
  terms,
  topHits,
  topMetrics,
  valueCount,
  weightedAvg,
];

/** By their names. */
export const AGGREGATIONS_BY_NAME: ReadonlyMap<string, AggregationType> = new Map(
  AGGREGATION_TYPES.map((type) => [type.name, type]),
);
