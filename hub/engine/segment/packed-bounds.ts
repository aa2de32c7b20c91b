/** Bounds of values as bounds of the packed numbers they are made of. */

const MAX_NUMBER = 0xffff_ffff;

/**
 * Returns the lowest and highest n (0..2^32 - 1) for which base + n * step (decimal: (base + n) / step) is in [from, to];
 * null where there is none. `step` is above 0.
 */
export function packedBounds(
  base: number,
  step: number,
  decimal: boolean,
  from: number,
  to: number,
): readonly [low: number, high: number] | null {
  const value = (n: number): number => (decimal ? (base + n) / step : base + n * step);
  const number = (bound: number): number => (decimal ? bound * step - base : (bound - base) / step);
  const low = lowestNumber(value, number(from), from);
  // The numbers above `to` begin where those in reach end.
  const high = to === Number.POSITIVE_INFINITY ? MAX_NUMBER : highestNumber(value, number(to), to);
  return low > high ? null : [low, high];
}

/** Smallest n with value(n) >= bound; beyond 2^32 - 1 where there is none. `guess` may be off by rounding. */
function lowestNumber(value: (n: number) => number, guess: number, bound: number): number {
  let n = Math.min(Math.max(Math.ceil(guess), 0), MAX_NUMBER + 1);
  while (n > 0 && value(n - 1) >= bound) n--;
  while (n <= MAX_NUMBER && value(n) < bound) n++;
  return n;
}

/** Largest n with value(n) <= bound; -1 where there is none. */
function highestNumber(value: (n: number) => number, guess: number, bound: number): number {
  let n = Math.min(Math.max(Math.floor(guess), -1), MAX_NUMBER);
  while (n < MAX_NUMBER && value(n + 1) <= bound) n++;
  while (n >= 0 && value(n) > bound) n--;
  return n;
}
