/** Histograms over a field of ranges: a document counts in each bucket that its range reaches into. */

import { grown } from "#hub/engine/bytes/byte-buffer.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BucketCollector, KeyTable } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { NumericValues, numericColumn } from "#hub/search/columns/column-values.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { HistogramState } from "./histogram-buckets.ts";
import { bucketStates, type HistogramContext } from "./histogram-collector.ts";

/** Bounds of a range as its fields have them, and which side of it they are. */
const BOUNDS = [
  { name: "gte", isLower: true, isOpen: false },
  { name: "gt", isLower: true, isOpen: true },
  { name: "lte", isLower: false, isOpen: false },
  { name: "lt", isLower: false, isOpen: true },
] as const;

/** Maximum number of buckets of one range; fewer with aggregations below, which see the document in each bucket. */
const MAX_BUCKETS = 100_000;
const MAX_SEEN = 10_000;

/** Buckets between two pauses. */
const STEP_BUCKETS = 4096;

/**
 * Returns the type of a field of ranges; undefined for other fields. `owner` is the aggregation, `isDate` whether it is over
 * times. Throws request_invalid for ranges of another kind.
 */
export function rangeType(
  shard: ShardContext,
  name: string,
  owner: string,
  isDate: boolean,
): string | undefined {
  const type = shard.mapping.objectKind(name)?.type;
  if (type?.endsWith("_range") !== true) return undefined;
  if (type !== "ip_range" && (type === "date_range") === isDate) return type;
  const wanted = isDate ? "date_range" : "integer_range, long_range, float_range or double_range";
  throw new AppError(
    "request_invalid",
    `Expected ${wanted} on field [${name}], but got [${type}]; [${owner}] can't be used with it`,
  );
}

/** The error for a value of documents without a range. */
export function missingRange(field: string): AppError {
  return new AppError(
    "request_invalid",
    `[missing] can't be used with the field [${field}] of ranges: a single value is none`,
  );
}

/** How ranges are put into buckets. */
export interface RangeBuckets extends HistogramContext {
  readonly field: string;
  /** Of the field: "date_range". */
  readonly type: string;
  readonly floor: (value: number) => number;
  readonly next: (key: number) => number;
}

export class RangeHistogramCollector implements Collector<HistogramState> {
  readonly #buckets: RangeBuckets;
  readonly #keys: KeyTable<number>;
  readonly #collected: BucketCollector;
  readonly #bounds = BOUNDS.map((bound) => ({ ...bound, values: new NumericValues() }));
  /** Of each document of a batch; NaN if it has no such bound. */
  #from = new Float64Array(0);
  #to = new Float64Array(0);
  /** Ranges that begin and end in a bucket, if nothing below has to see those between. */
  #begins = new Float64Array(0);
  #ends = new Float64Array(0);

  constructor(buckets: RangeBuckets) {
    this.#buckets = buckets;
    this.#keys = new KeyTable(buckets.budget);
    this.#collected = new BucketCollector(buckets.below, buckets.shard, buckets.budget);
    if (!this.#collected.onlyCounts) buckets.budget.isCostly = true;
  }

  segment(segment: SegmentReader): void {
    for (const { name, values } of this.#bounds)
      values.open(
        numericColumn(segment, this.#buckets.shard.mapping.field(`${this.#buckets.field}.${name}`)),
      );
    this.#collected.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    this.#read(docs, length);
    for (let at = 0; at < length; at++) {
      const [from, to] = [this.#from[at]!, this.#to[at]!];
      if (!Number.isNaN(from) || !Number.isNaN(to)) this.#add(docs[at]!, owners[at]!, from, to);
    }
    this.#collected.flush();
  }

  state(owner: number): HistogramState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<HistogramState> {
    if (this.#collected.onlyCounts) yield* this.#count(owner);
    return yield* bucketStates(this.#keys, owner, this.#collected, this.#buckets);
  }

  /** Counts the ranges in the buckets from their first to their last one. Throws request_invalid, memory_limit. */
  *#count(owner: number): Steps<void> {
    const keys = [...this.#keys.of(owner)].sort(([a], [b]) => a - b);
    let open = 0;
    let made = 0;
    for (const [at, [begin, bucket]] of keys.entries()) {
      open += this.#begins[bucket]!;
      this.#collected.addCount(bucket, open);
      open -= this.#ends[bucket]!;
      this.#begins[bucket] = this.#ends[bucket] = 0;
      if (open === 0) continue;
      const end = keys[at + 1]![0];
      for (let key = this.#next(begin); key < end; key = this.#next(key)) {
        this.#collected.addCount(this.#keys.bucket(owner, key), open);
        if (++made > MAX_BUCKETS) throw endless(this.#buckets.field, MAX_BUCKETS);
        if (made % STEP_BUCKETS === 0) yield;
      }
    }
  }

  /** The bucket after one. Throws request_invalid if there is none. */
  #next(key: number): number {
    const next = this.#buckets.next(key);
    if (!(next > key)) throw endless(this.#buckets.field, MAX_BUCKETS);
    return next;
  }

  /** Sets the bounds of a batch. Throws request_invalid if a document has several ranges. */
  #read(docs: Int32Array, length: number): void {
    if (this.#from.length < length) {
      this.#from = new Float64Array(length);
      this.#to = new Float64Array(length);
    }
    this.#from.fill(Number.NaN, 0, length);
    this.#to.fill(Number.NaN, 0, length);
    for (const { values, isLower, isOpen } of this.#bounds) {
      const side = isLower ? this.#from : this.#to;
      const count = values.read(docs, length);
      for (let at = 0; at < count; at++) {
        const index = values.places[at]!;
        if (!Number.isNaN(side[index]!)) throw severalRanges(this.#buckets.field);
        const value = values.values[at]!;
        side[index] = isOpen ? this.#inside(value, isLower) : value;
      }
    }
  }

  /** The last value within an open bound. */
  #inside(value: number, isLower: boolean): number {
    const { type } = this.#buckets;
    if (type !== "float_range" && type !== "double_range") return isLower ? value + 1 : value - 1;
    // A value this close changes the bucket if the bound is the start of a bucket.
    const step = Math.max(Number.MIN_VALUE, Math.abs(value) * Number.EPSILON);
    return isLower ? value + step : value - step;
  }

  #add(doc: number, owner: number, from: number, to: number): void {
    const { floor, next, limits, field, budget } = this.#buckets;
    const first = limits?.min ?? Number.NEGATIVE_INFINITY;
    const last = limits?.max ?? Number.POSITIVE_INFINITY;
    const begin = Number.isNaN(from) ? first : Math.max(first, floor(from));
    const end = Number.isNaN(to) ? last : Math.min(last, floor(to));
    if (!Number.isFinite(begin) || !Number.isFinite(end)) throw endless(field, MAX_BUCKETS);
    if (end < begin) return;
    if (this.#collected.onlyCounts) {
      this.#mark(owner, begin, end);
      return;
    }
    let made = 0;
    for (let key = begin; key <= end; key = next(key)) {
      if (++made > MAX_SEEN) throw endless(field, MAX_SEEN);
      this.#collected.add(doc, this.#keys.bucket(owner, key));
    }
    budget.chargeFurther(made - 1);
  }

  #mark(owner: number, begin: number, end: number): void {
    const first = this.#keys.bucket(owner, begin);
    const last = this.#keys.bucket(owner, end);
    this.#begins = grown(this.#begins, Math.max(first, last) + 1);
    this.#ends = grown(this.#ends, Math.max(first, last) + 1);
    this.#begins[first]!++;
    this.#ends[last]!++;
  }
}

function severalRanges(field: string): AppError {
  return new AppError(
    "request_invalid",
    `a document has several ranges in the field [${field}], whose bounds are stored separately; index one range in each document`,
  );
}

function endless(field: string, most: number): AppError {
  return new AppError(
    "request_invalid",
    `a range of the field [${field}] reaches into more than ${most} buckets; limit them with [hard_bounds], or use a larger interval`,
    { data: { type: "too_many_buckets_exception" } },
  );
}
