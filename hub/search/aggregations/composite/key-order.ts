/** The order of the keys of `composite` and `multi_terms`. */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import { compareKeys } from "#hub/search/aggregations/tree/bucket-order.ts";
import type { CompositeSource, KeyPart } from "./composite-source.ts";

/** Addresses whose bytes are remembered; beyond it all are dropped. */
const MAX_ADDRESSES = 100_000;

/** Returns the order of keys; `areAddresses`: whether the texts of each source are addresses. */
export function comparisonOf(
  sources: readonly Pick<CompositeSource, "descending">[],
  areAddresses: readonly boolean[],
): (a: readonly KeyPart[], b: readonly KeyPart[]) => number {
  const comparisons = sources.map(({ descending }, at) => {
    const compare = areAddresses[at] === true ? new AddressOrder().compare : compareParts;
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

/** Compares addresses by their 16 bytes, which are computed once for all comparisons of a sort. */
class AddressOrder {
  readonly #known = new Map<string, Uint8Array | null>();

  /** A field may be of addresses in one index and of texts in another: texts that are no address come last. */
  readonly compare = (a: KeyPart, b: KeyPart): number => {
    if (typeof a !== "string" || typeof b !== "string") return compareParts(a, b);
    const [left, right] = [this.#bytes(a), this.#bytes(b)];
    if (left === null || right === null)
      return Number(left === null) - Number(right === null) || compareParts(a, b);
    return Buffer.compare(left, right) || compareParts(a, b);
  };

  #bytes(text: string): Uint8Array | null {
    let bytes = this.#known.get(text);
    if (bytes === undefined) {
      if (this.#known.size >= MAX_ADDRESSES) this.#known.clear();
      bytes = parseIp(text);
      this.#known.set(text, bytes);
    }
    return bytes;
  }
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
