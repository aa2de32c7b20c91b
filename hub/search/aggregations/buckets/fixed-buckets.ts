/** Aggregations whose buckets are given by the request: filters, ranges, missing, global. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type {
  AggregationTree,
  CollectBudget,
  Collector,
  TreeState,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { emptyTree, mergeTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { BucketCollector } from "./bucket-collector.ts";

/** JSON-able; one entry for each bucket of the request. */
export type FixedState = readonly { readonly count: number; readonly below: TreeState }[];

/** Puts documents into some of `size` buckets: `sort` calls `put(index in the batch, bucket)` ascending by index. */
export interface Sorter {
  segment(segment: SegmentReader): void;
  sort(docs: Int32Array, length: number, put: (index: number, bucket: number) => void): void;
}

export class FixedCollector implements Collector<FixedState> {
  readonly #size: number;
  readonly #sorter: Sorter;
  readonly #buckets: BucketCollector;
  readonly #budget: CollectBudget;
  /** Owners whose buckets are paid for. */
  #owners = 0;

  constructor(
    size: number,
    sorter: Sorter,
    below: AggregationTree,
    shard: ShardContext,
    budget: CollectBudget,
  ) {
    this.#budget = budget;
    this.#size = size;
    this.#sorter = sorter;
    this.#buckets = new BucketCollector(below, shard, budget);
  }

  /** True if the aggregations below get documents after the search has left their segments. */
  get belowTakesLate(): boolean {
    return this.#buckets.takesLate;
  }

  segment(segment: SegmentReader): void {
    this.#sorter.segment(segment);
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    let owned = this.#owners;
    for (let at = 0; at < length; at++) owned = Math.max(owned, owners[at]! + 1);
    this.#budget.add((owned - this.#owners) * this.#size);
    this.#owners = owned;
    this.#sorter.sort(docs, length, (index, bucket) => {
      this.#buckets.add(docs[index]!, owners[index]! * this.#size + bucket);
    });
    this.#buckets.flush();
  }

  state(owner: number): FixedState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<FixedState> {
    const state: FixedState[number][] = [];
    for (let bucket = owner * this.#size; state.length < this.#size; bucket++) {
      const count = this.#buckets.count(bucket);
      state.push({ count, below: yield* this.#buckets.belowSteps(bucket) });
    }
    return state;
  }
}

/** Merges states of shards, bucket by bucket. */
export function* mergeFixed(states: readonly FixedState[], below: AggregationTree): Steps<FixedState> {
  const merged: FixedState[number][] = [];
  for (const at of states[0]!.keys()) {
    yield;
    const same = states.map((state) => state[at]!);
    merged.push({
      count: same.reduce((total, { count }) => total + count, 0),
      below: yield* mergeTree(
        below,
        same.map((bucket) => bucket.below),
      ),
    });
  }
  return merged;
}

/** State of `size` buckets without documents. */
export function emptyFixed(size: number, below: AggregationTree): FixedState {
  return Array.from({ length: size }, () => ({ count: 0, below: emptyTree(below) }));
}

/** Rendered buckets as an object by their keys. */
export function byKey(buckets: readonly (JsonObject & { readonly key: string })[]): JsonObject {
  return Object.fromEntries(buckets.map(({ key, ...bucket }) => [key, bucket]));
}
