/** `avg`: the mean of the values. */

import { numericMetric } from "./numeric-metric.ts";

export const avg = numericMetric({
  name: "avg",
  summary: "The mean of the values.",
  numbers: (state) => ({ value: state.count === 0 ? null : state.sum / state.count }),
});
