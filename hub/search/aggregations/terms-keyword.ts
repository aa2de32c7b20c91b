/** Collects `terms` of keywords and addresses, by ordinal within a segment and by text over segments. */

import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher.ts";
import { KeywordValues } from "../columns.ts";
import { RAW } from "../value-format.ts";
import type { Collector } from "./aggregation.ts";
import { BucketCollector, KeyTable } from "./buckets.ts";
import { cutTerms, type TermsContext, type TermsState } from "./terms-state.ts";

/** Marks an ordinal whose bucket isn't known yet, and one that the filter leaves out. */
const UNKNOWN = -1;
const LEFT_OUT = -2;

export class KeywordTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #path: string;
  readonly #missing: string | undefined;
  readonly #values = new KeywordValues();
  readonly #keys: KeyTable<string>;
  readonly #buckets: BucketCollector;
  #column: KeywordColumn | null = null;
  /** Buckets of the first owner by ordinal: most requests have no other. */
  #direct: Int32Array = new Int32Array(0);

  constructor(context: TermsContext, path: string, missing: string | undefined) {
    this.#context = context;
    this.#path = path;
    this.#missing = missing;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    this.#column = segment.keywordColumn(this.#path);
    this.#values.open(this.#column);
    this.#direct = new Int32Array(this.#column?.cardinality ?? 0).fill(UNKNOWN);
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const count = this.#values.read(docs, length);
    const { ordinals, places } = this.#values;
    for (let at = 0; at < count; at++) {
      const place = places[at]!;
      const bucket = this.#bucket(owners[place]!, ordinals[at]!);
      if (bucket >= 0) this.#buckets.add(docs[place]!, bucket);
    }
    this.#buckets.flush();
  }

  state(owner: number): TermsState {
    const { shape, shardSize } = this.#context;
    if (shape.minDocCount === 0) this.#addAll(owner);
    const buckets = [...this.#keys.of(owner)].map(([key, bucket]) => ({
      key,
      count: this.#buckets.count(bucket),
      below: this.#buckets.below(bucket),
    }));
    return { ...cutTerms(buckets, shape, shardSize), kind: "text", format: RAW };
  }

  #bucket(owner: number, ordinal: number): number {
    if (ordinal < 0) return this.#missing === undefined ? LEFT_OUT : this.#keys.bucket(owner, this.#missing);
    if (owner === 0) {
      const known = this.#direct[ordinal]!;
      if (known !== UNKNOWN) return known;
      return (this.#direct[ordinal] = this.#lookUp(0, ordinal));
    }
    return this.#lookUp(owner, ordinal);
  }

  #lookUp(owner: number, ordinal: number): number {
    const text = this.#column!.text(ordinal);
    return this.#context.filter?.(text) === false ? LEFT_OUT : this.#keys.bucket(owner, text);
  }

  /** With min_doc_count 0 values that no matching document has get buckets too. */
  #addAll(owner: number): void {
    for (const segment of this.#context.shard.searcher.segments) {
      const column = segment.keywordColumn(this.#path);
      for (let ordinal = 0; ordinal < (column?.cardinality ?? 0); ordinal++) {
        const text = column!.text(ordinal);
        if (this.#context.filter?.(text) !== false) this.#keys.bucket(owner, text);
      }
    }
  }
}

/** Collects `terms` where every document has the same value. */
export class ConstantTermCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #value: string | number;
  readonly #keys: KeyTable<string | number>;
  readonly #buckets: BucketCollector;

  constructor(context: TermsContext, value: string | number) {
    this.#context = context;
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
    const buckets = [...this.#keys.of(owner)].map(([key, bucket]) => ({
      key,
      count: this.#buckets.count(bucket),
      below: this.#buckets.below(bucket),
    }));
    return {
      buckets,
      others: 0,
      errorBound: 0,
      kind: typeof this.#value === "string" ? "text" : "long",
      format: RAW,
    };
  }
}
