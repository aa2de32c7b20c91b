/** The value by which a document with several values is sorted. */

import type { SortMode } from "./sort-request.ts";

/** Returns the one value of `count` ascending ones that a mode means. */
export function pickValue(values: readonly number[], count: number, mode: SortMode): number {
  if (mode === "min") return values[0]!;
  if (mode === "max") return values[count - 1]!;
  if (mode === "median") {
    const middle = count >> 1;
    return count % 2 === 1 ? values[middle]! : between(values[middle - 1]!, values[middle]!);
  }
  let sum = 0;
  for (let at = 0; at < count; at++) sum += values[at]!;
  return mode === "sum" ? sum : sum / count;
}

/** Returns the mean of two values, which lies between them also where their sum would be infinite. */
function between(low: number, high: number): number {
  const sum = low + high;
  return Number.isFinite(sum) ? sum / 2 : low / 2 + high / 2;
}

/** Returns true if the picked value may lie beyond each of the values: a sum, and a mean, whose rounding may end one step outside. */
export function mayLieBeyond(mode: SortMode): boolean {
  return mode === "sum" || mode === "avg";
}
