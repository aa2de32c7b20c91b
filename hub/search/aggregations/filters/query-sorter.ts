/** Puts documents into the buckets of the queries they match. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Sorter } from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import {
  NO_MORE_DOCS,
  type Query,
  type Scorer,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";

export class QuerySorter implements Sorter {
  readonly #weights: readonly Weight[];
  readonly #other: number | undefined;
  #scorers: readonly (Scorer | null)[] = [];

  /** `other`: bucket of documents that match none of the queries; undefined for none. */
  constructor(queries: readonly Query[], other: number | undefined, shard: ShardContext) {
    this.#weights = queries.map((query) => query.weight(shard, { scores: false, boost: 1 }));
    this.#other = other;
  }

  segment(segment: SegmentReader): void {
    this.#scorers = this.#weights.map((weight) => weight.scorer(segment));
  }

  sort(docs: Int32Array, length: number, put: (place: number, bucket: number) => void): void {
    for (let place = 0; place < length; place++) {
      const doc = docs[place]!;
      let found = false;
      for (let bucket = 0; bucket < this.#scorers.length; bucket++) {
        const scorer = this.#scorers[bucket];
        if (scorer === null || scorer === undefined || scorer.doc === NO_MORE_DOCS) continue;
        if ((scorer.doc < doc ? scorer.advance(doc) : scorer.doc) !== doc) continue;
        found = true;
        put(place, bucket);
      }
      if (!found && this.#other !== undefined) put(place, this.#other);
    }
  }
}
