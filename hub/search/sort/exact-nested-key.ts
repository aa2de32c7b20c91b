/** The key of a segment whose nested objects have whole numbers beyond 2^53, see `ExactKey`. */

import { shortest } from "#hub/search/options/json.ts";
import type { ExactKey } from "./exact-key.ts";
import type { Rank, SegmentKey, SortValue } from "./key.ts";
import type { NestedObjects } from "./nested-objects.ts";
import { pickValue } from "./picked-value.ts";
import type { SortMode } from "./sort-request.ts";

export interface ExactNestedKeyOptions {
  readonly objects: NestedObjects;
  /** Keys of objects; one without a value is infinite. */
  readonly inner: ExactKey;
  readonly descending: boolean;
  /** Rank of documents without a value. */
  readonly missing: number | bigint;
  readonly mode: SortMode;
}

export class ExactNestedKey implements SegmentKey {
  readonly #options: ExactNestedKeyOptions;
  readonly #ranks: (number | bigint)[] = [];

  constructor(options: ExactNestedKeyOptions) {
    this.#options = options;
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    for (let at = 0; at < length; at++) out[at] = Number(this.rank(docs[at]!));
  }

  loadExact(docs: Int32Array, length: number, out: Float64Array, rest: Float64Array): void {
    for (let at = 0; at < length; at++) {
      const rank = this.rank(docs[at]!);
      out[at] = Number(rank);
      rest[at] = this.restOf(rank);
    }
  }

  restOf(rank: Rank): number {
    return this.#options.inner.restOf(rank);
  }

  /** The value of a document with its sign; means, sums and medians of several objects are rounded. */
  rank(doc: number): number | bigint {
    const { objects, inner, descending, missing, mode } = this.#options;
    const ranks = this.#ranks;
    ranks.length = 0;
    objects.each(doc, (object) => {
      const rank = inner.rank(object);
      if (rank !== Number.POSITIVE_INFINITY) ranks.push(rank);
    });
    if (ranks.length === 0) return missing;
    if (ranks.length === 1) return ranks[0]!;
    ranks.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
    // Ranks of a descending order are values with their sign turned.
    if (mode === "min" || mode === "max") return (mode === "min") === descending ? ranks.at(-1)! : ranks[0]!;
    const sign = descending ? -1 : 1;
    const picked = pickValue(ranks.map(Number), ranks.length, mode);
    return shortest(BigInt(sign * Math.round(sign * picked)));
  }

  value(doc: number): SortValue {
    const rank = this.rank(doc);
    const { descending, inner } = this.#options;
    return inner.print(descending ? -rank : rank);
  }

  keyOf(rank: Rank): number {
    return Number(rank);
  }
}
