/** The value that stands for several in an order. */

import type { SortMode } from "./sort-request.ts";

/** Returns the one value of `count` ascending ones that a mode means. */
export function pickValue(values: readonly number[], count: number, mode: SortMode): number {
  if (mode === "min") return values[0]!;
  if (mode === "max") return values[count - 1]!;
  if (mode === "median") {
    const middle = count >> 1;
    return count % 2 === 1 ? values[middle]! : (values[middle - 1]! + values[middle]!) / 2;
  }
  let sum = 0;
  for (let at = 0; at < count; at++) sum += values[at]!;
  return mode === "sum" ? sum : sum / count;
}

/** Returns true if the picked value may lie beyond each of the values: a sum, and a mean, whose rounding may end one step outside. */
export function mayLieBeyond(mode: SortMode): boolean {
  return mode === "sum" || mode === "avg";
}
