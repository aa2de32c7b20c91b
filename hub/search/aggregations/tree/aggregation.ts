/**
 * Aggregations in three steps: a collector per shard sees the matching documents in batches and keeps the state of every
 * bucket; states of shards are merged; the merged state is rendered. States are JSON, or compute parts of it on first
 * access.
 */

import { totalmem } from "node:os";
import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { SegmentRun } from "#hub/search/columns/set-blocks.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { NamedPipeline } from "./pipeline.ts";
import type { Steps } from "./steps.ts";

/** A node of the aggregation tree. Immutable; used for many shards. */
export interface Aggregation<State = unknown> {
  /** `isFinal`: the state of the first owner isn't merged with others. */
  collector(shard: ShardContext, budget: CollectBudget, isFinal?: boolean): Collector<State>;
  /** Merges at least one state of the same bucket; in steps if there may be many buckets. */
  merge(states: readonly State[]): State | Steps<State>;
  /** The answer's object; in steps if it may have many buckets, which `budget` counts. */
  render(state: State, budget: BucketBudget): JsonObject | Steps<JsonObject>;
  /** State of a bucket that no document fell into. */
  empty(): State;
  /** True if that state has less than a shard's of such a bucket, as bounds are read by the mapping. */
  readonly emptyLacksBounds?: boolean;
  /** A number to order buckets by; `name` as in "stats.max". Undefined if there is none of that name. */
  metric?(state: State, name: string): number | undefined;
  /** Makes the empty bucket that follows one with that key; of histograms. */
  bucketAfter?(state: State, key: number): JsonObject;
  /** Prefix of the name with typed_keys. */
  typedName(state: State): string;
  /** Aggregations beside each other that have the same text here have the same states, which are collected once. */
  readonly collectedAs?: string;
}

/** Collects in one shard. Buckets are numbers from 0 that the owner of the collector gives out. */
export interface Collector<State = unknown> {
  /** Called before the documents of a segment. */
  segment(segment: SegmentReader): void;
  /** Documents ascending; `buckets[i]` is the owning bucket of `docs[i]`. Arrays are reused by the caller. */
  collect(docs: Int32Array, buckets: Int32Array, length: number): void;
  /**
   * Documents of one column block, all of one owning bucket: those in `mask` (COLUMN_BLOCK bits; null: all `count` of
   * them). Returns false, having done nothing, if `collect` must be called instead. The mask is the caller's.
   */
  collectBlock?(block: number, mask: Uint32Array | null, count: number, bucket: number): boolean;
  /** Documents of a run of blocks, all of one owning bucket. Returns false, having done nothing if that is no gain. */
  collectRun?(run: SegmentRun, bucket: number): boolean;
  /** True if `collectBy` can be called for the open segment and that column. */
  takesBy?(column: KeywordColumn): boolean;
  /** Documents of a run, each in the bucket that belongs to its ordinal in a column of one value a document. */
  collectBy?(run: SegmentRun, by: OrdinalBuckets): void;
  /** Documents of a run that have a bucket by their ordinal. Returns false, having done nothing, if that is no gain. */
  collectChosen?(run: SegmentRun, chosen: ChosenOrdinals): boolean;
  /** True if segments may be opened, and their documents collected, after the search has left them. */
  readonly takesLate?: boolean;
  /** State of an owning bucket, also of one that had no documents. */
  state(bucket: number): State;
  /** Like `state`, in steps; there if that may take long. */
  steps?(bucket: number): Steps<State>;
}

/** Buckets of documents by their ordinals. */
export interface OrdinalBuckets {
  readonly column: KeywordColumn;
  /** Bucket of an ordinal; below 0: its documents are left out. */
  readonly bucketOf: (ordinal: number) => number;
}

/** Ordinals that have buckets, chosen before any documents are collected. */
export interface ChosenOrdinals {
  readonly column: KeywordColumn;
  /** Bucket of each ordinal; below 0: its documents are left out. Isn't changed anymore. */
  readonly byOrdinal: Int32Array;
  /** How many buckets there are. */
  readonly size: number;
}

/** Aggregations of a request or a bucket, by name. */
export type AggregationTree = ReadonlyMap<string, NamedAggregation> & {
  /** Pipelines beside them, in the order in which they are run. */
  readonly siblings?: readonly NamedPipeline[];
};

export interface NamedAggregation {
  readonly aggregation: Aggregation;
  /** See Aggregation.emptyLacksBounds: of itself or of one below it. */
  readonly emptyLacksBounds?: boolean;
  /** Pipelines below it that work on its buckets, in the order in which they are run. */
  readonly pipelines: readonly NamedPipeline[];
  /** Given back as it came. */
  readonly meta: JsonObject | undefined;
}

/** States of a tree, by name. */
export type TreeState = Readonly<Record<string, unknown>>;

/** Buckets that one shard collects at most, about 100 bytes each, and the share of the memory that they may take. */
const MAX_COLLECTED = 4_000_000;
const BUCKET_BYTES = 100;
const MEMORY_SHARE = 1 / 5;

/** Buckets of an answer from which on 7.x refuses it. */
const SOFT_LIMIT = 10_000;

/** Buckets beyond the first one of each document that a shard's documents are put into: some ten seconds. */
const MAX_FURTHER = 20_000_000;

/** Counts the buckets that a shard's collectors make. */
export class CollectBudget {
  /** Set by collectors that may put each document into thousands of buckets: they get few documents at a time. */
  isCostly = false;
  readonly #limit: number;
  #buckets = 0;
  #further = 0;

  constructor(limit = collectedAtMost()) {
    this.#limit = limit;
  }

  /** Counts the buckets of a document except for its first one. Throws request_invalid if those of all are too many. */
  chargeFurther(buckets: number): void {
    this.#further += Math.max(0, buckets);
    if (this.#further <= MAX_FURTHER) return;
    throw new AppError(
      "request_invalid",
      `the documents of one shard fall into buckets more than ${MAX_FURTHER} times; narrow the query, or use coarser buckets or fields of fewer values`,
    );
  }

  /** Throws memory_limit. */
  add(buckets = 1): void {
    this.#buckets += buckets;
    if (this.#buckets > this.#limit) {
      throw new AppError(
        "memory_limit",
        `the aggregation needs more than ${this.#limit} buckets in one shard; narrow the query, or use fewer or coarser buckets`,
      );
    }
  }
}

let ofProcess: number | undefined;

/** Returns how many buckets this process (its control group) has the memory for. To ask the system takes its time. */
function collectedAtMost(): number {
  return (ofProcess ??= limitOfMemory());
}

function limitOfMemory(): number {
  const constrained = process.constrainedMemory();
  const memory = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return Math.min(MAX_COLLECTED, Math.floor((memory * MEMORY_SHARE) / BUCKET_BYTES));
}

/** The time that a bucket covers. */
export interface BucketPeriod {
  readonly startMs: number;
  readonly endMs: number;
  /** Set if the buckets are this many months long. */
  readonly months: number | undefined;
}

/** Counts the buckets of an answer. */
export class BucketBudget {
  /** That of the innermost date_histogram whose bucket is being rendered. */
  period: BucketPeriod | undefined;
  readonly #limit: number;
  /** typed_keys of the request. */
  readonly typedKeys: boolean;
  #buckets = 0;

  constructor(limit: number, typedKeys: boolean) {
    this.#limit = limit;
    this.typedKeys = typedKeys;
  }

  /** Throws too_many_buckets. */
  add(buckets = 1): void {
    const before = this.#buckets;
    this.#buckets += buckets;
    if (before <= SOFT_LIMIT && this.#buckets > SOFT_LIMIT && this.#buckets <= this.#limit) {
      warnDeprecated(
        `This aggregation creates too many buckets (${SOFT_LIMIT + 1}) and will throw an error in future versions. You should update the [search.max_buckets] cluster setting or use the [composite] aggregation to paginate all buckets in multiple requests.`,
        { until: 700 },
      );
    }
    if (this.#buckets > this.#limit) throw this.#fault(this.#buckets);
  }

  /** Throws too_many_buckets immediately if this many more buckets would be too many; counts none. */
  checkCapacity(buckets: number): void {
    if (this.#buckets + buckets > this.#limit + 1) throw this.#fault(this.#limit + 1);
  }

  #fault(buckets: number): AppError {
    return new AppError(
      "too_many_buckets",
      `Trying to create too many buckets. Must be less than or equal to: [${this.#limit}] but was [${buckets}]. This limit can be set by changing the [search.max_buckets] cluster level setting.`,
      { data: { max_buckets: this.#limit } },
    );
  }
}
