/** `max`: the largest value. */

import { numericMetric } from "./numeric-metric.ts";

export const max = numericMetric({
  name: "max",
  summary: "The largest value.",
  numbers: (state) => ({ value: state.max }),
});
