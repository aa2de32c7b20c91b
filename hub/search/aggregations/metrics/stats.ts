/** `stats`: count, min, max, avg and sum at once. */

import { numericMetric } from "./numeric-metric.ts";

export const stats = numericMetric({
  name: "stats",
  summary: "Count, smallest, largest, mean and sum of the values.",
  counts: ["count"],
  numbers: ({ count, min, max, sum }) => ({ count, min, max, avg: count === 0 ? null : sum / count, sum }),
});
