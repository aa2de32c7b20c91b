/**
 * Sums of doubles that are the same in any order and grouping: rounding errors are kept in further doubles (Shewchuk
 * 1997, "Adaptive Precision Floating-Point Arithmetic"). Whole numbers up to 2^53 need one double.
 */

/** A double, or doubles that add up to the sum: ascending, with no bit in common. JSON-able. */
export type ExactSum = number | readonly number[];

/** Adds two sums. */
export function addExact(a: ExactSum, b: ExactSum): ExactSum {
  if (typeof a === "number" && typeof b === "number" && addsUp(a, b)) return a + b;
  let parts = typeof a === "number" ? [a] : a;
  for (const each of typeof b === "number" ? [b] : b) parts = withPart(parts, each);
  const total = parts.at(-1)!;
  // Infinite sums have no more parts.
  return parts.length === 1 || !Number.isFinite(total) ? total : parts;
}

/** Returns the double that is nearest to a sum. */
export function sumOf(sum: ExactSum): number {
  if (typeof sum === "number") return sum;
  let at = sum.length - 1;
  let total = sum[at]!;
  let rest = 0;
  while (at > 0 && rest === 0) {
    const part = sum[--at]!;
    const high = total + part;
    rest = part - (high - total);
    total = high;
  }
  // Halfway between two doubles, the part below decides.
  const below = at > 0 ? sum[at - 1]! : 0;
  if (rest * below <= 0) return total;
  const next = total + 2 * rest;
  return next - total === 2 * rest ? next : total;
}

function addsUp(a: number, b: number): boolean {
  const total = a + b;
  return (a - (total - b) === 0 && b - (total - a) === 0) || !Number.isFinite(total);
}

function withPart(parts: readonly number[], added: number): number[] {
  const result: number[] = [];
  let high = added;
  for (const part of parts) {
    const [larger, smaller] = Math.abs(high) < Math.abs(part) ? [part, high] : [high, part];
    const total = larger + smaller;
    const low = smaller - (total - larger);
    if (low !== 0) result.push(low);
    high = total;
  }
  result.push(high);
  return result;
}
