/**
 * `adjacency_matrix`: a bucket for each of several queries and for each pair of them that shares documents.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  emptyFixed,
  FixedCollector,
  type FixedState,
  mergeFixed,
  type Sorter,
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
import { object, required, text } from "#hub/search/options/options.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { QuerySorter } from "./single-bucket.ts";

const OPTIONS = {
  filters: required(object("queries by name")),
  separator: text("separator between two names", "&"),
} as const;

/** index.max_adjacency_matrix_filters. */
const MAX_FILTERS = 100;

export const adjacencyMatrix: AggregationType = {
  name: "adjacency_matrix",
  summary: "A bucket for each of several queries and for each two of them.",
  options: OPTIONS,
  buckets: true,
  parse(body, { below, queries }) {
    const options = readAggregation("adjacency_matrix", body, OPTIONS);
    const filters: JsonObject = options.filters ?? {};
    const names = Object.keys(filters).sort();
    if (names.length > MAX_FILTERS) {
      throw new AppError(
        "request_invalid",
        `Number of filters is too large, must be less than or equal to: [${MAX_FILTERS}] but was [${names.length}]. This limit can be set by changing the [index.max_adjacency_matrix_filters] index level setting.`,
      );
    }
    const list = names.map((name) => queries.parse(filters[name]));
    return new AdjacencyMatrix(list, keysOf(names, options.separator ?? "&"), below);
  },
};

/** Names of the queries, then of their pairs in the order of `pairBucket`. */
function keysOf(names: readonly string[], separator: string): string[] {
  const pairs = names.flatMap((first, at) =>
    names.slice(at + 1).map((second) => `${first}${separator}${second}`),
  );
  return [...names, ...pairs];
}

/** Returns the bucket of the pair of the queries `a` < `b` of `count`. */
function pairBucket(a: number, b: number, count: number): number {
  return count + a * count - (a * (a + 1)) / 2 + (b - a - 1);
}

class AdjacencyMatrix implements Aggregation<FixedState> {
  readonly #queries: readonly Query[];
  readonly #keys: readonly string[];
  readonly #below: AggregationTree;

  constructor(queries: readonly Query[], keys: readonly string[], below: AggregationTree) {
    this.#queries = queries;
    this.#keys = keys;
    this.#below = below;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    const sorter = new PairSorter(new QuerySorter(this.#queries, undefined, shard), this.#queries.length);
    return new FixedCollector(this.#keys.length, sorter, this.#below, shard, budget);
  }

  merge(states: readonly FixedState[]): Steps<FixedState> {
    return mergeFixed(states, this.#below);
  }

  *render(state: FixedState, budget: BucketBudget): Steps<JsonObject> {
    const wanted = state
      .map(({ count, below }, at) => ({ key: this.#keys[at]!, count, below }))
      .filter(({ count }) => count > 0)
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    budget.add(wanted.length);
    const buckets: JsonObject[] = [];
    for (const { key, count, below } of wanted) {
      yield;
      buckets.push({ key, doc_count: count, ...(yield* renderTree(this.#below, below, budget)) });
    }
    return { buckets };
  }

  empty(): FixedState {
    return emptyFixed(this.#keys.length, this.#below);
  }

  typedName(): string {
    return "adjacency_matrix";
  }
}

/** Adds the pairs of the queries that a document matches. */
class PairSorter implements Sorter {
  readonly #single: Sorter;
  readonly #count: number;

  constructor(single: Sorter, count: number) {
    this.#single = single;
    this.#count = count;
  }

  segment(segment: SegmentReader): void {
    this.#single.segment(segment);
  }

  sort(docs: Int32Array, length: number, put: (index: number, bucket: number) => void): void {
    let current = -1;
    let matched: number[] = [];
    this.#single.sort(docs, length, (index, bucket) => {
      if (index !== current) matched = [];
      current = index;
      put(index, bucket);
      for (const other of matched) put(index, pairBucket(other, bucket, this.#count));
      matched.push(bucket);
    });
  }
}
