/** The order of the keys of `composite` and `multi_terms`. */

import { AddressOrder } from "#hub/search/aggregations/tree/address-order.ts";
import { compareKeys } from "#hub/search/aggregations/tree/bucket-order.ts";
import type { CompositeSource, KeyPart } from "./composite-source.ts";

/** Returns the order of keys; `areAddresses`: whether the texts of each source are addresses. */
export function comparisonOf(
  sources: readonly Pick<CompositeSource, "descending">[],
  areAddresses: readonly boolean[],
): (a: readonly KeyPart[], b: readonly KeyPart[]) => number {
  const comparisons = sources.map(({ descending }, at) => {
    const compare = areAddresses[at] === true ? addressOrder() : compareParts;
    return descending ? (a: KeyPart, b: KeyPart) => -compare(a, b) : compare;
  });
  return (a, b) => {
    for (const [at, compare] of comparisons.entries()) {
      const compared = compare(a[at]!, b[at]!);
      if (compared !== 0) return compared;
    }
    return 0;
  };
}

/** Addresses come in the order of their bytes. */
function addressOrder(): (a: KeyPart, b: KeyPart) => number {
  const { compare } = new AddressOrder();
  return (a, b) => (typeof a === "string" && typeof b === "string" ? compare(a, b) : compareParts(a, b));
}

/** Missing values come first, then numbers by size, then texts by their code points. */
function compareParts(a: KeyPart, b: KeyPart): number {
  if (a === b) return 0;
  if (a === null) return -1;
  if (b === null) return 1;
  if (typeof a === "string" && typeof b === "string") return compareKeys(a, b);
  // A field may be of numbers in one index and of texts in another.
  if (typeof a === "string") return 1;
  if (typeof b === "string") return -1;
  return a < b ? -1 : a > b ? 1 : 0;
}
