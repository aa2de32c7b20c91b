/** Field lengths in one byte, as Lucene 7's SmallFloat.intToByte4 keeps them for BM25. */

/** Lengths below it are kept exactly. */
const FREE_VALUES = 24;

/** Length in tokens that each norm byte stands for. */
const LENGTHS = Float64Array.from({ length: 256 }, (_, norm) => decode(norm));

/** Returns the norm byte, 0..255, of a field of `length` tokens; lengths above 40 are rounded down. */
export function lengthToNorm(length: number): number {
  return length < FREE_VALUES ? length : FREE_VALUES + toFloat4(length - FREE_VALUES);
}

/** Returns the length in tokens that a norm byte stands for. */
export function normToLength(norm: number): number {
  return LENGTHS[norm]!;
}

function toFloat4(value: number): number {
  const bits = 32 - Math.clz32(value);
  if (bits < 4) return value;
  const shift = bits - 4;
  return ((value >>> shift) & 7) | ((shift + 1) << 3);
}

function decode(norm: number): number {
  if (norm < FREE_VALUES) return norm;
  const value = norm - FREE_VALUES;
  const shift = (value >> 3) - 1;
  const mantissa = shift < 0 ? value : ((value & 7) | 8) * 2 ** shift;
  return FREE_VALUES + mantissa;
}
