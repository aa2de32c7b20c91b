/**
 * Collects `terms` of a keyword with very many values when only counts are needed: one counter per ordinal instead of a
 * bucket. Below other buckets, or if an order needs every bucket, the collector for few values is used.
 */

import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { onlyOwner } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  handedOn,
  type TermsContext,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { KeywordValues } from "#hub/search/columns/column-values.ts";
import type { SegmentRun } from "#hub/search/columns/set-blocks.ts";
import { numberedTerms } from "./merged-terms.ts";
import { mergeShared } from "./shared-terms.ts";
import { KeywordTermsCollector } from "./terms-keyword.ts";
import { type MergeOrder, mergeCounts, mergeOrder } from "./terms-merge.ts";

/** Values of all segments from which on they are many. */
const MANY = 2000;

/** What a count takes of the memory that a bucket is estimated at. */
const COUNT_SHARE = 0.04;

/** Counts of the documents of one segment by ordinal. */
interface SegmentCounts {
  readonly segment: SegmentReader;
  readonly column: KeywordColumn;
  readonly counts: Int32Array;
}

/** Returns the collector of a keyword's terms. `missing`: value of documents without one; `many`: see MANY. */
export function keywordTerms(
  context: TermsContext,
  path: string,
  missing: string | undefined,
  many = MANY,
): Collector<TermsState> {
  const { shape, shard, choose } = context;
  const order = mergeOrder(shape.order);
  if (
    choose === undefined &&
    order !== undefined &&
    missing === undefined &&
    shape.minDocCount > 0 &&
    shape.below.size === 0
  ) {
    const columns = shard.searcher.segments.map((segment) => segment.keywordColumn(path));
    const values = columns.reduce((total, column) => total + (column?.cardinality ?? 0), 0);
    // Addresses stand in another order than their texts.
    if (values > many && columns.every((column) => column === null || column.kind === "keyword"))
      return new ManyTermsCollector(context, path, order);
  }
  return new KeywordTermsCollector(context, path, missing);
}

/** See the file's comment. */
class ManyTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #path: string;
  readonly #order: MergeOrder;
  readonly #values = new KeywordValues();
  readonly #segments: SegmentCounts[] = [];
  /** The open segment. */
  #segment: SegmentReader | undefined;
  #open: SegmentCounts | undefined;
  /** Takes over where there is more than one owner. */
  #few: KeywordTermsCollector | undefined;

  constructor(context: TermsContext, path: string, order: MergeOrder) {
    this.#context = context;
    this.#path = path;
    this.#order = order;
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
    if (this.#few !== undefined) {
      this.#few.segment(segment);
      return;
    }
    const column = segment.keywordColumn(this.#path);
    this.#values.open(column);
    this.#open = undefined;
    if (column === null) return;
    this.#context.budget.add(column.cardinality * COUNT_SHARE);
    this.#open = { segment, column, counts: new Int32Array(column.cardinality) };
    this.#segments.push(this.#open);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (length === 0) return;
    if (this.#few === undefined && onlyOwner(owners, length) !== 0) this.#handOver();
    if (this.#few !== undefined) {
      this.#few.collect(docs, owners, length);
      return;
    }
    const counts = this.#open?.counts;
    if (counts === undefined) return;
    const count = this.#values.read(docs, length);
    const { ordinals } = this.#values;
    for (let at = 0; at < count; at++) if (ordinals[at]! >= 0) counts[ordinals[at]!]!++;
  }

  collectRun(run: SegmentRun, owner: number): boolean {
    if (this.#few === undefined && owner !== 0) this.#handOver();
    if (this.#few !== undefined) return this.#few.collectRun(run, owner);
    return this.#open === undefined || this.#open.column.count(run, this.#open.counts, 0);
  }

  state(owner: number): TermsState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<TermsState> {
    if (this.#few !== undefined) return yield* this.#few.steps(owner);
    if (owner !== 0) return textState({ buckets: [], others: 0, errorBound: 0 });
    return textState(yield* this.#merge());
  }

  /** Adds up the counts of the segments: by number where that is enough, else term by term. */
  *#merge(): ReturnType<typeof mergeCounts> {
    const { shardSize, filter, shard } = this.#context;
    const keep = handedOn(shardSize);
    if (this.#order === "frequent" && filter === undefined) {
      const columns = this.#segments.map(({ column }) => column);
      const terms = yield* numberedTerms({ index: shard.indexUuid, path: this.#path, columns });
      if (terms !== undefined) return yield* mergeShared(this.#segments, terms, keep);
    }
    return yield* mergeCounts(this.#segments, { order: this.#order, keep, filter });
  }

  /** Continues with buckets. */
  #handOver(): void {
    this.#few = new KeywordTermsCollector(this.#context, this.#path, undefined);
    for (const { segment, counts } of this.#segments.splice(0)) {
      this.#few.segment(segment);
      this.#few.addCounts(counts);
    }
    // The open one has no values.
    if (this.#segment !== undefined && this.#open === undefined) this.#few.segment(this.#segment);
  }
}
