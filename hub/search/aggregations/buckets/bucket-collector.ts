/** Buckets of a collector: keys by owning bucket, counts, and the documents for the aggregations below. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type {
  AggregationTree,
  ChosenOrdinals,
  CollectBudget,
  OrdinalBuckets,
  TreeState,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { TreeCollector } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { countRun, type SegmentRun } from "#hub/search/columns/set-blocks.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { CollectedTerms } from "./first-terms.ts";

/** Pairs gathered before they are passed on. */
const PAIRS = 4096;
/** Initial capacity in pairs. */
const FIRST_PAIRS = 64;

/** Counts documents of buckets and passes them to the aggregations below. */
export class BucketCollector {
  readonly #below: TreeCollector;
  #counts = new Float64Array(16);
  #docs = new Int32Array(0);
  #buckets = new Int32Array(0);
  #length = 0;

  constructor(below: AggregationTree, shard: ShardContext, budget: CollectBudget) {
    this.#below = new TreeCollector(below, shard, budget);
  }

  segment(segment: SegmentReader): void {
    this.#below.segment(segment);
  }

  /** Adds a document to a bucket; documents come in ascending order. */
  add(doc: number, bucket: number): void {
    if (bucket >= this.#counts.length) this.#grow(bucket);
    this.#counts[bucket]!++;
    if (this.#below.isEmpty) return;
    if (this.#length === this.#docs.length) this.#growPairs();
    this.#docs[this.#length] = doc;
    this.#buckets[this.#length++] = bucket;
  }

  /** Adds several documents, ascending, to one bucket. */
  addAll(docs: Int32Array, length: number, bucket: number): void {
    this.addCount(bucket, length);
    if (this.#below.isEmpty) return;
    this.flush();
    for (let at = 0; at < length; at += PAIRS) {
      const part = Math.min(PAIRS, length - at);
      this.#buckets = grown(this.#buckets, part);
      this.#buckets.fill(bucket, 0, part);
      this.#below.collect(at === 0 ? docs : docs.subarray(at), this.#buckets, part);
    }
  }

  /** Adds documents of one column block, as Collector.collectBlock takes them, to one bucket. */
  addBlock(block: number, mask: Uint32Array | null, count: number, bucket: number): void {
    this.addCount(bucket, count);
    if (this.#below.isEmpty) return;
    this.flush();
    this.#below.collectBlock(block, mask, count, bucket);
  }

  /** Adds the documents of a run of blocks to one bucket. */
  addRun(run: SegmentRun, bucket: number): void {
    this.addCount(bucket, countRun(run));
    if (this.#below.isEmpty) return;
    this.flush();
    this.#below.collectRun(run, bucket);
  }

  /** True if `passBy` can be called. */
  takesBy(column: KeywordColumn): boolean {
    return this.#below.takesBy(column);
  }

  /** Passes on the documents of a run, which are counted otherwise, each in the bucket of its ordinal. */
  passBy(run: SegmentRun, by: OrdinalBuckets): void {
    this.flush();
    this.#below.collectBy(run, by);
  }

  /** Passes on the documents of a run that have a bucket by their ordinal; they are counted otherwise. */
  passChosen(run: SegmentRun, chosen: ChosenOrdinals): Steps<void> {
    return this.#below.collectChosen(run, chosen);
  }

  /** Adds documents, ascending, each to the bucket at its index. */
  addEach(docs: Int32Array, buckets: Int32Array, length: number): void {
    let largest = 0;
    for (let at = 0; at < length; at++) if (buckets[at]! > largest) largest = buckets[at]!;
    if (largest >= this.#counts.length) this.#grow(largest);
    const counts = this.#counts;
    for (let at = 0; at < length; at++) counts[buckets[at]!]!++;
    if (this.#below.isEmpty || length === 0) return;
    this.flush();
    this.#below.collect(docs, buckets, length);
  }

  /** Counts documents that no aggregation below needs. */
  addCount(bucket: number, count: number): void {
    if (bucket >= this.#counts.length) this.#grow(bucket);
    this.#counts[bucket]! += count;
  }

  /** True if the aggregations below get documents after the search has left their segments. */
  get takesLate(): boolean {
    return this.#below.takesLate;
  }

  /** True if no aggregation below needs documents. */
  get onlyCounts(): boolean {
    return this.#below.isEmpty;
  }

  /** Passes on the gathered pairs; must be called at the end of each batch. */
  flush(): void {
    if (this.#length > 0) this.#below.collect(this.#docs, this.#buckets, this.#length);
    this.#length = 0;
  }

  count(bucket: number): number {
    return this.#counts[bucket] ?? 0;
  }

  below(bucket: number): TreeState {
    return this.#below.state(bucket);
  }

  /** Like `below`, in steps. */
  belowSteps(bucket: number): Steps<TreeState> {
    return this.#below.steps(bucket);
  }

  /** Grows the pair buffers: they start small because most collectors see few documents. */
  #growPairs(): void {
    if (this.#length >= PAIRS) {
      this.flush();
      return;
    }
    this.#docs = grown(this.#docs, Math.min(PAIRS, Math.max(FIRST_PAIRS, 4 * this.#length)));
    this.#buckets = grown(this.#buckets, this.#docs.length);
  }

  #grow(bucket: number): void {
    const counts = new Float64Array(Math.max(bucket + 1, this.#counts.length * 2));
    counts.set(this.#counts);
    this.#counts = counts;
  }
}

/** Buckets of an owner, as `keys` has them, for cutTerms. */
export function collectedTerms<Key extends string | number>(
  keys: ReadonlyMap<Key, number>,
  buckets: BucketCollector,
): CollectedTerms {
  const names = [...keys.keys()];
  const numbers = Int32Array.from(keys.values());
  return {
    length: numbers.length,
    count: (at) => buckets.count(numbers[at]!),
    key: (at) => names[at]!,
    below: (at) => buckets.below(numbers[at]!),
    belowSteps: (at) => buckets.belowSteps(numbers[at]!),
  };
}

/** Returns the owner that all of a batch share, or -1. */
export function onlyOwner(owners: Int32Array, length: number): number {
  const first = owners[0]!;
  for (let at = 1; at < length; at++) if (owners[at] !== first) return -1;
  return length === 0 ? -1 : first;
}

/** Keys between two pauses: well below a millisecond. */
const STEP_KEYS = 1024;

/** Assigns bucket numbers to keys within owners. */
export class KeyTable<Key> {
  readonly #owners: Map<Key, number>[] = [];
  readonly #budget: CollectBudget;
  #next = 0;

  constructor(budget: CollectBudget) {
    this.#budget = budget;
  }

  /** Returns the bucket of a key, a new one if the owner hasn't seen it. */
  bucket(owner: number, key: Key): number {
    let keys = this.#owners[owner];
    if (keys === undefined) {
      while (this.#owners.length < owner) this.#owners.push(new Map());
      keys = this.#owners[owner] = new Map();
    }
    let bucket = keys.get(key);
    if (bucket === undefined) {
      this.#budget.add();
      bucket = this.#next++;
      keys.set(key, bucket);
    }
    return bucket;
  }

  /** Gives an owner a bucket of each of `keys`, in steps. */
  *addAll(owner: number, keys: Iterable<Key>): Steps<void> {
    let left = STEP_KEYS;
    for (const key of keys) {
      this.bucket(owner, key);
      if (--left > 0) continue;
      left = STEP_KEYS;
      yield;
    }
  }

  /** Buckets of all owners; a bucket of this number has no documents. */
  get size(): number {
    return this.#next;
  }

  /** Owners up to the last one that has keys. */
  get owners(): number {
    return this.#owners.length;
  }

  /** Keys of an owner with their buckets, in the order they were met. */
  of(owner: number): ReadonlyMap<Key, number> {
    return this.#owners[owner] ?? new Map<Key, number>();
  }
}
