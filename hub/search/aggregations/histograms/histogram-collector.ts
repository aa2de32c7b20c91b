/** Collects histogram buckets: each number counts in the bucket that contains it. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import { COLUMN_BLOCK, type NumericColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BucketCollector, KeyTable, onlyOwner } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { AggregationTree, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import type { NumericValues } from "#hub/search/columns/column-values.ts";
import { countMask, expandMask, loadBlock, type SegmentRun } from "#hub/search/columns/set-blocks.ts";
import type { ValueFormat } from "#hub/search/columns/value-format.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { HistogramBounds, HistogramState, NumberBucket } from "./histogram-buckets.ts";

export interface HistogramContext {
  readonly shard: ShardContext;
  readonly budget: CollectBudget;
  readonly below: AggregationTree;
  readonly format: ValueFormat;
  /** Key of the bucket after one, for whole numbers that one bucket follows the other of; else undefined. */
  readonly next?: (key: number) => number;
  /** States have what is below a bucket without documents. */
  readonly keepsNothing: boolean;
  /** Buckets outside of it aren't made. */
  readonly limits?: HistogramBounds | undefined;
}

/** Buckets of a block from which on values are put into them one by one. */
const MAX_MASKS = 8;

/** Buckets between two pauses. */
const STEP_BUCKETS = 64;

/** Puts each value of a document into the bucket at `floor(value)`; a document counts once per bucket. */
export class HistogramCollector implements Collector<HistogramState> {
  readonly #context: HistogramContext;
  readonly #open: (segment: SegmentReader) => void;
  readonly #values: NumericValues;
  readonly #floor: (value: number) => number;
  readonly #keys: KeyTable<number>;
  readonly #buckets: BucketCollector;
  readonly #mask = new Uint32Array(COLUMN_BLOCK / 32);
  /** Documents of a block that no bucket has got yet. */
  readonly #left = new Uint32Array(COLUMN_BLOCK / 32);
  readonly #wanted = new Uint32Array(COLUMN_BLOCK / 32);
  #docs = new Int32Array(0);
  #owners = new Int32Array(0);

  constructor(
    context: HistogramContext,
    open: (segment: SegmentReader) => void,
    values: NumericValues,
    floor: (value: number) => number,
  ) {
    this.#context = context;
    this.#open = open;
    this.#values = values;
    this.#floor = floor;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.below, context.shard, context.budget);
  }

  get takesLate(): boolean {
    return this.#values.areStored && this.#buckets.takesLate;
  }

  segment(segment: SegmentReader): void {
    this.#open(segment);
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const { limits } = this.#context;
    if (limits === undefined && this.#collectWhole(docs, owners, length)) return;
    const { min: first = Number.NEGATIVE_INFINITY, max: last = Number.POSITIVE_INFINITY } = limits ?? {};
    const count = this.#values.read(docs, length);
    const { values, places } = this.#values;
    let lastKey = Number.NaN;
    let lastOwner = -1;
    let lastBucket = -1;
    let lastIndex = -1;
    for (let at = 0; at < count; at++) {
      const index = places[at]!;
      const key = this.#floor(values[at]!);
      if (!(key >= first && key <= last)) continue;
      const owner = owners[index]!;
      if (key !== lastKey || owner !== lastOwner) {
        lastKey = key;
        lastOwner = owner;
        lastBucket = this.#keys.bucket(owner, key);
      } else if (index === lastIndex) continue;
      lastIndex = index;
      this.#buckets.add(docs[index]!, lastBucket);
    }
    this.#buckets.flush();
  }

  /** Fast path: a batch whose values all fall into one bucket, which is usual for neighbouring log lines. */
  #collectWhole(docs: Int32Array, owners: Int32Array, length: number): boolean {
    const bounds = this.#values.bounds(docs, length);
    if (bounds === null) return false;
    const key = this.#floor(bounds[0]);
    if (this.#floor(bounds[1]) !== key) return false;
    const owner = onlyOwner(owners, length);
    if (owner < 0) return false;
    this.#buckets.addAll(docs, length, this.#keys.bucket(owner, key));
    return true;
  }

  collectBlock(block: number, mask: Uint32Array | null, count: number, owner: number): boolean {
    const column = this.#values.wholeColumn;
    const { next, limits } = this.#context;
    if (next === undefined || limits !== undefined || column === null || column.kind === "double")
      return false;
    if (!(column.blockMin(block) <= column.blockMax(block))) return true;
    const from = this.#floor(column.blockMin(block));
    const last = this.#floor(column.blockMax(block));
    if (column.presence === null && from === last) {
      this.#buckets.addBlock(block, mask, count, this.#keys.bucket(owner, from));
      return true;
    }
    if (!this.#isNear(from, last, next)) return false;
    const single = mask !== null && column.presence === null && !column.multiValued;
    if (single) this.#left.set(mask);
    for (let key = from; key <= last; key = next(key)) {
      // If each document has one value, the last bucket gets what the others left.
      if (single && next(key) > last) this.#mask.set(this.#left);
      else this.#match(column, block, [key, Math.ceil(next(key)) - 1], mask);
      const found = countMask(this.#mask);
      if (found > 0) this.#buckets.addBlock(block, this.#mask, found, this.#keys.bucket(owner, key));
      if (single) for (let word = 0; word < mask.length; word++) this.#left[word]! &= ~this.#mask[word]!;
    }
    return true;
  }

  /** Sets `#mask` to the documents of `mask` that have a value within the bounds. */
  #match(
    column: NumericColumn,
    block: number,
    [from, to]: readonly [number, number],
    mask: Uint32Array | null,
  ): void {
    column.match(block, from, to, this.#mask);
    if (mask !== null) for (let word = 0; word < mask.length; word++) this.#mask[word]! &= mask[word]!;
  }

  /** Fast path: neighbouring blocks of one bucket, which are usual in logs, continue as one run. */
  collectRun(run: SegmentRun, owner: number): boolean {
    const column = this.#values.wholeColumn;
    const { next, limits } = this.#context;
    if (next === undefined || limits !== undefined || column === null || column.presence !== null)
      return false;
    if (column.kind === "double") return false;
    for (let from = run.from; from < run.to; ) {
      const key = this.#floor(column.blockMin(from));
      let to = from;
      while (
        to < run.to &&
        this.#floor(column.blockMin(to)) === key &&
        this.#floor(column.blockMax(to)) === key
      )
        to++;
      if (to > from) this.#buckets.addRun({ ...run, from, to }, this.#keys.bucket(owner, key));
      else this.#mixed(run, to++, owner);
      from = to;
    }
    return true;
  }

  /** A block of a run whose documents are of several buckets. */
  #mixed(run: SegmentRun, block: number, owner: number): void {
    const count = loadBlock(run, block, this.#wanted);
    if (count === 0 || this.collectBlock(block, this.#wanted, count, owner)) return;
    this.#docs = grown(this.#docs, count);
    this.#owners = grown(this.#owners, count);
    expandMask(block, this.#wanted, count, this.#docs);
    this.#owners.fill(owner, 0, count);
    this.collect(this.#docs, this.#owners, count);
  }

  /** True if few buckets begin from `from` to `last`: a mask is made for each. */
  #isNear(from: number, last: number, next: (key: number) => number): boolean {
    let key = from;
    for (let steps = 0; steps < MAX_MASKS; steps++) {
      if (key > last) return true;
      key = next(key);
    }
    return key > last;
  }

  state(owner: number): HistogramState {
    return atOnce(this.steps(owner));
  }

  steps(owner: number): Steps<HistogramState> {
    return bucketStates(this.#keys, owner, this.#buckets, this.#context);
  }
}

/** Makes the state of an owner's buckets, in steps. */
export function* bucketStates(
  keys: KeyTable<number>,
  owner: number,
  collected: BucketCollector,
  { format, keepsNothing }: Pick<HistogramContext, "format" | "keepsNothing">,
): Steps<HistogramState> {
  const buckets: NumberBucket[] = [];
  for (const [key, bucket] of keys.of(owner)) {
    buckets.push({ key, count: collected.count(bucket), below: yield* collected.belowSteps(bucket) });
    if (buckets.length % STEP_BUCKETS === 0) yield;
  }
  return {
    buckets: yield* sortedSteps(buckets, (a, b) => a.key - b.key),
    format,
    ...(keepsNothing && { nothing: yield* collected.belowSteps(keys.size) }),
  };
}
