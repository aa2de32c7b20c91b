/** `filters`: a bucket for each of several queries. */

import {
  emptyFixed,
  FixedCollector,
  type FixedState,
  mergeFixed,
} from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { anything, flag, text } from "#hub/search/options/options.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { QuerySorter } from "./single-bucket.ts";

const OPTIONS = {
  filters: anything("queries, as an object by name or a list"),
  other_bucket: flag("whether documents that match none of the queries get a bucket", false),
  other_bucket_key: text("name of that bucket", undefined),
} as const;

export const filters: AggregationType = {
  name: "filters",
  summary: "A bucket for each of several queries.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below, queries }) {
    const options = readAggregation("filters", body, OPTIONS);
    const given = options.filters;
    if (given === undefined || given === null)
      throw new AppError("parsing", `[filters] cannot be empty in aggregation [${name}]`);
    if (!isObject(given) && !Array.isArray(given)) {
      throw new AppError("parsing", "[filters] must be an object of queries by name or a list of queries");
    }
    if (Object.keys(given).length === 0)
      throw new AppError("request_invalid", `[filters] cannot be empty in aggregation [${name}]`);
    const names = Array.isArray(given) ? undefined : Object.keys(given).sort();
    const list =
      names === undefined ? (given as unknown[]) : names.map((name) => (given as JsonObject)[name]);
    const other = options.other_bucket === true || options.other_bucket_key !== undefined;
    return new Filters(
      list.map((each) => queries.parse(each)),
      names,
      other ? (options.other_bucket_key ?? "_other_") : undefined,
      below,
    );
  },
};

class Filters implements Aggregation<FixedState> {
  readonly #queries: readonly Query[];
  readonly #names: readonly string[] | undefined;
  readonly #other: string | undefined;
  readonly #below: AggregationTree;
  readonly #size: number;

  constructor(
    queries: readonly Query[],
    names: readonly string[] | undefined,
    other: string | undefined,
    below: AggregationTree,
  ) {
    this.#queries = queries;
    this.#names = names;
    this.#other = other;
    this.#below = below;
    this.#size = queries.length + (other === undefined ? 0 : 1);
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    const other = this.#other === undefined ? undefined : this.#queries.length;
    return new FixedCollector(
      this.#size,
      new QuerySorter(this.#queries, other, shard),
      this.#below,
      shard,
      budget,
    );
  }

  merge(states: readonly FixedState[]): Steps<FixedState> {
    return mergeFixed(states, this.#below);
  }

  *render(state: FixedState, budget: BucketBudget): Steps<JsonObject> {
    budget.add(state.length);
    const buckets: JsonObject[] = [];
    for (const { count, below } of state) {
      yield;
      buckets.push({ doc_count: count, ...(yield* renderTree(this.#below, below, budget)) });
    }
    if (this.#names === undefined) return { buckets };
    const names = [...this.#names, ...(this.#other === undefined ? [] : [this.#other])];
    return { buckets: Object.fromEntries(buckets.map((bucket, at) => [names[at], bucket])) };
  }

  empty(): FixedState {
    return emptyFixed(this.#size, this.#below);
  }

  typedName(): string {
    return "filters";
  }
}
