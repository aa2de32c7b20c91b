/** What the values of a column's block have in common, so that they can be kept as small whole numbers. */

/** Decimal places that are tried to make doubles whole. */
const DECIMAL_SCALES = [1, 10, 100, 1000, 10_000, 1e5, 1e6];

/** Whether the values are at equal steps from the first. */
export function isLinear(values: Float64Array, step: number): boolean {
  const first = values[0]!;
  for (let index = 1; index < values.length; index++)
    if (values[index] !== first + index * step) return false;
  return true;
}

/** Largest number that all distances from `min` are multiples of. */
export function commonStep(values: Float64Array, min: number): number {
  let step = 0;
  // Once it is 1 it stays.
  for (let index = 0; index < values.length && step !== 1; index++) step = gcd(step, values[index]! - min);
  return step;
}

/** Smallest power of ten that makes all values whole and gives them back exactly; 0 where none does. */
export function decimalScale(values: Float64Array): number {
  for (const scale of DECIMAL_SCALES) if (areExactAt(values, scale)) return scale;
  return 0;
}

function areExactAt(values: Float64Array, scale: number): boolean {
  for (let index = 0; index < values.length; index++) if (!isExactAt(values[index]!, scale)) return false;
  return true;
}

function isExactAt(value: number, scale: number): boolean {
  const whole = Math.round(value * scale);
  return Math.abs(whole) < 2 ** 51 && whole / scale === value && !Object.is(value, -0);
}

function gcd(a: number, b: number): number {
  let x = a;
  let y = b;
  while (y !== 0) {
    const rest = x % y;
    x = y;
    y = rest;
  }
  return x;
}
