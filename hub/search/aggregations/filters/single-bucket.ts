/** Aggregations whose documents make one bucket: filter, missing, global, sampler. */

import {
  emptyFixed,
  FixedCollector,
  type FixedState,
  mergeFixed,
} from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import {
  type Aggregation,
  type AggregationTree,
  type BucketBudget,
  type CollectBudget,
  type Collector,
  renderTree,
} from "#hub/search/aggregations/tree/aggregation.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { QuerySorter } from "./query-sorter.ts";

/** Collects what comes into the bucket of a shard. */
export type Collect = (
  shard: ShardContext,
  budget: CollectBudget,
  below: AggregationTree,
) => Collector<FixedState>;

export class SingleBucket implements Aggregation<FixedState> {
  readonly #name: string;
  readonly #below: AggregationTree;
  readonly #collect: Collect;

  /** `name` is the aggregation's name in requests. */
  constructor(name: string, below: AggregationTree, collect: Collect) {
    this.#name = name;
    this.#below = below;
    this.#collect = collect;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    return this.#collect(shard, budget, this.#below);
  }

  merge(states: readonly FixedState[]): FixedState {
    return mergeFixed(states, this.#below);
  }

  render([bucket]: FixedState, budget: BucketBudget): JsonObject {
    budget.add();
    return { doc_count: bucket!.count, ...renderTree(this.#below, bucket!.below, budget) };
  }

  empty(): FixedState {
    return emptyFixed(1, this.#below);
  }

  /** Buckets of an aggregation above can be ordered by how many documents are in this one. */
  metric([bucket]: FixedState, name: string): number | undefined {
    return name === "" || name === "_count" ? bucket!.count : undefined;
  }

  typedName(): string {
    return this.#name;
  }
}

/** Returns what collects the documents of a query. */
export function collectQuery(query: Query): Collect {
  return (shard, budget, below) =>
    new FixedCollector(1, new QuerySorter([query], undefined, shard), below, shard, budget);
}
