/** `extended_stats`: stats with sum of squares, variance and standard deviation. */

import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { number, type Option, type Options } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { BucketNumbers } from "./bucket-stats.ts";
import { type NumberGroup, type NumericMetric, numericMetric } from "./numeric-metric.ts";

/** Distance of the bounds from the mean, in standard deviations. */
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
      return {
        count,
        min,
        max,
        avg: count === 0 ? null : sum / count,
        sum: count === 0 && !answersAs(700) ? null : sum,
        sum_of_squares: count === 0 ? null : sumOfSquares,
        ...deviationsOf(state),
      };
    },
    groups: (state) => ({ std_deviation_bounds: boundsOf(state, sigma) }),
    paths(state) {
      const { upper = null, lower = null } = boundsOf(state, sigma);
      return { std_upper: upper, std_lower: lower };
    },
  };
}

type Spread = Pick<BucketNumbers, "count" | "sum" | "sumOfSquares">;

/** Returns variance and standard deviation; from 7.7 on also of a sample, null for a single value. */
export function deviationsOf(state: Spread): NumberGroup {
  const variance = varianceOf(state);
  const deviation = rootOf(variance);
  if (!answersAs(707)) return { variance, std_deviation: deviation };
  const sampling = samplingVariance(state);
  return {
    variance,
    variance_population: variance,
    variance_sampling: sampling,
    std_deviation: deviation,
    std_deviation_population: deviation,
    std_deviation_sampling: rootOf(sampling),
  };
}

/** Returns the bounds at `sigma` standard deviations around the mean; from 7.7 on also of a sample. */
export function boundsOf(state: Spread, sigma: number): NumberGroup {
  const { upper, lower } = boundsAt(state, varianceOf(state), sigma);
  if (!answersAs(707)) return { upper, lower };
  const sampling = boundsAt(state, samplingVariance(state), sigma);
  return {
    upper,
    lower,
    upper_population: upper,
    lower_population: lower,
    upper_sampling: sampling.upper,
    lower_sampling: sampling.lower,
  };
}

function varianceOf({ count, sum, sumOfSquares }: Spread): number | null {
  return count === 0 ? null : Math.max(0, (sumOfSquares - (sum * sum) / count) / count);
}

function samplingVariance({ count, sum, sumOfSquares }: Spread): number | null {
  return count < 2 ? null : Math.max(0, (sumOfSquares - (sum * sum) / count) / (count - 1));
}

function rootOf(variance: number | null): number | null {
  return variance === null ? null : Math.sqrt(variance);
}

function boundsAt(
  { count, sum }: Spread,
  variance: number | null,
  sigma: number,
): { readonly upper: number | null; readonly lower: number | null } {
  if (variance === null) return { upper: null, lower: null };
  const mean = sum / count;
  const distance = sigma * Math.sqrt(variance);
  return { upper: mean + distance, lower: mean - distance };
}
