/** `sampler`, `diversified_sampler`: the first documents of each shard, as one bucket. */

import { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { columnField, isNumeric, KeywordValues, numericColumn } from "#hub/search/columns/column-values.ts";
import { integer, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { type Collect, SingleBucket } from "./single-bucket.ts";

const OPTIONS = { shard_size: integer("documents of each shard", 100, 1) } as const;

const DIVERSIFIED = {
  ...OPTIONS,
  field: text("field of which no value may come too often", undefined),
  max_docs_per_value: integer("documents with the same value", 1, 1),
  execution_hint: text("hint without influence on the answer: how other engines compute it", undefined),
} as const;

export const sampler: AggregationType = {
  name: "sampler",
  summary: "The first documents of each shard, as one bucket.",
  options: OPTIONS,
  buckets: true,
  joined: "never",
  parse(body, { below }) {
    const size = readAggregation("sampler", body, OPTIONS).shard_size ?? 100;
    return new SingleBucket("sampler", below, collectFirst(size));
  },
};

export const diversifiedSampler: AggregationType = {
  name: "diversified_sampler",
  summary: "The first documents of each shard with different values of a field, as one bucket.",
  options: DIVERSIFIED,
  buckets: true,
  joined: "never",
  parse(body, { name, below }) {
    const options = readAggregation("diversified_sampler", body, DIVERSIFIED);
    const field = requireField(options.field, name);
    const diversity = { field, most: options.max_docs_per_value ?? 1 };
    return new SingleBucket("sampler", below, collectFirst(options.shard_size ?? 100, diversity));
  },
};

interface Diversity {
  readonly field: string;
  readonly most: number;
}

/** Returns what collects the first `size` documents of each owner. */
function collectFirst(size: number, diversity?: Diversity): Collect {
  return (shard, budget, below) => {
    const buckets = new BucketCollector(below, shard, budget);
    const values = diversity === undefined ? undefined : new SeenValues(shard, diversity);
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
      *steps(owner) {
        return [{ count: buckets.count(owner), below: yield* buckets.belowSteps(owner) }];
      },
    };
  };
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
