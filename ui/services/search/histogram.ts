/** The histogram's numbers, from the answer of a search. */

import { levelOf } from "#proto/live.ts";
import type { Interval } from "./interval.ts";
import type { SearchResponse } from "./search-client.ts";
import type { ResolvedRange } from "./time-range.ts";

export interface TimeBucket {
  /** ms since 1970-01-01 UTC */
  readonly startMs: number;
  readonly total: number;
  /** Counts by level, 0 to 6; lines without one that counts are in 0. */
  readonly levels: readonly number[];
}

export interface Histogram {
  readonly range: ResolvedRange;
  /** Of months and longer about. */
  readonly intervalMs: number;
  readonly interval: Interval;
  readonly buckets: readonly TimeBucket[];
}

/** Returns the histogram of an answer to `histogramRequest`. */
export function readHistogram(response: SearchResponse, range: ResolvedRange, interval: Interval): Histogram {
  const buckets = (response.aggregations?.times?.buckets ?? []).map((bucket): TimeBucket => {
    const levels = [0, 0, 0, 0, 0, 0, 0];
    for (const { key, doc_count } of bucket.levels?.buckets ?? []) levels[levelOf(key)]! += doc_count;
    const known = levels.reduce((sum, count) => sum + count, 0);
    levels[0]! += Math.max(0, bucket.doc_count - known);
    return { startMs: Number(bucket.key), total: bucket.doc_count, levels };
  });
  return { range, intervalMs: interval.ms, interval, buckets };
}

/** Returns where a bucket ends, ms: months and years aren't equally long. */
export function bucketEndMs({ buckets, intervalMs }: Histogram, at: number): number {
  return buckets[at + 1]?.startMs ?? buckets[at]!.startMs + intervalMs;
}

/** Returns the range that all buckets fill: the first and the last may reach beyond the range that was searched. */
export function drawnRange(histogram: Histogram): ResolvedRange {
  const { range, buckets } = histogram;
  if (buckets.length === 0) return range;
  return {
    fromMs: Math.min(range.fromMs, buckets[0]!.startMs),
    toMs: Math.max(range.toMs, bucketEndMs(histogram, buckets.length - 1)),
  };
}
