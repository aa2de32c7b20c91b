/**
 * Aggregations in three steps: a collector per shard sees the matching documents in batches and keeps the state of every
 * bucket; states of shards are merged; the merged state is rendered. States are JSON, or compute parts of it on first
 * access.
 */

import { totalmem } from "node:os";
import { COLUMN_BLOCK, type KeywordColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { docsOfBlock, expandMask, loadBlock, type SegmentRun } from "#hub/search/columns/set-blocks.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { addSiblings, applyParents } from "./apply-pipelines.ts";
import type { NamedPipeline } from "./pipeline.ts";
import { isSteps, type Steps } from "./steps.ts";

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
  /** A number to order buckets by; `name` as in "stats.max". Undefined if there is none of that name. */
  metric?(state: State, name: string): number | undefined;
  /** Makes the empty bucket that follows one with that key; of histograms. */
  bucketAfter?(state: State, key: number): JsonObject;
  /** Prefix of the name with typed_keys. */
  typedName(state: State): string;
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

/** Aggregations of a request or a bucket, by name. */
export type AggregationTree = ReadonlyMap<string, NamedAggregation> & {
  /** Pipelines beside them, in the order in which they are run. */
  readonly siblings?: readonly NamedPipeline[];
};

export interface NamedAggregation {
  readonly aggregation: Aggregation;
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

  /** Counts the buckets of a document but for its first one. Throws request_invalid if those of all are too many. */
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

/** The collectors of a tree. */
export class TreeCollector {
  readonly #names: readonly string[];
  readonly #collectors: readonly Collector[];
  #docs = new Int32Array(0);
  #owners = new Int32Array(0);
  #mask = new Uint32Array(0);

  /** `isFinal`: see Aggregation.collector. */
  constructor(tree: AggregationTree, shard: ShardContext, budget: CollectBudget, isFinal = false) {
    this.#names = [...tree.keys()];
    this.#collectors = [...tree.values()].map(({ aggregation }) =>
      aggregation.collector(shard, budget, isFinal),
    );
  }

  get isEmpty(): boolean {
    return this.#collectors.length === 0;
  }

  /** See Collector.takesLate. */
  get takesLate(): boolean {
    return this.#collectors.every((collector) => collector.takesLate === true);
  }

  segment(segment: SegmentReader): void {
    for (const collector of this.#collectors) collector.segment(segment);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    for (const collector of this.#collectors) collector.collect(docs, buckets, length);
  }

  /** See Collector.collectBlock; done in any case. */
  collectBlock(block: number, mask: Uint32Array | null, count: number, bucket: number): void {
    this.#blockOf(this.#collectors, block, mask, count, bucket);
  }

  /** See Collector.collectRun; done in any case. */
  collectRun(run: SegmentRun, bucket: number): void {
    const left = this.#collectors.filter((collector) => collector.collectRun?.(run, bucket) !== true);
    if (left.length === 0) return;
    if (this.#mask.length === 0) this.#mask = new Uint32Array(COLUMN_BLOCK / 32);
    const mask = this.#mask;
    for (let block = run.from; block < run.to; block++) {
      const count = loadBlock(run, block, mask);
      const isWhole = count === docsOfBlock(run, block);
      if (count > 0) this.#blockOf(left, block, isWhole ? null : mask, count, bucket);
    }
  }

  /** True if `collectBy` can be called. */
  takesBy(column: KeywordColumn): boolean {
    return this.#collectors.every((collector) => collector.takesBy?.(column) === true);
  }

  /** See Collector.collectBy. */
  collectBy(run: SegmentRun, by: OrdinalBuckets): void {
    for (const collector of this.#collectors) collector.collectBy!(run, by);
  }

  state(bucket: number): TreeState {
    const state: Record<string, unknown> = {};
    for (const [at, collector] of this.#collectors.entries())
      state[this.#names[at]!] = collector.state(bucket);
    return state;
  }

  /** See Collector.steps. */
  *steps(bucket: number): Steps<TreeState> {
    const state: Record<string, unknown> = {};
    for (const [at, collector] of this.#collectors.entries()) {
      const steps = collector.steps?.(bucket);
      state[this.#names[at]!] = steps === undefined ? collector.state(bucket) : yield* steps;
    }
    return state;
  }

  #blockOf(
    collectors: readonly Collector[],
    block: number,
    mask: Uint32Array | null,
    count: number,
    bucket: number,
  ): void {
    let expanded = false;
    for (const collector of collectors) {
      if (collector.collectBlock?.(block, mask, count, bucket) === true) continue;
      if (!expanded) {
        if (this.#docs.length === 0) {
          this.#docs = new Int32Array(COLUMN_BLOCK);
          this.#owners = new Int32Array(COLUMN_BLOCK);
        }
        expandMask(block, mask, count, this.#docs);
        this.#owners.fill(bucket, 0, count);
        expanded = true;
      }
      collector.collect(this.#docs, this.#owners, count);
    }
  }
}

/** Merges the states of one bucket. */
export function* mergeTree(tree: AggregationTree, states: readonly TreeState[]): Steps<TreeState> {
  const merged: Record<string, unknown> = {};
  for (const [name, { aggregation }] of tree) {
    const parts = states.map((state) => state[name]).filter((state) => state !== undefined);
    const made = parts.length === 0 ? aggregation.empty() : aggregation.merge(parts);
    merged[name] = isSteps(made) ? yield* made : made;
  }
  return merged;
}

/** Returns the state of a bucket without documents. */
export function emptyTree(tree: AggregationTree): TreeState {
  return Object.fromEntries([...tree].map(([name, { aggregation }]) => [name, aggregation.empty()]));
}

/** Renders the answers of a bucket's aggregations. */
export function* renderTree(
  tree: AggregationTree,
  state: TreeState,
  budget: BucketBudget,
): Steps<JsonObject> {
  const rendered: JsonObject = {};
  for (const [name, { aggregation, pipelines, meta }] of tree) {
    const own = state[name] ?? aggregation.empty();
    const key = budget.typedKeys ? `${aggregation.typedName(own)}#${name}` : name;
    const made = aggregation.render(own, budget);
    let answer = isSteps(made) ? yield* made : made;
    if (pipelines.length > 0) {
      const after =
        aggregation.bucketAfter &&
        ((bucket: number) => {
          budget.add();
          return aggregation.bucketAfter!(own, bucket);
        });
      answer = yield* applyParents(answer, pipelines, budget.typedKeys, after);
    }
    rendered[key] = { ...(meta === undefined ? {} : { meta }), ...answer };
  }
  if (tree.siblings !== undefined) addSiblings(rendered, tree.siblings, budget.typedKeys);
  return rendered;
}
