/** `nested`, `reverse_nested`: the nested objects of documents, and the documents of nested objects, as one bucket. */

import { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { FixedState } from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import type { AggregationTree, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { required, text } from "#hub/search/options/options.ts";
import type { JoinedSegment, ParentSegment } from "#hub/search/query/nested-scope.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Collect, SingleBucket } from "./single-bucket.ts";

const NESTED = { path: required(text("path of the objects", undefined)) } as const;

const REVERSE = {
  path: text("path of the objects above; without it the documents themselves", undefined),
} as const;

export const nested: AggregationType = {
  name: "nested",
  summary: "The nested objects of the documents, as one bucket.",
  options: NESTED,
  buckets: true,
  parse(body, { below, queries }) {
    const { path } = readAggregation("nested", body, NESTED);
    queries.addPath(path);
    return new SingleBucket("nested", below, collectObjects(path));
  },
};

export const reverseNested: AggregationType = {
  name: "reverse_nested",
  summary: "The documents of nested objects, as one bucket; below [nested].",
  options: REVERSE,
  buckets: true,
  parse(body, { name, below }) {
    const { path = "" } = readAggregation("reverse_nested", body, REVERSE);
    return new SingleBucket("reverse_nested", below, collectParents(path, name));
  },
};

/** Returns what collects the objects at `path`; there are none if that isn't a nested object. */
function collectObjects(path: string): Collect {
  return (shard, budget, below) => {
    const scope = shard.scope.below(path);
    if (scope === undefined) return new JoinCollector(below, shard, budget);
    const joined = scope.joinFrom(shard.scope);
    let segment: JoinedSegment | undefined;
    return new JoinCollector(below, shard.at(scope), budget, {
      open: (documents) => (segment = joined.get(documents))?.objects,
      each(doc, owners, add) {
        const end = segment!.starts[doc + 1]!;
        for (let object = segment!.starts[doc]!; object < end; object++)
          for (const owner of owners) add(object, owner);
      },
    });
  };
}

/** Returns what collects the documents, or objects at `path`, that objects belong to, each once per bucket. */
function collectParents(path: string, name: string): Collect {
  return (shard, budget, below) => {
    const upper = shard.scope.climb(path);
    if (shard.scope.path === "")
      throw new AppError(
        "request_invalid",
        `Reverse nested aggregation [${name}] can only be used inside a [nested] aggregation`,
      );
    if (upper === undefined || upper === shard.scope) return new JoinCollector(below, shard, budget);
    let segment: ParentSegment;
    let last: number[] = [];
    return new JoinCollector(below, shard.at(upper), budget, {
      open(objects) {
        segment = shard.scope.parentsIn(upper, objects);
        last = [];
        return segment.segment;
      },
      each(object, owners, add) {
        const parent = segment.parents[object]!;
        for (const owner of owners) {
          if (last[owner] === parent) continue;
          last[owner] = parent;
          add(parent, owner);
        }
      },
    });
  };
}

/** Leads from documents of one level to those of another. */
interface Join {
  /** Opens a segment; returns that of the other level, undefined if it has none. */
  open(segment: Parameters<Collector["segment"]>[0]): Parameters<Collector["segment"]>[0] | undefined;
  /** Calls `add` for each owner with the documents of the other level; these ascend, as scorers below don't go back. */
  each(doc: number, owners: Int32Array, add: (doc: number, owner: number) => void): void;
}

/** Counts documents of another level and passes them to the aggregations below. */
class JoinCollector implements Collector<FixedState> {
  readonly #buckets: BucketCollector;
  /** Undefined: the other level has no documents. */
  readonly #join: Join | undefined;
  #isOpen = false;

  /** `shard`: as the other level sees it. */
  constructor(below: AggregationTree, shard: ShardContext, budget: CollectBudget, join?: Join) {
    this.#buckets = new BucketCollector(below, shard, budget);
    this.#join = join;
  }

  segment(segment: Parameters<Collector["segment"]>[0]): void {
    const other = this.#join?.open(segment);
    this.#isOpen = other !== undefined;
    if (other !== undefined) this.#buckets.segment(other);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (!this.#isOpen) return;
    for (let from = 0; from < length; ) {
      const doc = docs[from]!;
      let to = from + 1;
      while (to < length && docs[to] === doc) to++;
      this.#join!.each(doc, owners.subarray(from, to), (other, owner) => this.#buckets.add(other, owner));
      from = to;
    }
    this.#buckets.flush();
  }

  state(owner: number): FixedState {
    return [{ count: this.#buckets.count(owner), below: this.#buckets.below(owner) }];
  }

  *steps(owner: number): Generator<void, FixedState> {
    return [{ count: this.#buckets.count(owner), below: yield* this.#buckets.belowSteps(owner) }];
  }
}
