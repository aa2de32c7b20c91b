/** The limits of a search unless settings of the cluster or of an index say otherwise. */

import type { SearchLimits } from "./query.ts";

/** Limits by default. */
export const DEFAULT_LIMITS: SearchLimits = {
  maxBuckets: 65_536,
  maxResultWindow: 10_000,
  maxRescoreWindow: 10_000,
  maxColumnFields: 100,
  maxScriptFields: 32,
  maxRegexLength: 1_000,
};
