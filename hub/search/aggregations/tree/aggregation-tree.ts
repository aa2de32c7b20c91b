/** The aggregations of a request or a bucket as one: collects, merges and renders those of a tree. */

import { COLUMN_BLOCK, type KeywordColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { chooseDocuments } from "#hub/search/columns/chosen-documents.ts";
import { docsOfBlock, expandMask, loadBlock, type SegmentRun } from "#hub/search/columns/set-blocks.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type {
  AggregationTree,
  BucketBudget,
  ChosenOrdinals,
  CollectBudget,
  Collector,
  OrdinalBuckets,
  TreeState,
} from "./aggregation.ts";
import { addSiblings, applyParents } from "./apply-pipelines.ts";
import { isSteps, type Steps } from "./steps.ts";

/** Blocks whose chosen documents are collected at a time: below a millisecond. */
const STEP_BLOCKS = 4;

/** The collectors of a tree. */
export class TreeCollector {
  readonly #collectors: readonly Collector[];
  /** By name, the index of its collector: several may share one. */
  readonly #places: ReadonlyMap<string, number>;
  #docs = new Int32Array(0);
  #owners = new Int32Array(0);
  #mask = new Uint32Array(0);
  readonly #chosen = { docs: new Int32Array(0), slots: new Int32Array(0) };

  /** `isFinal`: see Aggregation.collector. */
  constructor(tree: AggregationTree, shard: ShardContext, budget: CollectBudget, isFinal = false) {
    const collectors: Collector[] = [];
    const places = new Map<string, number>();
    const shared = new Map<string, number>();
    for (const [name, { aggregation }] of tree) {
      const { collectedAs } = aggregation;
      const known = collectedAs === undefined ? undefined : shared.get(collectedAs);
      places.set(name, known ?? collectors.length);
      if (known !== undefined) continue;
      if (collectedAs !== undefined) shared.set(collectedAs, collectors.length);
      collectors.push(aggregation.collector(shard, budget, isFinal));
    }
    this.#collectors = collectors;
    this.#places = places;
  }

  get isEmpty(): boolean {
    return this.#collectors.length === 0;
  }

  /** See Collector.takesLate. */
  get takesLate(): boolean {
    return this.#collectors.every((collector) => collector.takesLate === true);
  }

  segment(segment: SegmentReader): void {
    for (const collector of this.#collectors) collector.segment(segment);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    for (const collector of this.#collectors) collector.collect(docs, buckets, length);
  }

  /** See Collector.collectBlock; done in any case. */
  collectBlock(block: number, mask: Uint32Array | null, count: number, bucket: number): void {
    this.#blockOf(this.#collectors, block, mask, count, bucket);
  }

  /** See Collector.collectRun; done in any case. */
  collectRun(run: SegmentRun, bucket: number): void {
    const left = this.#collectors.filter((collector) => collector.collectRun?.(run, bucket) !== true);
    if (left.length === 0) return;
    if (this.#mask.length === 0) this.#mask = new Uint32Array(COLUMN_BLOCK / 32);
    const mask = this.#mask;
    for (let block = run.from; block < run.to; block++) {
      const count = loadBlock(run, block, mask);
      const isWhole = count === docsOfBlock(run, block);
      if (count > 0) this.#blockOf(left, block, isWhole ? null : mask, count, bucket);
    }
  }

  /** True if `collectBy` can be called. */
  takesBy(column: KeywordColumn): boolean {
    return this.#collectors.every((collector) => collector.takesBy?.(column) === true);
  }

  /** See Collector.collectBy. */
  collectBy(run: SegmentRun, by: OrdinalBuckets): void {
    for (const collector of this.#collectors) collector.collectBy!(run, by);
  }

  /** Collects the documents of a run that have a bucket by their ordinal, in steps. */
  *collectChosen(run: SegmentRun, chosen: ChosenOrdinals): Steps<void> {
    const left = this.#collectors.filter((collector) => collector.collectChosen?.(run, chosen) !== true);
    for (let from = run.from; from < run.to && left.length > 0; from += STEP_BLOCKS) {
      const part = { ...run, from, to: Math.min(run.to, from + STEP_BLOCKS) };
      const length = chooseDocuments(part, chosen, this.#chosen);
      const { docs, slots } = this.#chosen;
      if (length > 0) for (const collector of left) collector.collect(docs, slots, length);
      yield;
    }
  }

  state(bucket: number): TreeState {
    const states = this.#collectors.map((collector) => collector.state(bucket));
    return this.#named(states);
  }

  /** See Collector.steps. */
  *steps(bucket: number): Steps<TreeState> {
    const states: unknown[] = [];
    for (const collector of this.#collectors) {
      const steps = collector.steps?.(bucket);
      states.push(steps === undefined ? collector.state(bucket) : yield* steps);
    }
    return this.#named(states);
  }

  #named(states: readonly unknown[]): TreeState {
    const named: Record<string, unknown> = {};
    for (const [name, index] of this.#places) named[name] = states[index];
    return named;
  }

  #blockOf(
    collectors: readonly Collector[],
    block: number,
    mask: Uint32Array | null,
    count: number,
    bucket: number,
  ): void {
    let expanded = false;
    for (const collector of collectors) {
      if (collector.collectBlock?.(block, mask, count, bucket) === true) continue;
      if (!expanded) {
        if (this.#docs.length === 0) {
          this.#docs = new Int32Array(COLUMN_BLOCK);
          this.#owners = new Int32Array(COLUMN_BLOCK);
        }
        expandMask(block, mask, count, this.#docs);
        this.#owners.fill(bucket, 0, count);
        expanded = true;
      }
      collector.collect(this.#docs, this.#owners, count);
    }
  }
}

/** Merges the states of one bucket. */
export function* mergeTree(tree: AggregationTree, states: readonly TreeState[]): Steps<TreeState> {
  const merged: Record<string, unknown> = {};
  for (const [name, { aggregation }] of tree) {
    const parts = states.map((state) => state[name]).filter((state) => state !== undefined);
    const made = parts.length === 0 ? aggregation.empty() : aggregation.merge(parts);
    merged[name] = isSteps(made) ? yield* made : made;
  }
  return merged;
}

/** Returns the state of a bucket without documents. */
export function emptyTree(tree: AggregationTree): TreeState {
  return Object.fromEntries([...tree].map(([name, { aggregation }]) => [name, aggregation.empty()]));
}

/** Returns whether shards know more of a bucket without documents than `emptyTree`. */
export function hasBoundsOfShards(tree: AggregationTree): boolean {
  return tree.values().some(({ emptyLacksBounds }) => emptyLacksBounds === true);
}

/** Renders the answers of a bucket's aggregations. */
export function* renderTree(
  tree: AggregationTree,
  state: TreeState,
  budget: BucketBudget,
): Steps<JsonObject> {
  const rendered: JsonObject = {};
  for (const [name, { aggregation, pipelines, meta }] of tree) {
    const own = state[name] ?? aggregation.empty();
    const key = budget.typedKeys ? `${aggregation.typedName(own)}#${name}` : name;
    const made = aggregation.render(own, budget);
    let answer = isSteps(made) ? yield* made : made;
    if (pipelines.length > 0) {
      const after =
        aggregation.bucketAfter &&
        ((bucket: number) => {
          budget.add();
          return aggregation.bucketAfter!(own, bucket);
        });
      answer = yield* applyParents(answer, pipelines, budget.typedKeys, after);
    }
    rendered[key] = { ...(meta === undefined ? {} : { meta }), ...answer };
  }
  if (tree.siblings !== undefined) addSiblings(rendered, tree.siblings, budget.typedKeys);
  return rendered;
}
