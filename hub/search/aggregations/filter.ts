/** `filter`: the documents of a query, as one bucket. */

import type { JsonObject } from "../json.ts";
import type { Query, ShardContext } from "../query.ts";
import {
  type Aggregation,
  type AggregationTree,
  type BucketBudget,
  type CollectBudget,
  type Collector,
  renderTree,
} from "./aggregation.ts";
import type { AggregationType } from "./aggregation-parser.ts";
import { emptyFixed, FixedCollector, type FixedState, mergeFixed } from "./fixed-buckets.ts";
import { QuerySorter } from "./query-sorter.ts";

export const filter: AggregationType = {
  name: "filter",
  summary: "The documents of a query, as one bucket.",
  options: {},
  buckets: true,
  parse: (body, { below, queries }) => new Filter(queries.parse(body), below),
};

class Filter implements Aggregation<FixedState> {
  readonly #query: Query;
  readonly #below: AggregationTree;

  constructor(query: Query, below: AggregationTree) {
    this.#query = query;
    this.#below = below;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    return new FixedCollector(
      1,
      new QuerySorter([this.#query], undefined, shard),
      this.#below,
      shard,
      budget,
    );
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

  metric([bucket]: FixedState, name: string): number | undefined {
    return name === "" || name === "_count" ? bucket!.count : undefined;
  }

  typedName(): string {
    return "filter";
  }
}
