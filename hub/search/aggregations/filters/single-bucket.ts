/** Aggregations whose documents make one bucket: filter, missing, global, sampler. */

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
  NamedAggregation,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { metricBelow } from "#hub/search/aggregations/tree/bucket-order.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { anything, text } from "#hub/search/options/options.ts";
import { NO_MORE_DOCS, type Query, type ShardContext, type Weight } from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { JsonObject } from "#proto/kit/json.ts";

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

  merge(states: readonly FixedState[]): Steps<FixedState> {
    return mergeFixed(states, this.#below);
  }

  *render([bucket]: FixedState, budget: BucketBudget): Steps<JsonObject> {
    budget.add();
    return { doc_count: bucket!.count, ...(yield* renderTree(this.#below, bucket!.below, budget)) };
  }

  empty(): FixedState {
    return emptyFixed(1, this.#below);
  }

  /** Buckets of an aggregation above can be ordered by how many documents are in this one. */
  metric([bucket]: FixedState, name: string): number | undefined {
    if (name.startsWith(">")) return metricBelow(name, this.#below, bucket!.below);
    return name === "" || name === "_count" || name === "doc_count" ? bucket!.count : undefined;
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

export class QuerySorter implements Sorter {
  readonly #weights: readonly Weight[];
  readonly #other: number | undefined;
  /** Undefined until the first documents of a segment come: it is opened before its weights are prepared. */
  #scorers: readonly (Scorer | null)[] | undefined;
  #segment: SegmentReader | undefined;
  /** The document that was sorted last. */
  #last = -1;

  /** `other`: bucket of documents that match none of the queries; undefined for none. */
  constructor(queries: readonly Query[], other: number | undefined, shard: ShardContext) {
    this.#weights = queries.map((query) => query.weight(shard, { scores: false, boost: 1 }));
    this.#other = other;
    for (const weight of this.#weights) shard.collected?.prepares(weight);
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
    this.#scorers = undefined;
    this.#last = -1;
  }

  sort(docs: Int32Array, length: number, put: (index: number, bucket: number) => void): void {
    for (let index = 0; index < length; index++) {
      const doc = docs[index]!;
      const scorers = this.#scorersFrom(doc);
      let found = false;
      for (let bucket = 0; bucket < scorers.length; bucket++) {
        const scorer = scorers[bucket];
        if (scorer === null || scorer === undefined || scorer.doc === NO_MORE_DOCS) continue;
        if ((scorer.doc < doc ? scorer.advance(doc) : scorer.doc) !== doc) continue;
        found = true;
        put(index, bucket);
      }
      if (!found && this.#other !== undefined) put(index, this.#other);
    }
  }

  /** Scorers don't go back: new ones begin at the start if a bucket above brings earlier documents than the one before it. */
  #scorersFrom(doc: number): readonly (Scorer | null)[] {
    if (this.#scorers === undefined || doc < this.#last)
      this.#scorers = this.#weights.map((weight) => weight.scorer(this.#segment!));
    this.#last = doc;
    return this.#scorers;
  }
}

export const filter: AggregationType = {
  name: "filter",
  summary: "The documents of a query, as one bucket.",
  options: {},
  buckets: true,
  parse: (body, { below, queries }) => new SingleBucket("filter", below, collectQuery(queries.parse(body))),
};

const OPTIONS = {
  field: text("field", undefined),
  missing: anything("value of documents without one, of which none is left then"),
} as const;

export const missing: AggregationType = {
  name: "missing",
  summary: "The documents without a value of a field, as one bucket.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("missing", body, OPTIONS);
    const has = new ExistsNode(requireField(options.field, name), true);
    const without = options.missing === undefined ? new BooleanNode({ mustNot: [has] }) : new NoneNode();
    return new SingleBucket("missing", below, collectQuery(without));
  },
};

export const global: AggregationType = {
  name: "global",
  summary: "All documents of the indices, whatever the query.",
  options: {},
  buckets: true,
  joined: "never",
  parse(body, { below }) {
    readAggregation("global", body, {});
    return new Global(below);
  },
};

const EVERYTHING: Sorter = {
  segment: () => undefined,
  sort(_docs, length, put) {
    for (let index = 0; index < length; index++) put(index, 0);
  },
};

/** Collected separately from the other aggregations: its collector is to be given every live document. */
class Global extends SingleBucket {
  constructor(below: AggregationTree) {
    super("global", below, (shard, budget, tree) => new FixedCollector(1, EVERYTHING, tree, shard, budget));
  }
}

/** Parts a tree into what collects the documents of the query, and what collects all. */
export function splitGlobal(tree: AggregationTree): [inner: AggregationTree, global: AggregationTree] {
  const isGlobal = ([, { aggregation }]: [string, NamedAggregation]): boolean =>
    aggregation instanceof Global;
  const all = [...tree];
  return [new Map(all.filter((each) => !isGlobal(each))), new Map(all.filter(isGlobal))];
}
