/** Buckets of `terms`: cut to size on a shard, merged over shards, ordered and rendered. */

import { AddressOrder } from "#hub/search/aggregations/tree/address-order.ts";
import type {
  AggregationTree,
  BucketBudget,
  CollectBudget,
  TreeState,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { mergeTree, renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { compareNumberKeys } from "#hub/search/aggregations/tree/bucket-order.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { commonFormat, printValue, RAW, type ValueFormat } from "#hub/search/columns/value-format.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { LateBucket } from "#hub/search/wire/late-bucket.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { type CollectedTerms, firstTerms, type TermsOrder } from "./first-terms.ts";
import type { TermFilter } from "./terms-filter.ts";

export interface TermBucket {
  /** Text, a number, or the digits of a whole number beyond 2^53. */
  readonly key: string | number;
  readonly count: number;
  readonly below: TreeState;
}

/** If there are many buckets, the states below them are computed on demand. */
export interface TermsState {
  readonly buckets: readonly TermBucket[];
  /** Documents of buckets that were cut off. */
  readonly others: number;
  /** Largest count that a bucket cut off may have had. */
  readonly errorBound: number;
  /** Number of shards that were counted; with a single shard, counts are exact. */
  readonly parts: number;
  /** Type of the keys; "unmapped" if the shard doesn't have the field. */
  readonly kind: "text" | "long" | "double" | "unmapped";
  readonly format: ValueFormat;
  /** True if keys are texts of addresses, whose order is that of the addresses. */
  readonly areAddresses?: boolean;
  /** Of rare terms: hashes of the keys that have too many documents here (see keyHash). */
  readonly frequent?: readonly number[];
}

export interface TermsShape extends TermsOrder {
  readonly size: number;
  readonly minDocCount: number;
  readonly showError: boolean;
}

/** The state of a shard without the field. */
export const NO_TERMS: TermsState = {
  buckets: [],
  others: 0,
  errorBound: 0,
  parts: 0,
  kind: "unmapped",
  format: RAW,
};

/** What collectors of terms need. */
export interface TermsContext {
  readonly shard: ShardContext;
  readonly budget: CollectBudget;
  readonly shape: TermsShape;
  readonly shardSize: number;
  /** True if the state isn't merged with others: it needs no more buckets than the answer has. */
  readonly isFinal?: boolean;
  readonly filter: TermFilter | undefined;
  /** Chooses what an owner's shard returns; without it that are the first buckets by the shape's order. */
  readonly choose?: (terms: CollectedTerms) => Steps<HandedOn>;
}

/** Buckets a shard returns at least, so that merged counts stay exact for all but huge sets. */
const MIN_HANDED_ON = 10_000;

/**
 * Up to this number of buckets the states below them are computed immediately: the state is then plain data, which can
 * be cached.
 */
const MAX_MADE = 1000;

/** Buckets between two pauses. */
const STEP_BUCKETS = 64;

/** Buckets with nothing below them that are rendered between two pauses. */
const STEP_LEAVES = 8;

/** Maximum number of buckets that all owners of a shard together return in addition to the requested ones. */
const MAX_HANDED_ON = 100_000;

/** Returns how many buckets a shard returns for each of this many owners. */
export function handedOn(
  { shape, shardSize, isFinal }: Pick<TermsContext, "shape" | "shardSize" | "isFinal">,
  owners = 1,
): number {
  // Buckets below a larger minimum aren't among the others of the answer.
  if (isFinal === true && shape.minDocCount <= 1) return shape.size;
  return Math.max(shardSize, Math.min(MIN_HANDED_ON, Math.floor(MAX_HANDED_ON / owners)));
}

/** The buckets that a shard returns. */
export type HandedOn = Pick<TermsState, "buckets" | "others" | "errorBound" | "frequent">;

/** The state of terms that are text, of one shard. */
export function textState(handed: HandedOn): TermsState {
  return { ...handed, parts: 1, kind: "text", format: RAW };
}

/** Chooses what a shard returns for one of this many owners, in steps. */
export function handOn(context: TermsContext, terms: CollectedTerms, owners: number): Steps<HandedOn> {
  if (context.choose !== undefined) return context.choose(terms);
  return cutSteps(terms, context.shape, handedOn(context, owners));
}

/** Keeps the first buckets of a shard. */
export function cutTerms(terms: CollectedTerms, shape: TermsShape, shardSize: number): HandedOn {
  return atOnce(cutSteps(terms, shape, handedOn({ shape, shardSize })));
}

/** Keeps the first `keep` buckets, in steps. */
function* cutSteps(terms: CollectedTerms, shape: TermsShape, keep: number): Steps<HandedOn> {
  if (terms.length <= keep) {
    const buckets: TermBucket[] = [];
    for (let at = 0; at < terms.length; at++) buckets.push(yield* bucketOf(terms, at, shape));
    return { buckets, others: 0, errorBound: 0 };
  }
  let others = 0;
  for (let at = 0; at < terms.length; at++) others += terms.count(at);
  const kept = yield* firstTerms(terms, shape, keep);
  const buckets: TermBucket[] = [];
  for (const at of kept) {
    others -= terms.count(at);
    buckets.push(yield* bucketOf(terms, at, shape));
  }
  return { buckets, others, errorBound: isMostFrequent(shape) ? terms.count(kept.at(-1)!) : 0 };
}

function isMostFrequent({ order: [first] }: TermsShape): boolean {
  return first?.by === "count" && first.descending;
}

/** Makes the bucket of a term; if there are many, the states below are computed on demand. */
export function* bucketOf(
  terms: CollectedTerms,
  at: number,
  { below }: Pick<TermsShape, "below">,
): Steps<TermBucket> {
  const [key, count] = [terms.key(at), terms.count(at)];
  if (at % STEP_BUCKETS === 0) yield;
  if (below.size === 0) return { key, count, below: {} };
  // If there are many, most are never shown.
  if (terms.length > MAX_MADE) return new LateBucket(key, count, () => terms.below(at));
  return { key, count, below: yield* terms.belowSteps(at) };
}

/** The first `count` buckets in their order. */
function* firstBuckets(
  buckets: readonly TermBucket[],
  shape: TermsShape,
  count: number,
  { areAddresses = false, kind }: Pick<TermsState, "areAddresses" | "kind">,
): Steps<TermBucket[]> {
  const addresses = areAddresses ? new AddressOrder() : undefined;
  const terms = {
    length: buckets.length,
    count: (at: number) => buckets[at]!.count,
    key: (at: number) => buckets[at]!.key,
    below: (at: number) => buckets[at]!.below,
    ...(kind === "long" && {
      compareKeys: (a: number, b: number) => compareNumberKeys(buckets[a]!.key, buckets[b]!.key),
    }),
    ...(addresses !== undefined && {
      compareKeys: (a: number, b: number) =>
        addresses.compare(String(buckets[a]!.key), String(buckets[b]!.key)),
    }),
  };
  return Array.from(yield* firstTerms(terms, shape, count), (at) => buckets[at]!);
}

/** Merges states of shards. */
export function* mergeTerms(states: readonly TermsState[], below: AggregationTree): Steps<TermsState> {
  if (states.length === 1) return states[0]!;
  const merged: TermBucket[] = [];
  for (const same of (yield* bucketsByKey(states)).values()) {
    if (merged.length % STEP_BUCKETS === STEP_BUCKETS - 1) yield;
    merged.push(mergeBuckets(same, below));
  }
  return {
    buckets: merged,
    others: states.reduce((total, state) => total + state.others, 0),
    errorBound: states.reduce((total, state) => total + state.errorBound, 0),
    parts: states.reduce((total, state) => total + state.parts, 0),
    kind: states.map((state) => state.kind).reduce(commonKind),
    format: states.map((state) => state.format).reduce(commonFormat),
    ...(states.some((state) => state.areAddresses === true) && { areAddresses: true }),
  };
}

/** Returns the buckets of several states by their keys, in the order in which keys were met. */
export function* bucketsByKey<Bucket extends { readonly key: string | number }>(
  states: readonly { readonly buckets: readonly Bucket[] }[],
): Steps<ReadonlyMap<Bucket["key"], readonly Bucket[]>> {
  const byKey = new Map<Bucket["key"], Bucket[]>();
  for (const { buckets } of states) {
    for (const [at, bucket] of buckets.entries()) {
      if (at % STEP_BUCKETS === STEP_BUCKETS - 1) yield;
      const same = byKey.get(bucket.key);
      if (same === undefined) byKey.set(bucket.key, [bucket]);
      else same.push(bucket);
    }
  }
  return byKey;
}

/** Kinds of keys; of two in one answer the first in the list is named. */
const KINDS = ["text", "double", "long", "unmapped"] as const satisfies readonly TermsState["kind"][];

function commonKind(a: TermsState["kind"], b: TermsState["kind"]): TermsState["kind"] {
  return KINDS.indexOf(a) < KINDS.indexOf(b) ? a : b;
}

function mergeBuckets(same: readonly TermBucket[], below: AggregationTree): TermBucket {
  const [first] = same;
  if (same.length === 1) return first!;
  const count = same.reduce((total, bucket) => total + bucket.count, 0);
  return new LateBucket(first!.key, count, () =>
    atOnce(
      mergeTree(
        below,
        same.map((bucket) => bucket.below),
      ),
    ),
  );
}

/** What renderTerms returns. */
export interface RenderedTerms extends JsonObject {
  readonly buckets: readonly JsonObject[];
}

/** Renders the first `size` buckets. */
export function* renderTerms(
  state: TermsState,
  shape: TermsShape,
  budget: BucketBudget,
): Steps<RenderedTerms> {
  const wanted = state.buckets.filter((bucket) => bucket.count >= shape.minDocCount);
  const total = wanted.reduce((sum, bucket) => sum + bucket.count, 0);
  const shown = yield* firstBuckets(wanted, shape, shape.size, state);
  budget.add(shown.length);
  const buckets: JsonObject[] = [];
  const isLeaf = shape.below.size === 0 && shape.below.siblings === undefined;
  for (const bucket of shown) {
    if (!isLeaf || buckets.length % STEP_LEAVES === STEP_LEAVES - 1) yield;
    const own = ownMembers(bucket, state, shape);
    // Most have nothing below; a generator for each would cost more than the bucket.
    buckets.push(isLeaf ? own : { ...own, ...(yield* renderTree(shape.below, bucket.below, budget)) });
  }
  const inShown = shown.reduce((sum, bucket) => sum + bucket.count, 0);
  return {
    doc_count_error_upper_bound: errorOf(state),
    sum_other_doc_count: state.others + total - inShown,
    buckets,
  };
}

/** Documents that counts may be off by. */
function errorOf({ parts, errorBound }: TermsState): number {
  return parts > 1 ? errorBound : 0;
}

/** Returns a key as the answer has it. */
export function shownKey(key: string | number, kind: TermsState["kind"]): unknown {
  if (typeof key === "number") return kind === "double" ? fraction(key) : key;
  return kind === "long" ? BigInt(key) : key;
}

/** Returns a bucket without the aggregations below it. */
function ownMembers({ key, count }: TermBucket, state: TermsState, shape: TermsShape): JsonObject {
  const shown = shownKey(key, state.kind);
  const value = typeof key === "number" ? key : shown;
  const isNumber = typeof value === "number" || typeof value === "bigint";
  const printed = isNumber ? printValue(state.format, value) : undefined;
  return {
    key: shown,
    ...(printed === undefined ? {} : { key_as_string: printed }),
    doc_count: count,
    ...(shape.showError ? { doc_count_error_upper_bound: errorOf(state) } : {}),
  };
}
