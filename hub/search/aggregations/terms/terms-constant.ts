/** Collects `terms` where every document has the same value: its index, or what stands for a missing field. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import { handOn, type TermsContext, type TermsState } from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce } from "#hub/search/aggregations/tree/steps.ts";
import { RAW, type ValueFormat } from "#hub/search/columns/value-format.ts";

export class ConstantTermCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #value: string | number;
  readonly #format: ValueFormat;
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;

  constructor(context: TermsContext, value: string | number, format: ValueFormat = RAW) {
    this.#context = context;
    this.#format = format;
    this.#value = value;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (this.#context.filter?.(String(this.#value)) === false) return;
    for (let at = 0; at < length; at++)
      this.#buckets.add(docs[at]!, this.#keys.bucket(owners[at]!, this.#value));
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    const terms = collectedTerms(this.#keys.of(owner), this.#buckets);
    const handed = atOnce(handOn(this.#context, terms, this.#keys.owners));
    return { ...handed, kind: typeof this.#value === "string" ? "text" : "long", format: this.#format };
  }
}
