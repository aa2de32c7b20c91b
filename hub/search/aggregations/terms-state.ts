/** Buckets of `terms`: merged over shards, ordered, cut to size, rendered. */

import type { JsonObject } from "../json.ts";
import type { ShardContext } from "../query.ts";
import { printValue, type ValueFormat } from "../value-format.ts";
import {
  type AggregationTree,
  type BucketBudget,
  type CollectBudget,
  mergeTree,
  renderTree,
  type TreeState,
} from "./aggregation.ts";
import { type BucketOrder, compareBuckets } from "./bucket-order.ts";
import type { TermFilter } from "./terms-filter.ts";

export interface TermBucket {
  /** Text, a number, or the digits of a whole number beyond 2^53. */
  readonly key: string | number;
  readonly count: number;
  readonly below: TreeState;
}

/** JSON-able. */
export interface TermsState {
  readonly buckets: readonly TermBucket[];
  /** Documents of buckets that were cut off. */
  readonly others: number;
  /** Largest count that a bucket cut off may have had. */
  readonly errorBound: number;
  /** What the keys are; "unmapped" where the shard doesn't know the field. */
  readonly kind: "text" | "long" | "double" | "unmapped";
  readonly format: ValueFormat;
}

export interface TermsShape {
  readonly below: AggregationTree;
  readonly size: number;
  readonly minDocCount: number;
  readonly order: readonly BucketOrder[];
  readonly showError: boolean;
}

/** What collectors of terms need. */
export interface TermsContext {
  readonly shard: ShardContext;
  readonly budget: CollectBudget;
  readonly shape: TermsShape;
  readonly shardSize: number;
  readonly filter: TermFilter | undefined;
}

/** Buckets a shard hands on at least, so that merged counts stay exact for all but huge sets. */
const MIN_HANDED_ON = 10_000;

/** Returns how many buckets a shard hands on. */
export function handedOn(shardSize: number): number {
  return Math.max(shardSize, MIN_HANDED_ON);
}

/** Keeps the first buckets of a shard. */
export function cutTerms(
  buckets: TermBucket[],
  shape: TermsShape,
  shardSize: number,
): Pick<TermsState, "buckets" | "others" | "errorBound"> {
  const keep = handedOn(shardSize);
  if (buckets.length <= keep) return { buckets, others: 0, errorBound: 0 };
  const all = buckets.reduce((total, { count }) => total + count, 0);
  const kept = firstBuckets(buckets, shape, keep);
  return {
    buckets: kept,
    others: all - kept.reduce((total, { count }) => total + count, 0),
    errorBound: isMostFrequent(shape) ? kept.at(-1)!.count : 0,
  };
}

function isMostFrequent({ order: [first] }: TermsShape): boolean {
  return first?.by === "count" && first.descending;
}

/** The first `count` buckets in their order. `buckets` is reordered. */
function firstBuckets(buckets: TermBucket[], shape: TermsShape, count: number): TermBucket[] {
  const compare = compareBuckets(shape.order, shape.below);
  if (buckets.length <= count || !isMostFrequent(shape)) return buckets.sort(compare).slice(0, count);
  // Only those as frequent as the last one wanted have to be told apart by the rest of the order.
  const counts = Float64Array.from(buckets, (bucket) => bucket.count).sort();
  const least = counts[counts.length - count]!;
  return buckets
    .filter((bucket) => bucket.count >= least)
    .sort(compare)
    .slice(0, count);
}

/** Merges states of shards. */
export function mergeTerms(states: readonly TermsState[], below: AggregationTree): TermsState {
  if (states.length === 1) return states[0]!;
  const byKey = new Map<string | number, TermBucket[]>();
  for (const bucket of states.flatMap((state) => state.buckets)) {
    const same = byKey.get(bucket.key);
    if (same === undefined) byKey.set(bucket.key, [bucket]);
    else same.push(bucket);
  }
  const known = states.find((state) => state.kind !== "unmapped") ?? states[0]!;
  return {
    buckets: [...byKey.values()].map((same) => ({
      key: same[0]!.key,
      count: same.reduce((total, bucket) => total + bucket.count, 0),
      below:
        same.length === 1
          ? same[0]!.below
          : mergeTree(
              below,
              same.map((bucket) => bucket.below),
            ),
    })),
    others: states.reduce((total, state) => total + state.others, 0),
    errorBound: states.reduce((total, state) => total + state.errorBound, 0),
    kind: known.kind,
    format: known.format,
  };
}

/** Renders the first `size` buckets. */
export function renderTerms(state: TermsState, shape: TermsShape, budget: BucketBudget): JsonObject {
  const wanted = state.buckets.filter((bucket) => bucket.count >= shape.minDocCount);
  const total = wanted.reduce((sum, bucket) => sum + bucket.count, 0);
  const shown = firstBuckets(wanted, shape, shape.size);
  budget.add(shown.length);
  const inShown = shown.reduce((sum, bucket) => sum + bucket.count, 0);
  return {
    doc_count_error_upper_bound: state.errorBound,
    sum_other_doc_count: state.others + total - inShown,
    buckets: shown.map((bucket) => renderBucket(bucket, state, shape, budget)),
  };
}

function renderBucket(
  { key, count, below }: TermBucket,
  state: TermsState,
  shape: TermsShape,
  budget: BucketBudget,
): JsonObject {
  const printed = typeof key === "number" ? printValue(state.format, key) : undefined;
  return {
    key: typeof key === "string" && state.kind === "long" ? BigInt(key) : key,
    ...(printed === undefined ? {} : { key_as_string: printed }),
    doc_count: count,
    ...(shape.showError ? { doc_count_error_upper_bound: state.errorBound } : {}),
    ...renderTree(shape.below, below, budget),
  };
}
