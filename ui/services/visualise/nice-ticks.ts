/** Round numbers for an axis. */

/**
 * Returns about `count` round numbers that cover 0 (or `min` below it) to `max`; the last one is ≥ max. `minStep` is 1
 * where there is nothing between whole numbers.
 */
export function niceTicks(min: number, max: number, count: number, minStep = 0): number[] {
  const low = Math.min(0, min);
  const high = Math.max(max, low + Number.EPSILON, low === 0 && max <= 0 ? 1 : max);
  const rough = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const round = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((one) => one >= rough)!;
  const step = Math.max(minStep, minStep === 1 ? Math.ceil(round) : round);
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step - 1e-9);
  return Array.from({ length: last - first + 1 }, (_, index) =>
    Number(((first + index) * step).toPrecision(12)),
  );
}
