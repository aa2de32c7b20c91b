/** `matrix_stats`: moments of several fields and how they vary together, over the documents that have all of them. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { fieldTypeFault, missingNumber } from "#hub/search/aggregations/tree/field-option.ts";
import { columnField, isNumeric, numericColumn } from "#hub/search/columns/column-values.ts";
import { printedNumber } from "#hub/search/options/json-writer.ts";
import { object, oneOf, required, texts } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import {
  addDocument,
  fieldOrder,
  type Moments,
  mergeMoments,
  noMoments,
  statisticsOf,
} from "./matrix-moments.ts";

/** Fields of one aggregation: each pair has a number in each bucket. */
const MAX_FIELDS = 50;

const OPTIONS = {
  fields: required(texts("fields of numbers")),
  missing: object("values of documents without one, by field"),
  mode: oneOf("how several values are reduced to one", ["avg", "min", "max", "sum", "median"], "avg"),
} as const;

type Mode = "avg" | "min" | "max" | "sum" | "median";

export const matrixStats: AggregationType = {
  name: "matrix_stats",
  summary: "Moments of several fields, their covariance and correlation.",
  options: OPTIONS,
  buckets: false,
  parse(body) {
    const { fields, missing, mode } = readAggregation("matrix_stats", body, OPTIONS);
    const names = fieldOrder([...new Set(fields ?? [])]);
    if (names.length === 0 || names.length > MAX_FIELDS)
      throw new AppError("parsing", `[fields] of [matrix_stats] must name 1 to ${MAX_FIELDS} fields`);
    return new MatrixStats(names, missing ?? {}, mode);
  },
};

class MatrixStats implements Aggregation<Moments> {
  readonly #fields: readonly string[];
  readonly #missing: JsonObject;
  readonly #mode: Mode;
  /** Cached statistics of states: sorting reads them at every comparison. */
  readonly #statistics = new WeakMap<Moments, JsonObject[]>();

  constructor(fields: readonly string[], missing: JsonObject, mode: Mode) {
    this.#fields = fields;
    this.#missing = missing;
    this.#mode = mode;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<Moments> {
    const values = this.#fields.map((name) => new FieldNumbers(name, this.#missing[name], this.#mode, shard));
    return new MatrixCollector(values, budget);
  }

  merge(states: readonly Moments[]): Moments {
    return states.reduce(mergeMoments);
  }

  render(state: Moments): JsonObject {
    if (state.count === 0) return { doc_count: 0 };
    return { doc_count: state.count, fields: this.#statisticsOf(state) };
  }

  empty(): Moments {
    return noMoments(this.#fields.length);
  }

  metric(state: Moments, name: string): number | undefined {
    if (name === "doc_count") return state.count;
    const [field, statistic] = [name.slice(0, name.lastIndexOf(".")), name.slice(name.lastIndexOf(".") + 1)];
    const found = fieldOrder(this.#fields).includes(field)
      ? this.#statisticsOf(state).find((each) => each["name"] === field)?.[statistic]
      : undefined;
    return printedNumber(found);
  }

  typedName(): string {
    return "matrix_stats";
  }

  #statisticsOf(state: Moments): JsonObject[] {
    const known = this.#statistics.get(state);
    if (known !== undefined) return known;
    const made = statisticsOf(this.#fields, state);
    this.#statistics.set(state, made);
    return made;
  }
}

/** One number of a field for each document. */
class FieldNumbers {
  readonly #field: Field | undefined;
  readonly #missing: number | undefined;
  readonly #mode: Mode;
  readonly #values: number[] = [];
  #column: NumericColumn | null = null;

  constructor(name: string, missing: unknown, mode: Mode, shard: ShardContext) {
    this.#field = columnField(shard, name);
    if (this.#field !== undefined && !isNumeric(this.#field))
      throw fieldTypeFault(this.#field, "matrix_stats");
    this.#missing = missingNumber(missing, this.#field, shard, "matrix_stats");
    this.#mode = mode;
  }

  open(segment: SegmentReader): void {
    this.#column = numericColumn(segment, this.#field);
  }

  /** Returns the number; undefined for a document without one. */
  of(doc: number): number | undefined {
    const count = this.#column?.read(doc, this.#values) ?? 0;
    if (count === 0) return this.#missing;
    return count === 1 ? this.#values[0]! : oneOfMany(this.#values.slice(0, count), this.#mode);
  }
}

function oneOfMany(values: readonly number[], mode: Mode): number {
  const sum = values.reduce((a, b) => a + b, 0);
  if (mode === "sum") return sum;
  if (mode === "avg") return sum / values.length;
  const sorted = values.toSorted((a, b) => a - b);
  if (mode === "min") return sorted[0]!;
  if (mode === "max") return sorted.at(-1)!;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

class MatrixCollector implements Collector<Moments> {
  readonly #fields: readonly FieldNumbers[];
  readonly #budget: CollectBudget;
  readonly #buckets: (Moments | undefined)[] = [];

  constructor(fields: readonly FieldNumbers[], budget: CollectBudget) {
    this.#fields = fields;
    this.#budget = budget;
  }

  segment(segment: SegmentReader): void {
    for (const field of this.#fields) field.open(segment);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    const values: number[] = [];
    for (let at = 0; at < length; at++) {
      values.length = 0;
      for (const field of this.#fields) {
        const value = field.of(docs[at]!);
        if (value === undefined) break;
        values.push(value);
      }
      if (values.length === this.#fields.length) addDocument(this.#of(buckets[at]!), values);
    }
  }

  state(bucket: number): Moments {
    return this.#buckets[bucket] ?? noMoments(this.#fields.length);
  }

  /** A bucket's numbers grow with the pairs of fields, and count as this many buckets. */
  #of(bucket: number): Moments {
    const known = this.#buckets[bucket];
    if (known !== undefined) return known;
    this.#budget.add(this.#fields.length ** 2);
    const made = noMoments(this.#fields.length);
    this.#buckets[bucket] = made;
    return made;
  }
}
