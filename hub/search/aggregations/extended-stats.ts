/** `extended_stats`: stats with the spread of the values. */

import { numericMetric } from "./numeric-metric.ts";

export const extendedStats = numericMetric({
  name: "extended_stats",
  summary: "Stats with sum of squares, variance and standard deviation.",
  counts: ["count"],
  numbers({ count, min, max, sum, sumOfSquares }) {
    const variance = count === 0 ? null : Math.max(0, (sumOfSquares - (sum * sum) / count) / count);
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
});
