/** `extended_stats`: stats with sum of squares, variance and standard deviation. */

import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { number, type Option, type Options } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { BucketNumbers } from "./bucket-stats.ts";
import { type NumberGroup, type NumericMetric, numericMetric } from "./numeric-metric.ts";

/** Standard deviations on either side of the mean that the bounds lie at. */
const DEFAULT_SIGMA = 2;

const plain = numericMetric(metricOf(DEFAULT_SIGMA));

const OPTIONS: Options & { readonly sigma: Option<number> } = {
  ...plain.options,
  sigma: number("standard deviations between the mean and the bounds", DEFAULT_SIGMA),
};

export const extendedStats: AggregationType = {
  ...plain,
  options: OPTIONS,
  parse(body, context) {
    const { sigma } = readAggregation("extended_stats", body, OPTIONS);
    if (!(sigma >= 0)) {
      const given = Number.isInteger(sigma) ? sigma.toFixed(1) : String(sigma);
      throw new AppError(
        "request_invalid",
        `[sigma] must be greater than or equal to 0. Found [${given}] in [${context.name}]`,
      );
    }
    const { sigma: _sigma, ...rest } = body as JsonObject;
    return numericMetric(metricOf(sigma)).parse(rest, context);
  },
};

function metricOf(sigma: number): NumericMetric {
  return {
    name: "extended_stats",
    summary: "Stats with sum of squares, variance and standard deviation.",
    counts: ["count"],
    numbers(state) {
      const { count, min, max, sum, sumOfSquares } = state;
      const variance = varianceOf(state);
      return {
        count,
        min,
        max,
        avg: count === 0 ? null : sum / count,
        sum,
        sum_of_squares: count === 0 ? null : sumOfSquares,
        variance,
        std_deviation: variance === null ? null : Math.sqrt(variance),
      };
    },
    groups: (state) => ({ std_deviation_bounds: boundsOf(state, sigma) }),
    paths(state) {
      const { upper = null, lower = null } = boundsOf(state, sigma);
      return { std_upper: upper, std_lower: lower };
    },
  };
}

function varianceOf({ count, sum, sumOfSquares }: BucketNumbers): number | null {
  return count === 0 ? null : Math.max(0, (sumOfSquares - (sum * sum) / count) / count);
}

function boundsOf(state: BucketNumbers, sigma: number): NumberGroup {
  const variance = varianceOf(state);
  if (variance === null) return { upper: null, lower: null };
  const mean = state.sum / state.count;
  const distance = sigma * Math.sqrt(variance);
  return { upper: mean + distance, lower: mean - distance };
}
