/** `missing`: the documents without a value of a field, as one bucket. */

import type { JsonObject } from "../json.ts";
import { BooleanNode } from "../nodes/boolean.ts";
import { ExistsNode } from "../nodes/documents.ts";
import { anything, text } from "../options.ts";
import type { Query, ShardContext } from "../query.ts";
import {
  type Aggregation,
  type AggregationTree,
  type BucketBudget,
  type CollectBudget,
  type Collector,
  renderTree,
} from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { requireField } from "./field-option.ts";
import { emptyFixed, FixedCollector, type FixedState, mergeFixed } from "./fixed-buckets.ts";
import { QuerySorter } from "./query-sorter.ts";

const OPTIONS = { field: text("field", undefined), missing: anything("accepted") } as const;

export const missing: AggregationType = {
  name: "missing",
  summary: "The documents without a value of a field, as one bucket.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("missing", body, OPTIONS);
    return new Missing(
      new BooleanNode({ mustNot: [new ExistsNode(requireField(options.field, name))] }),
      below,
    );
  },
};

class Missing implements Aggregation<FixedState> {
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

  typedName(): string {
    return "missing";
  }
}
