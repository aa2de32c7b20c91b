/** `significant_terms`, `significant_text`: values that are more frequent here than in all documents. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { termFilter } from "#hub/search/aggregations/buckets/terms-filter.ts";
import {
  mergeTerms,
  shownKey,
  type TermBucket,
  type TermsContext,
  type TermsState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import {
  type AggregationContext,
  type AggregationType,
  readAggregation,
} from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { atOnce, type Steps, sortedSteps } from "#hub/search/aggregations/tree/steps.ts";
import { isNumeric, termsField } from "#hub/search/columns/column-values.ts";
import { formatOf, printValue } from "#hub/search/columns/value-format.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { exactQuery } from "#hub/search/fields/field-terms.ts";
import { anything, flag, hint, integer, object, text, withoutEffect } from "#hub/search/options/options.ts";
import { NO_MORE_DOCS, type Query, type ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { type Background, mergeBackgrounds, shardName, sumOfShards } from "./background.ts";
import { HEURISTIC_NAMES, type Heuristic, heuristicOf } from "./significance.ts";
import { KeywordTermsCollector } from "./terms-keyword.ts";
import { NumberTermsCollector } from "./terms-number.ts";
import { readingOf } from "./terms-source.ts";
import { DuplicateWords, TextTermsCollector } from "./terms-text.ts";

const OPTIONS = {
  field: text("field of text, keywords, numbers or addresses", undefined),
  size: integer("buckets of the answer", 10, 1),
  shard_size: integer("buckets a shard returns at least", undefined),
  min_doc_count: integer("buckets with fewer documents are left out", 3, 1),
  shard_min_doc_count: withoutEffect(integer("each shard returns all its terms", 0)),
  include: anything("regular expression or list of the values that get buckets"),
  exclude: anything("regular expression or list of the values to exclude"),
  background_filter: anything("query of the documents that are compared with; all without it"),
  execution_hint: hint(text("how other engines compute it", undefined)),
  filter_duplicate_text: flag("whether words of passages that were there before don't count", false),
  source_fields: withoutEffect(anything("values are read from the field itself")),
  ...Object.fromEntries(HEURISTIC_NAMES.map((name) => [name, object("this heuristic, with its options")])),
} as const;

const SUMMARY = "Values that are more frequent in these documents than in all.";

export const significantTerms: AggregationType = {
  name: "significant_terms",
  summary: SUMMARY,
  options: OPTIONS,
  buckets: true,
  joined: "never",
  parse: (body, context) => parse("significant_terms", body, context, termsField),
};

export const significantText: AggregationType = {
  name: "significant_text",
  summary: SUMMARY,
  options: OPTIONS,
  buckets: true,
  joined: "never",
  parse: (body, context) => parse("significant_text", body, context, textField),
};

/** Text is read from the documents, whether it has fielddata or not. */
function textField(shard: ShardContext, name: string): Field | undefined {
  const field = shard.mapping.resolve(name);
  return field?.type === "text" ? field : termsField(shard, name);
}

type FieldOf = (shard: ShardContext, name: string) => Field | undefined;

function parse(
  owner: string,
  body: unknown,
  { name, below, queries }: AggregationContext,
  fieldOf: FieldOf,
): Significant {
  const options = readAggregation(owner, body, OPTIONS);
  const filter = options.background_filter;
  return new Significant({
    name,
    owner,
    field: requireField(options.field, name),
    fieldOf,
    size: options.size ?? 10,
    minDocCount: options.min_doc_count ?? 3,
    include: options.include,
    exclude: options.exclude,
    background: filter === undefined ? undefined : queries.parse(filter),
    heuristic: heuristicOf(body as JsonObject),
    withoutCopies: options.filter_duplicate_text ?? false,
    below,
  });
}

interface SignificantOptions {
  /** As the request has it, for messages. */
  readonly name: string;
  readonly owner: string;
  readonly field: string;
  readonly fieldOf: FieldOf;
  readonly size: number;
  readonly minDocCount: number;
  readonly include: unknown;
  readonly exclude: unknown;
  readonly background: Query | undefined;
  readonly heuristic: Heuristic;
  readonly withoutCopies: boolean;
  readonly below: AggregationTree;
}

/** JSON-able. */
interface SignificantState {
  readonly terms: TermsState;
  readonly setSize: number;
  /** One for each shard: a bucket may be joined from several of the same shard, whose documents count once. */
  readonly backgrounds: readonly Background[];
}

class Significant implements Aggregation<SignificantState> {
  readonly #options: SignificantOptions;

  constructor(options: SignificantOptions) {
    this.#options = options;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<SignificantState> {
    const { field: name, fieldOf, include, exclude, background } = this.#options;
    const field = fieldOf(shard, name);
    const allSize = background === undefined ? shard.searcher.totalDocs : countOf(background, shard);
    if (field === undefined) {
      const nothing = { ...this.empty(), backgrounds: [{ shard: shardName(shard), allSize, inAll: [] }] };
      return { segment: () => undefined, collect: () => undefined, state: () => nothing };
    }
    const filter = termFilter(include, exclude, readingOf(field, shard), this.#options.name);
    const context = { shard, budget, shape: this.#shape(), shardSize: 0, filter };
    const copies = this.#options.withoutCopies ? new DuplicateWords() : undefined;
    const inner = collectorOf(field, context, copies);
    const all = { shard: shardName(shard), allSize };
    return new SignificantCollector(inner, all, (key) => this.#countOfAll(shard, field, key));
  }

  *merge(states: readonly SignificantState[]): Steps<SignificantState> {
    return {
      terms: yield* mergeTerms(
        states.map(({ terms }) => terms),
        this.#options.below,
      ),
      setSize: states.reduce((sum, { setSize }) => sum + setSize, 0),
      backgrounds: yield* mergeBackgrounds(states.flatMap(({ backgrounds }) => backgrounds)),
    };
  }

  *render({ terms, setSize, backgrounds }: SignificantState, budget: BucketBudget): Steps<JsonObject> {
    const { minDocCount, heuristic, size, below } = this.#options;
    const allSize = backgrounds.reduce((sum, background) => sum + background.allSize, 0);
    const inAll = yield* sumOfShards(backgrounds);
    const scored: { readonly bucket: TermBucket; readonly known: number; readonly score: number }[] = [];
    for (const bucket of terms.buckets) {
      yield;
      const known = inAll.get(bucket.key) ?? 0;
      if (bucket.count < minDocCount) continue;
      const score = heuristic({ inSet: bucket.count, setSize, inAll: known, allSize });
      if (score > 0) scored.push({ bucket, known, score });
    }
    const sorted = yield* sortedSteps(
      scored,
      (a, b) => b.score - a.score || (a.bucket.key < b.bucket.key ? -1 : 1),
    );
    const shown = sorted.slice(0, size);
    budget.add(shown.length);
    const buckets: JsonObject[] = [];
    for (const { bucket, known, score } of shown) {
      const { key, count, below: state } = bucket;
      const printed = typeof key === "number" ? printValue(terms.format, key) : undefined;
      buckets.push({
        key: shownKey(key, terms.kind),
        ...(printed !== undefined && { key_as_string: printed }),
        doc_count: count,
        score: fraction(score),
        bg_count: known,
        ...(yield* renderTree(below, state, budget)),
      });
    }
    return { doc_count: setSize, bg_count: allSize, buckets };
  }

  empty(): SignificantState {
    const terms: TermsState = {
      buckets: [],
      others: 0,
      errorBound: 0,
      parts: 0,
      kind: "unmapped",
      format: formatOf(undefined),
    };
    return { terms, setSize: 0, backgrounds: [] };
  }

  typedName({ terms }: SignificantState): string {
    return terms.kind === "long" ? "siglterms" : "sigsterms";
  }

  #shape(): TermsContext["shape"] {
    const { below, size } = this.#options;
    return {
      below,
      size,
      minDocCount: 1,
      order: [{ by: "count", name: "", part: "", descending: true }],
      showError: false,
    };
  }

  /** Documents of all with a value; those deleted may count until their segments are merged. */
  #countOfAll(shard: ShardContext, field: Field, key: string | number): number {
    const { background } = this.#options;
    if (background === undefined && (field.type === "text" || field.type === "keyword"))
      return shard.docFreq(field.path, String(key));
    const query = exactQuery(shard, field.path, key);
    return countOf(
      background === undefined ? query : new BooleanNode({ filter: [query, background] }),
      shard,
    );
  }
}

/** Collects terms, and how many documents there are besides. */
class SignificantCollector implements Collector<SignificantState> {
  readonly #inner: Collector<TermsState>;
  readonly #all: Omit<Background, "inAll">;
  readonly #countOfAll: (key: string | number) => number;
  /** Documents by owner. */
  readonly #sizes: number[] = [];

  constructor(
    inner: Collector<TermsState>,
    all: Omit<Background, "inAll">,
    countOfAll: (key: string | number) => number,
  ) {
    this.#inner = inner;
    this.#all = all;
    this.#countOfAll = countOfAll;
  }

  segment(segment: SegmentReader): void {
    this.#inner.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    const sizes = this.#sizes;
    for (let at = 0; at < length; at++) sizes[owners[at]!] = (sizes[owners[at]!] ?? 0) + 1;
    this.#inner.collect(docs, owners, length);
  }

  state(owner: number): SignificantState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<SignificantState> {
    const steps = this.#inner.steps?.(owner);
    const terms = steps === undefined ? this.#inner.state(owner) : yield* steps;
    const inAll: [string | number, number][] = [];
    for (const { key } of terms.buckets) {
      inAll.push([key, this.#countOfAll(key)]);
      yield;
    }
    return { terms, setSize: this.#sizes[owner] ?? 0, backgrounds: [{ ...this.#all, inAll }] };
  }
}

function collectorOf(
  field: Field,
  context: TermsContext,
  copies: DuplicateWords | undefined,
): Collector<TermsState> {
  if (field.type === "text") return new TextTermsCollector(context, field, copies);
  if (field.type === "geo_point")
    throw new AppError(
      "request_invalid",
      `[significant_terms] doesn't work on [${field.path}] of type [geo_point]`,
    );
  if (isNumeric(field)) return new NumberTermsCollector(context, field, undefined, formatOf(field));
  return new KeywordTermsCollector(context, field.path, undefined);
}

/** Counts the live documents of a query in a shard. */
function countOf(query: Query, shard: ShardContext): number {
  const weight = new BooleanNode({ must: [new AllNode()], filter: [query] }).weight(shard, {
    scores: false,
    boost: 1,
  });
  let total = 0;
  for (const segment of shard.searcher.segments) {
    const scorer = weight.scorer(segment);
    if (scorer === null) continue;
    for (let doc = scorer.next(); doc !== NO_MORE_DOCS; doc = scorer.next()) if (segment.isLive(doc)) total++;
  }
  return total;
}
