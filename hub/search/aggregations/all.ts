/** Every type of aggregation. A new one is a file beside this one and a line here. */

import { adjacencyMatrix } from "./adjacency-matrix.ts";
import type { AggregationType } from "./aggregation-parser.ts";
import { avg } from "./avg.ts";
import { cardinality } from "./cardinality.ts";
import { composite } from "./composite.ts";
import { dateHistogram } from "./date-histogram.ts";
import { dateRange } from "./date-range.ts";
import { extendedStats } from "./extended-stats.ts";
import { filter } from "./filter.ts";
import { filters } from "./filters.ts";
import { global } from "./global.ts";
import { histogram } from "./histogram.ts";
import { max } from "./max.ts";
import { min } from "./min.ts";
import { missing } from "./missing.ts";
import { percentileRanks, percentiles } from "./percentiles.ts";
import { range } from "./range.ts";
import { stats } from "./stats.ts";
import { sum } from "./sum.ts";
import { terms } from "./terms.ts";
import { topHits } from "./top-hits.ts";
import { valueCount } from "./value-count.ts";
import { weightedAvg } from "./weighted-avg.ts";

export const AGGREGATION_TYPES: readonly AggregationType[] = [
  adjacencyMatrix,
  avg,
  cardinality,
  composite,
  dateHistogram,
  dateRange,
  extendedStats,
  filter,
  filters,
  global,
  histogram,
  max,
  min,
  missing,
  percentileRanks,
  percentiles,
  range,
  stats,
  sum,
  terms,
  topHits,
  valueCount,
  weightedAvg,
];
