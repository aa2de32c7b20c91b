/**
 * `multi_terms`: documents by the values of several fields together, the most frequent first. It is beside `composite`
 * because it reads and combines its fields with that one's code; buckets are chosen and merged as those of `terms`.
 */

import { columnKind } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  BucketCollector,
  collectedTerms,
  KeyTable,
} from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  handOn,
  mergeTerms,
  NO_TERMS,
  renderTerms,
  type TermsContext,
  type TermsShape,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type {
  Aggregation,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { orderOfTerms } from "#hub/search/aggregations/tree/bucket-order.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { formatOf, printValue, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { objectOf, parseStored } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  hint,
  integer,
  list,
  oneOf,
  readOptions,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction, type NumberText } from "#proto/kit/number-text.ts";
import { combinations } from "./composite-collector.ts";
import { type KeyPart, SourceValues } from "./composite-source.ts";
import { comparisonOf } from "./key-order.ts";

/** Fields of one aggregation. */
const MAX_FIELDS = 100;

const OPTIONS = {
  terms: required(list("at least two fields: {field, missing, format}")),
  size: integer("buckets of the answer", 10, 1),
  shard_size: integer("buckets a shard returns at least", undefined),
  min_doc_count: integer("buckets with fewer documents are left out", 1),
  shard_min_doc_count: withoutEffect(integer("each shard returns all its terms", 0)),
  order: anything('order of the buckets: {"_count": "desc"}, {"_key": "asc"}, {"<metric below>": "desc"}'),
  show_term_doc_count_error: flag("whether buckets contain the maximum error of their counts", false),
  collect_mode: hint(oneOf("how other engines compute it", ["depth_first", "breadth_first"], undefined)),
} as const;
const FIELD_OPTIONS = {
  field: required(text("field of keywords, numbers, dates, booleans or addresses", undefined)),
  missing: anything("value of documents without one"),
  format: text("format of the field's keys", undefined),
  value_type: withoutEffect(text("the type of the field counts", undefined)),
} as const;

export const multiTerms: AggregationType = {
  name: "multi_terms",
  summary: "Documents by the values of several fields together, the most frequent first.",
  options: OPTIONS,
  buckets: true,
  joined: "gains",
  parse(body, { name, below }) {
    const options = readAggregation("multi_terms", body, OPTIONS);
    const fields = (options.terms ?? []).map((each) =>
      readOptions("multi_terms] [terms", objectOf(each, "terms"), FIELD_OPTIONS, "aggregation"),
    );
    if (fields.length < 2 || fields.length > MAX_FIELDS)
      throw new AppError(
        "request_invalid",
        `The [terms] parameter in the aggregation [${name}] must have 2 to ${MAX_FIELDS} fields; for one use the [terms] aggregation`,
      );
    const order = orderOfTerms(options.order, "multi_terms", name, below);
    const size = options.size ?? 10;
    const shape = {
      below,
      size,
      minDocCount: options.min_doc_count ?? 1,
      order,
      showError: options.show_term_doc_count_error ?? false,
    };
    return new MultiTerms(shape, options.shard_size ?? Math.ceil(size * 1.5 + 10), fields);
  },
};

/** A field as the request has it. */
interface FieldRequest {
  readonly field: string;
  readonly missing: unknown;
  readonly format: string | undefined;
}

/** A value as answers show it. */
type Part = string | number | bigint | boolean;

/** The terms, and the positions of fields whose numbers have fractions, and of fields of addresses. */
type MultiTermsState = TermsState & {
  readonly fractions?: readonly number[];
  readonly addresses?: readonly number[];
};

class MultiTerms implements Aggregation<MultiTermsState> {
  readonly #shape: TermsShape;
  readonly #shardSize: number;
  readonly #fields: readonly FieldRequest[];

  constructor(shape: TermsShape, shardSize: number, fields: readonly FieldRequest[]) {
    this.#shape = shape;
    this.#shardSize = shardSize;
    this.#fields = fields;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<MultiTermsState> {
    const fields = this.#fields.map((field) => new FieldValues(field, shard));
    const addresses = fields.flatMap((field, at) => (field.areAddresses ? [at] : []));
    const shape = { ...this.#shape, compareKeys: orderOfKeys(fields, addresses) };
    const context = { shard, budget, shape, shardSize: this.#shardSize, filter: undefined };
    return new MultiTermsCollector(context, fields, addresses);
  }

  *merge(states: readonly MultiTermsState[]): Steps<MultiTermsState> {
    const fractions = [...new Set(states.flatMap((state) => state.fractions ?? []))];
    const addresses = [...new Set(states.flatMap((state) => state.addresses ?? []))];
    return withKinds(yield* mergeTerms(states, this.#shape.below), fractions, addresses);
  }

  *render(state: MultiTermsState, budget: BucketBudget): Steps<JsonObject> {
    const { fractions = [], addresses = [] } = state;
    const shape = { ...this.#shape, compareKeys: orderOfKeys(this.#fields, addresses) };
    const { buckets, ...counts } = yield* renderTerms(state, shape, budget);
    const shown: JsonObject[] = [];
    for (const { key, ...rest } of buckets) {
      yield;
      const parts = partsOf(String(key)).map((part, at) => printed(part, fractions.includes(at)));
      const text = parts.map((part) => part.text).join("|");
      shown.push({ key: parts.map(({ value }) => value), key_as_string: text, ...rest });
    }
    return { ...counts, buckets: shown };
  }

  empty(): TermsState {
    return NO_TERMS;
  }

  typedName(): string {
    return "multi_terms";
  }
}

/** Keys are lists of parts as JSON. */
class MultiTermsCollector implements Collector<MultiTermsState> {
  readonly #context: TermsContext;
  readonly #fields: readonly FieldValues[];
  /** Positions of fields of addresses. */
  readonly #addresses: readonly number[];
  readonly #keys: KeyTable<string>;
  readonly #buckets: BucketCollector;

  constructor(context: TermsContext, fields: readonly FieldValues[], addresses: readonly number[]) {
    this.#context = context;
    this.#fields = fields;
    this.#addresses = addresses;
    this.#keys = new KeyTable(context.budget);
    this.#buckets = new BucketCollector(context.shape.below, context.shard, context.budget);
  }

  segment(segment: SegmentReader): void {
    for (const field of this.#fields) {
      field.open(segment);
      if (field.multiValued) this.#context.budget.isCostly = true;
    }
    this.#buckets.segment(segment);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    for (let at = 0; at < length; at++) {
      const keys = combinations(this.#fields.map((field) => field.of(docs[at]!)));
      this.#context.budget.chargeFurther(keys.length - 1);
      for (const key of keys)
        this.#buckets.add(docs[at]!, this.#keys.bucket(owners[at]!, `[${key.join(",")}]`));
    }
    this.#buckets.flush();
  }

  state(owner: number): MultiTermsState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<MultiTermsState> {
    const terms = collectedTerms(this.#keys.of(owner), this.#buckets);
    const state = textState(yield* handOn(this.#context, terms, this.#keys.owners));
    const fractions = this.#fields.flatMap((field, at) => (field.hasFractions ? [at] : []));
    return withKinds(state, fractions, this.#addresses);
  }
}

/** Values of one field as JSON, document by document. */
class FieldValues {
  readonly #values: SourceValues;
  readonly #format: ValueFormat;
  readonly #missing: readonly string[];

  constructor({ field: name, missing, format }: FieldRequest, shard: ShardContext) {
    const source = {
      name,
      field: name,
      script: undefined,
      type: "terms" as const,
      round: (value: number) => value,
    };
    const rest = { descending: false, missingBucket: false, format: undefined, zone: undefined };
    this.#values = new SourceValues({ ...source, ...rest }, shard);
    this.#format = formatOf(this.#values.field, format);
    const isThere = missing !== undefined && missing !== null;
    this.#missing = isThere ? [this.#text(this.#values.read(missing, shard))] : [];
  }

  open(segment: SegmentReader): void {
    this.#values.open(segment);
  }

  /** True if its numbers have fractions. */
  get hasFractions(): boolean {
    const { field } = this.#values;
    return field !== undefined && columnKind(field) === "double";
  }

  /** True if its texts are addresses. */
  get areAddresses(): boolean {
    return this.#values.areAddresses;
  }

  /** True if documents of the open segment have several values. */
  get multiValued(): boolean {
    return this.#values.multiValued;
  }

  of(doc: number): readonly string[] {
    const parts = this.#values.of(doc);
    return parts.length === 0 ? this.#missing : parts.map((part) => this.#text(part));
  }

  #text(part: KeyPart): string {
    const shown = this.#shown(part ?? "");
    return typeof shown === "bigint" ? String(shown) : JSON.stringify(shown);
  }

  #shown(value: string | number | bigint): Part {
    if (typeof value === "string") return value;
    if (this.#format.kind === "boolean") return value === 1;
    return printValue(this.#format, value) ?? value;
  }
}

function partsOf(key: string): readonly Part[] {
  return parseStored(key) as Part[];
}

function withKinds(
  state: TermsState,
  fractions: readonly number[],
  addresses: readonly number[],
): MultiTermsState {
  return {
    ...state,
    ...(fractions.length > 0 && { fractions }),
    ...(addresses.length > 0 && { addresses }),
  };
}

/** Returns a part of a key as answers hold it, and as it is in the key's text: 5.0 where numbers have fractions. */
function printed(
  part: Part,
  isFraction: boolean,
): { readonly value: Part | NumberText; readonly text: string } {
  if (!isFraction || (typeof part !== "number" && typeof part !== "bigint"))
    return { value: part, text: String(part) };
  const number = Number(part);
  return { value: fraction(number), text: doubleText(number) };
}

/** Returns the order of keys, part by part; `addresses`: positions of fields of addresses. */
function orderOfKeys(
  fields: readonly unknown[],
  addresses: readonly number[],
): (a: string | number, b: string | number) => number {
  const compare = comparisonOf(
    fields.map(() => ({ descending: false })),
    fields.map((_, at) => addresses.includes(at)),
  );
  return (a, b) => compare(partsOf(String(a)).map(keyOf), partsOf(String(b)).map(keyOf));
}

function keyOf(part: Part): KeyPart {
  return typeof part === "boolean" ? Number(part) : part;
}
