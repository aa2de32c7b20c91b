/** `sampler`, `diversified_sampler`: the first documents of each shard, as one bucket. */

import { columnField, isNumeric, KeywordValues, numericColumn } from "../columns.ts";
import type { JsonObject } from "../json.ts";
import { integer, text } from "../options.ts";
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
import { BucketCollector } from "./buckets.ts";
import { requireField } from "./field-option.ts";
import { emptyFixed, type FixedState, mergeFixed } from "./fixed-buckets.ts";

const OPTIONS = { shard_size: integer("documents of each shard", 100, 1) } as const;

const DIVERSIFIED = {
  ...OPTIONS,
  field: text("field of which no value may come too often", undefined),
  max_docs_per_value: integer("documents with the same value", 1, 1),
  execution_hint: text("accepted", undefined),
} as const;

export const sampler: AggregationType = {
  name: "sampler",
  summary: "The first documents of each shard, as one bucket.",
  options: OPTIONS,
  buckets: true,
  parse(body, { below }) {
    return new Sampler(readAggregation("sampler", body, OPTIONS).shard_size ?? 100, below, undefined);
  },
};

export const diversifiedSampler: AggregationType = {
  name: "diversified_sampler",
  summary: "The first documents of each shard with different values of a field, as one bucket.",
  options: DIVERSIFIED,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("diversified_sampler", body, DIVERSIFIED);
    const field = requireField(options.field, name);
    return new Sampler(options.shard_size ?? 100, below, { field, most: options.max_docs_per_value ?? 1 });
  },
};

interface Diversity {
  readonly field: string;
  readonly most: number;
}

class Sampler implements Aggregation<FixedState> {
  readonly #size: number;
  readonly #below: AggregationTree;
  readonly #diversity: Diversity | undefined;

  constructor(size: number, below: AggregationTree, diversity: Diversity | undefined) {
    this.#size = size;
    this.#below = below;
    this.#diversity = diversity;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<FixedState> {
    const buckets = new BucketCollector(this.#below, shard, budget);
    const size = this.#size;
    const values = this.#diversity === undefined ? undefined : new SeenValues(shard, this.#diversity);
    return {
      segment(segment) {
        buckets.segment(segment);
        values?.segment(segment);
      },
      collect(docs, owners, length) {
        for (let at = 0; at < length; at++) {
          const owner = owners[at]!;
          if (buckets.count(owner) >= size) continue;
          if (values === undefined || values.take(owner, docs, at)) buckets.add(docs[at]!, owner);
        }
        buckets.flush();
      },
      state: (owner) => [{ count: buckets.count(owner), below: buckets.below(owner) }],
    };
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
    return "sampler";
  }
}

/** Counts values by owner; a document without one counts as having a value of its own. */
class SeenValues {
  readonly #shard: ShardContext;
  readonly #diversity: Diversity;
  readonly #keywords = new KeywordValues();
  readonly #seen: Map<string, number>[] = [];
  readonly #one = new Int32Array(1);
  #read: (doc: number) => string | undefined = () => undefined;

  constructor(shard: ShardContext, diversity: Diversity) {
    this.#shard = shard;
    this.#diversity = diversity;
  }

  segment(segment: Parameters<typeof numericColumn>[0]): void {
    const field = columnField(this.#shard, this.#diversity.field);
    if (field === undefined || field.type === "geo_point") this.#read = () => undefined;
    else if (isNumeric(field)) {
      const column = numericColumn(segment, field);
      this.#read = (doc) =>
        column === null || Number.isNaN(column.first(doc)) ? undefined : String(column.first(doc));
    } else {
      const column = segment.keywordColumn(field.path);
      this.#keywords.open(column);
      this.#read = (doc) => {
        this.#one[0] = doc;
        this.#keywords.read(this.#one, 1);
        const ordinal = this.#keywords.ordinals[0]!;
        return ordinal < 0 ? undefined : column!.text(ordinal);
      };
    }
  }

  /** Returns whether a document may be taken, and counts it. */
  take(owner: number, docs: Int32Array, at: number): boolean {
    const value = this.#read(docs[at]!);
    if (value === undefined) return true;
    const seen = (this.#seen[owner] ??= new Map<string, number>());
    const times = seen.get(value) ?? 0;
    if (times >= this.#diversity.most) return false;
    seen.set(value, times + 1);
    return true;
  }
}
