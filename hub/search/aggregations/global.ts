/** `global`: all documents of the indices, whatever the query; only at the top. */

import type { JsonObject } from "../json.ts";
import type { ShardContext } from "../query.ts";
import {
  type Aggregation,
  type AggregationTree,
  type BucketBudget,
  type CollectBudget,
  type Collector,
  renderTree,
} from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { emptyFixed, FixedCollector, type FixedState, mergeFixed } from "./fixed-buckets.ts";

export const global: AggregationType = {
  name: "global",
  summary: "All documents of the indices, whatever the query.",
  options: {},
  buckets: true,
  parse(body, { below }) {
    readAggregation("global", body, {});
    return new Global(below);
  },
};

/** Collected apart from the other aggregations: its collector is to be given every live document. */
export class Global implements Aggregation<FixedState> {
  readonly #below: AggregationTree;

  constructor(below: AggregationTree) {
    this.#below = below;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    const sorter = {
      segment: (): void => undefined,
      sort(_docs: Int32Array, length: number, put: (place: number, bucket: number) => void): void {
        for (let place = 0; place < length; place++) put(place, 0);
      },
    };
    return new FixedCollector(1, sorter, this.#below, shard, budget);
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

  typedName(): string {
    return "global";
  }
}
