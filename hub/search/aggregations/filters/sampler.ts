/** `sampler`, `diversified_sampler`: the documents of each shard with the best scores, as one bucket. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BucketCollector } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import type { FixedState } from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import type { AggregationTree, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { atOnce, type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import { columnField, isNumeric, KeywordValues, numericColumn } from "#hub/search/columns/column-values.ts";
import { anything, hint, integer, text } from "#hub/search/options/options.ts";
import { type DocumentScores, scoresOn } from "#hub/search/query/document-scores.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import {
  readValueScript,
  type ScriptedValue,
  type ValueScript,
  valuesOn,
} from "#hub/search/scripting/document-script.ts";
import { type Collect, SingleBucket } from "./single-bucket.ts";

const OPTIONS = { shard_size: integer("documents of each shard", 100, 1) } as const;

const DIVERSIFIED = {
  ...OPTIONS,
  field: text("field of which no value may come too often", undefined),
  script: anything("script whose value may not come too often"),
  max_docs_per_value: integer("documents with the same value", 1, 1),
  execution_hint: hint(text("how other engines compute it", undefined)),
} as const;

export const sampler: AggregationType = {
  name: "sampler",
  summary: "The best documents of each shard by score, as one bucket.",
  options: OPTIONS,
  buckets: true,
  joined: "never",
  parse(body, { below }) {
    const size = readAggregation("sampler", body, OPTIONS).shard_size ?? 100;
    return new SingleBucket("sampler", below, collectBest(size));
  },
};

export const diversifiedSampler: AggregationType = {
  name: "diversified_sampler",
  summary: "The best documents of each shard with different values of a field, as one bucket.",
  options: DIVERSIFIED,
  buckets: true,
  joined: "never",
  parse(body, { name, below }) {
    const options = readAggregation("diversified_sampler", body, DIVERSIFIED);
    const { script } = options;
    const field = script === undefined ? requireField(options.field, name) : options.field;
    const diversity = {
      field,
      script: script === undefined ? undefined : readValueScript(script, field),
      most: options.max_docs_per_value ?? 1,
    };
    return new SingleBucket("sampler", below, collectBest(options.shard_size ?? 100, diversity));
  },
};

interface Diversity {
  readonly field: string | undefined;
  readonly script: ValueScript | undefined;
  readonly most: number;
}

/** Returns what collects the `size` documents of each owner with the best scores; of equal scores the first ones. */
function collectBest(size: number, diversity?: Diversity): Collect {
  return (shard, budget, below) => new BestCollector({ size, diversity }, shard, budget, below);
}

interface Candidate {
  readonly score: number;
  /** Number of the segment. */
  readonly order: number;
  readonly doc: number;
}

/** Memory of a candidate, in buckets. */
const CANDIDATE_SHARE = 0.5;

/** The best documents of those added, sorted out now and then. */
class BestDocuments {
  readonly #limit: number;
  readonly #budget: CollectBudget;
  #kept: Candidate[] = [];
  /** Most documents that were kept at a time. */
  #most = 0;
  /** What is no better isn't kept. */
  #least = Number.NEGATIVE_INFINITY;

  constructor(limit: number, budget: CollectBudget) {
    this.#limit = limit;
    this.#budget = budget;
    budget.add();
  }

  /** Documents come in ascending order. Throws memory_limit. */
  add(candidate: Candidate): void {
    if (candidate.score <= this.#least) return;
    // Paid for as they come: `shard_size` is often far more than there are.
    if (this.#kept.push(candidate) > this.#most) {
      this.#most++;
      this.#budget.add(CANDIDATE_SHARE);
    }
    if (this.#kept.length >= 2 * this.#limit) atOnce(this.best());
  }

  *best(): Steps<readonly Candidate[]> {
    this.#kept = (yield* sortedSteps(this.#kept, byScore)).slice(0, this.#limit);
    if (this.#kept.length === this.#limit) this.#least = this.#kept.at(-1)!.score;
    return this.#kept;
  }
}

function byScore(a: Candidate, b: Candidate): number {
  return b.score - a.score || a.order - b.order || a.doc - b.doc;
}

/** Keeps the best documents, and gives them to the aggregations below once all are known. */
class BestCollector implements Collector<FixedState> {
  readonly #options: { readonly size: number; readonly diversity: Diversity | undefined };
  readonly #budget: CollectBudget;
  readonly #buckets: BucketCollector;
  readonly #scores: DocumentScores | undefined;
  readonly #values: DistinctValues | undefined;
  readonly #segments: SegmentReader[] = [];
  /** By owner and value of the field; "" if there is no field. */
  readonly #best: Map<string, BestDocuments>[] = [];
  #isGiven = false;

  constructor(
    options: { readonly size: number; readonly diversity: Diversity | undefined },
    shard: ShardContext,
    budget: CollectBudget,
    below: AggregationTree,
  ) {
    this.#options = options;
    this.#budget = budget;
    this.#buckets = new BucketCollector(below, shard, budget);
    if (options.diversity !== undefined) this.#values = valuesOf(options.diversity, shard);
    this.#scores = scoresOn(shard);
  }

  segment(segment: SegmentReader): void {
    this.#segments.push(segment);
    this.#scores?.segment(segment);
    this.#values?.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const order = this.#segments.length - 1;
    for (let at = 0; at < length; at++) {
      const doc = docs[at]!;
      const value = this.#values === undefined ? "" : this.#values.of(doc);
      if (value === undefined) continue;
      this.#documents(owners[at]!, value).add({ score: this.#scores?.of(doc) ?? 0, order, doc });
    }
  }

  state(owner: number): FixedState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<FixedState> {
    yield* this.#give();
    return [{ count: this.#buckets.count(owner), below: yield* this.#buckets.belowSteps(owner) }];
  }

  #documents(owner: number, value: string): BestDocuments {
    const values = (this.#best[owner] ??= new Map<string, BestDocuments>());
    let documents = values.get(value);
    if (documents === undefined) {
      const { size, diversity } = this.#options;
      const limit = Math.min(size, diversity?.most ?? size);
      values.set(value, (documents = new BestDocuments(limit, this.#budget)));
    }
    return documents;
  }

  *#give(): Steps<void> {
    if (this.#isGiven) return;
    this.#isGiven = true;
    const bySegment: { readonly doc: number; readonly owner: number }[][] = this.#segments.map(() => []);
    for (const [owner, values] of this.#best.entries()) {
      const all: Candidate[] = [];
      for (const documents of values?.values() ?? [])
        for (const candidate of yield* documents.best()) all.push(candidate);
      const sorted = yield* sortedSteps(all, byScore);
      for (const { order, doc } of sorted.slice(0, this.#options.size))
        bySegment[order]!.push({ doc, owner });
      yield;
    }
    for (const [order, found] of bySegment.entries()) {
      if (found.length === 0) continue;
      this.#buckets.segment(this.#segments[order]!);
      for (const { doc, owner } of found.sort((a, b) => a.doc - b.doc || a.owner - b.owner))
        this.#buckets.add(doc, owner);
      this.#buckets.flush();
      yield;
    }
  }
}

/** The value of a document of which no more than some are kept. */
interface DistinctValues {
  segment(segment: SegmentReader): void;
  /** Returns the value as text; undefined: the document is left out. */
  of(doc: number): string | undefined;
}

function valuesOf({ field, script }: Diversity, shard: ShardContext): DistinctValues {
  return script === undefined ? new FieldValues(shard, field ?? "") : new ScriptValues(script, shard);
}

/** The first value of a script. As in 6.5 documents without one are left out. */
class ScriptValues implements DistinctValues {
  readonly #bind: ReturnType<typeof valuesOn>;
  #read: (doc: number) => ScriptedValue[] = () => [];

  constructor(script: ValueScript, shard: ShardContext) {
    this.#bind = valuesOn(script, shard);
  }

  segment(segment: SegmentReader): void {
    this.#read = this.#bind(segment);
  }

  of(doc: number): string | undefined {
    const value = this.#read(doc)[0];
    return value === undefined ? undefined : String(value);
  }
}

/** The first value of a field. As in 6.5 documents without one count as having 0, or the first text of the shard. */
class FieldValues implements DistinctValues {
  readonly #shard: ShardContext;
  readonly #field: string;
  readonly #keywords = new KeywordValues();
  readonly #one = new Int32Array(1);
  #first: string | undefined;
  #read: (doc: number) => string = () => "";

  constructor(shard: ShardContext, field: string) {
    this.#shard = shard;
    this.#field = field;
  }

  segment(segment: SegmentReader): void {
    const field = columnField(this.#shard, this.#field);
    if (field === undefined || field.type === "geo_point") this.#read = () => "";
    else if (isNumeric(field)) {
      const column = numericColumn(segment, field);
      this.#read = (doc) => String(column?.first(doc) || 0);
    } else {
      const column = segment.keywordColumn(field.path);
      this.#keywords.open(column);
      this.#read = (doc) => {
        this.#one[0] = doc;
        this.#keywords.read(this.#one, 1);
        const ordinal = this.#keywords.ordinals[0]!;
        return ordinal < 0 ? this.#firstText(field.path) : column!.text(ordinal);
      };
    }
  }

  of(doc: number): string {
    return this.#read(doc);
  }

  #firstText(path: string): string {
    if (this.#first !== undefined) return this.#first;
    const columns = this.#shard.searcher.segments.map((segment) => segment.keywordColumn(path));
    const texts = columns.flatMap((column) => (column === null ? [] : [column.text(0)]));
    return (this.#first = texts.sort()[0] ?? "");
  }
}
