/** `sum`: all values added up. */

import { numericMetric } from "./numeric-metric.ts";

export const sum = numericMetric({
  name: "sum",
  summary: "All values added up; 0 without any.",
  numbers: (state) => ({ value: state.sum }),
});
