/** How numbers of one bucket are summed: what columns add to, and aggregations continue with. */

/** Numbers of a sum, next to each other: one line of the processor's cache. */
export const SUM_WIDTH = 8;

/** Places within a sum. */
export const SumPlace = {
  COUNT: 0,
  TOTAL: 1,
  /** What the additions so far were off by; nothing if all values are whole numbers. */
  ERROR: 2,
  /** Sum of squares. */
  SQUARES: 3,
  /** Infinity and -Infinity without values. */
  MIN: 4,
  MAX: 5,
} as const;
