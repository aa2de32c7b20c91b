/**
 * `rare_terms`: the values that few documents have. Counts are exact: each shard reports which values are too frequent.
 */

import { isDate } from "#hub/engine/mapping/field.ts";
import type { CollectedTerms } from "#hub/search/aggregations/buckets/first-terms.ts";
import {
  bucketOf,
  type HandedOn,
  mergeTerms,
  NO_TERMS,
  renderTerms,
  type TermBucket,
  type TermsShape,
  type TermsState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { readOrder } from "#hub/search/aggregations/tree/bucket-order.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { isNumeric, termsField } from "#hub/search/columns/column-values.ts";
import { isWholeType } from "#hub/search/fields/field-terms.ts";
import { anything, hint, integer, number, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type TermsSource, termsCollector, VALUE_TYPE, warnOfValueType } from "./terms-source.ts";

/** Maximum max_doc_count: values of more documents aren't rare. */
const MAX_DOC_COUNT = 100;

/** Values between two pauses: well below a millisecond. */
const STEP_VALUES = 512;

const OPTIONS = {
  field: text("field of keywords, whole numbers, dates, booleans or addresses", undefined),
  max_doc_count: integer("maximum number of documents of a rare value, 1..100", 1),
  precision: hint(number("counts are exact", undefined)),
  include: anything("regular expression or list of the values that get buckets"),
  exclude: anything("regular expression or list of the values to exclude"),
  missing: anything("value of documents without one"),
  format: text("format of printed keys", undefined),
  value_type: VALUE_TYPE,
} as const;

export const rareTerms: AggregationType = {
  name: "rare_terms",
  summary: "Values of a field that few documents have, the rarest first.",
  options: OPTIONS,
  buckets: true,
  joined: "never",
  parse(body, { name, below }) {
    const options = readAggregation("rare_terms", body, OPTIONS);
    warnOfValueType("rare_terms", options);
    const most = options.max_doc_count ?? 1;
    if (most < 1 || most > MAX_DOC_COUNT) {
      const limit = most < 1 ? "greater than 0" : `smaller than or equal to ${MAX_DOC_COUNT}`;
      throw new AppError("request_invalid", `[max_doc_count] must be ${limit}. Found [${most}] in [${name}]`);
    }
    return new RareTerms(most, below, {
      owner: name,
      field: requireField(options.field, name),
      include: options.include,
      exclude: options.exclude,
      missing: options.missing,
      valueType: options.value_type,
      format: options.format,
    });
  },
};

class RareTerms implements Aggregation<TermsState> {
  readonly #most: number;
  readonly #shape: TermsShape;
  readonly #source: TermsSource;

  constructor(most: number, below: AggregationTree, source: TermsSource) {
    this.#most = most;
    this.#shape = {
      below,
      size: Number.POSITIVE_INFINITY,
      minDocCount: 1,
      order: readOrder({ _count: "asc" }, "rare_terms"),
      showError: false,
    };
    this.#source = source;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<TermsState> {
    checkWhole(shard, this.#source.field);
    const context = { shard, budget, shape: this.#shape, shardSize: 0 };
    const choose = (terms: CollectedTerms): Steps<HandedOn> => this.#choose(terms);
    return termsCollector({ ...context, choose }, this.#source);
  }

  *merge(states: readonly TermsState[]): Steps<TermsState> {
    if (states.length === 1) return states[0]!;
    const frequent = new Set(states.flatMap((state) => state.frequent ?? []));
    const { buckets, ...merged } = yield* mergeTerms(states, this.#shape.below);
    const rare: TermBucket[] = [];
    for (const [at, bucket] of buckets.entries()) {
      if (at % STEP_VALUES === STEP_VALUES - 1) yield;
      const hash = keyHash(bucket.key);
      if (bucket.count > this.#most) frequent.add(hash);
      else if (!frequent.has(hash)) rare.push(bucket);
    }
    return { ...merged, buckets: rare, frequent: [...frequent] };
  }

  *render(state: TermsState, budget: BucketBudget): Steps<JsonObject> {
    const { buckets } = yield* renderTerms(state, this.#shape, budget);
    return { buckets };
  }

  empty(): TermsState {
    return NO_TERMS;
  }

  typedName({ kind }: TermsState): string {
    return { text: "srareterms", long: "lrareterms", double: "lrareterms", unmapped: "umrareterms" }[kind];
  }

  *#choose(terms: CollectedTerms): Steps<HandedOn> {
    const buckets: TermBucket[] = [];
    const frequent: number[] = [];
    for (let at = 0; at < terms.length; at++) {
      if (at % STEP_VALUES === STEP_VALUES - 1) yield;
      if (terms.count(at) > this.#most) frequent.push(keyHash(terms.key(at)));
      else buckets.push(yield* bucketOf(terms, at, this.#shape));
    }
    return { buckets, others: 0, errorBound: 0, frequent };
  }
}

/** Values that are computed have no sharp equals. Throws request_invalid. */
function checkWhole(shard: ShardContext, name: string): void {
  const field = termsField(shard, name);
  if (field === undefined || !isNumeric(field) || isDate(field) || field.type === "boolean") return;
  if (isWholeType(field)) return;
  throw new AppError("request_invalid", "RareTerms aggregation does not support floating point fields.");
}

/** Returns a 53-bit hash of a key; two keys of one request collide once in millions of requests. */
function keyHash(key: string | number): number {
  const digits = String(key);
  let high = 0x811c9dc5;
  let low = 0x9e3779b9;
  for (let at = 0; at < digits.length; at++) {
    const unit = digits.charCodeAt(at);
    high = Math.imul(high ^ unit, 0x01000193);
    low = Math.imul(low ^ unit, 0x85ebca6b);
    low ^= low >>> 13;
  }
  return (high & 0x1fffff) * 2 ** 32 + (low >>> 0);
}
