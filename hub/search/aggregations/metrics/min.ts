/** `min`: the smallest value. */

import { numericMetric } from "./numeric-metric.ts";

export const min = numericMetric({
  name: "min",
  summary: "The smallest value.",
  numbers: (state) => ({ value: state.min }),
});
