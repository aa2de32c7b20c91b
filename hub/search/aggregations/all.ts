/** Every type of aggregation. A new one is a file beside this one and a line here. */

import { adjacencyMatrix } from "./adjacency-matrix.ts";
import type { AggregationType } from "./aggregation-parser.ts";
import { autoDateHistogram } from "./auto-date-histogram.ts";
import { avg } from "./avg.ts";
import { cardinality } from "./cardinality.ts";
import { composite } from "./composite.ts";
import { dateHistogram } from "./date-histogram.ts";
import { dateRange } from "./date-range.ts";
import { extendedStats } from "./extended-stats.ts";
import { filter } from "./filter.ts";
import { filters } from "./filters.ts";
import { geoBounds } from "./geo-bounds.ts";
import { geoCentroid } from "./geo-centroid.ts";
import { geoDistanceRanges } from "./geo-distance.ts";
import { geohashGrid } from "./geohash-grid.ts";
import { geotileGrid } from "./geotile-grid.ts";
import { global } from "./global.ts";
import { histogram } from "./histogram.ts";
import { ipRange } from "./ip-range.ts";
import { max } from "./max.ts";
import { medianAbsoluteDeviation } from "./median-absolute-deviation.ts";
import { min } from "./min.ts";
import { missing } from "./missing.ts";
import { percentileRanks, percentiles } from "./percentiles.ts";
import { range } from "./range.ts";
import { rareTerms } from "./rare-terms.ts";
import { diversifiedSampler, sampler } from "./sampler.ts";
import { significantTerms, significantText } from "./significant-terms.ts";
import { stats } from "./stats.ts";
import { sum } from "./sum.ts";
import { terms } from "./terms.ts";
import { topHits } from "./top-hits.ts";
import { valueCount } from "./value-count.ts";
import { weightedAvg } from "./weighted-avg.ts";

export const AGGREGATION_TYPES: readonly AggregationType[] = [
  adjacencyMatrix,
  autoDateHistogram,
  avg,
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
  max,
  medianAbsoluteDeviation,
  min,
  missing,
  percentileRanks,
  percentiles,
  range,
  rareTerms,
  sampler,
  significantTerms,
  significantText,
  stats,
  sum,
  terms,
  topHits,
  valueCount,
  weightedAvg,
];

/** By their names. */
export const AGGREGATIONS_BY_NAME: ReadonlyMap<string, AggregationType> = new Map(
  AGGREGATION_TYPES.map((type) => [type.name, type]),
);
