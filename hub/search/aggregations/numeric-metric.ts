/** Metrics made of count, sum, minimum and maximum of a number field. */

import type { SegmentReader } from "#hub/engine/searcher.ts";
import { columnField, isNumeric, NumericValues, numericColumn } from "../columns.ts";
import type { JsonObject } from "../json.ts";
import { anything, text } from "../options.ts";
import type { ShardContext } from "../query.ts";
import { formatOf, printValue, RAW, type ValueFormat } from "../value-format.ts";
import type { Aggregation, Collector } from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { fieldTypeFault, missingNumber, requireField } from "./field-option.ts";

/** JSON-able; `min` and `max` null without values. */
export interface NumericState {
  readonly count: number;
  readonly sum: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly sumOfSquares: number;
  readonly format: ValueFormat;
}

export interface NumericMetric {
  readonly name: string;
  readonly summary: string;
  /** The answer, by its numbers; dates get a printed twin of each. */
  numbers(state: NumericState): Readonly<Record<string, number | null>>;
  /** Numbers that count values, so that they have no printed twin. */
  readonly counts?: readonly string[];
}

const OPTIONS = {
  field: text("field of numbers, dates or booleans", undefined),
  missing: anything("value of documents without one"),
  format: text("format of the printed values", undefined),
  value_type: text("accepted", undefined),
} as const;

/** Makes the type of a metric. */
export function numericMetric(metric: NumericMetric): AggregationType {
  return {
    name: metric.name,
    summary: metric.summary,
    options: OPTIONS,
    buckets: false,
    parse(body, { name }) {
      const options = readAggregation(metric.name, body, OPTIONS);
      const field = requireField(options.field, name);
      return new NumericAggregation(metric, field, options.missing, options.format);
    },
  };
}

class NumericAggregation implements Aggregation<NumericState> {
  readonly #metric: NumericMetric;
  readonly #field: string;
  readonly #missing: unknown;
  readonly #format: string | undefined;

  constructor(metric: NumericMetric, field: string, missing: unknown, format: string | undefined) {
    this.#metric = metric;
    this.#field = field;
    this.#missing = missing;
    this.#format = format;
  }

  collector(shard: ShardContext): Collector<NumericState> {
    return new NumericCollector(shard, this.#field, this.#missing, this.#format, this.#metric.name);
  }

  merge(states: readonly NumericState[]): NumericState {
    return states.reduce((a, b) => ({
      count: a.count + b.count,
      sum: a.sum + b.sum,
      min: a.min === null || b.min === null ? (a.min ?? b.min) : Math.min(a.min, b.min),
      max: a.max === null || b.max === null ? (a.max ?? b.max) : Math.max(a.max, b.max),
      sumOfSquares: a.sumOfSquares + b.sumOfSquares,
      format: a.format.kind === "raw" ? b.format : a.format,
    }));
  }

  render(state: NumericState): JsonObject {
    const answer: JsonObject = {};
    const printed: JsonObject = {};
    for (const [name, value] of Object.entries(this.#metric.numbers(state))) {
      answer[name] = value;
      if (value === null || this.#metric.counts?.includes(name) === true) continue;
      const twin = printValue(state.format, value);
      if (twin !== undefined) printed[`${name}_as_string`] = twin;
    }
    return { ...answer, ...printed };
  }

  empty(): NumericState {
    return { count: 0, sum: 0, min: null, max: null, sumOfSquares: 0, format: RAW };
  }

  metric(state: NumericState, name: string): number | undefined {
    const numbers = this.#metric.numbers(state);
    const value = numbers[name === "" ? "value" : name];
    return value === undefined ? undefined : (value ?? Number.NEGATIVE_INFINITY);
  }

  typedName(): string {
    return this.#metric.name;
  }
}

/** Sums are kept with the error of each addition (Kahan), as many small values stand beside large ones. */
class NumericCollector implements Collector<NumericState> {
  readonly #field: ReturnType<typeof columnField>;
  readonly #values: NumericValues;
  readonly #format: ValueFormat;
  #counts = new Float64Array(16);
  #sums = new Float64Array(16);
  #errors = new Float64Array(16);
  #squares = new Float64Array(16);
  #mins = new Float64Array(16).fill(Number.POSITIVE_INFINITY);
  #maxs = new Float64Array(16).fill(Number.NEGATIVE_INFINITY);

  constructor(
    shard: ShardContext,
    name: string,
    missing: unknown,
    format: string | undefined,
    owner: string,
  ) {
    this.#field = columnField(shard, name);
    if (this.#field !== undefined && !isNumeric(this.#field)) throw fieldTypeFault(this.#field, owner);
    this.#values = new NumericValues(missingNumber(missing, this.#field, shard, owner));
    this.#format = formatOf(this.#field, format);
  }

  segment(segment: SegmentReader): void {
    this.#values.open(numericColumn(segment, this.#field));
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    const count = this.#values.read(docs, length);
    const { values, places } = this.#values;
    for (let at = 0; at < count; at++) {
      const bucket = buckets[places[at]!]!;
      if (bucket >= this.#counts.length) this.#grow(bucket);
      const value = values[at]!;
      this.#counts[bucket]!++;
      const corrected = value - this.#errors[bucket]!;
      const sum = this.#sums[bucket]! + corrected;
      this.#errors[bucket] = Number.isFinite(sum) ? sum - this.#sums[bucket]! - corrected : 0;
      this.#sums[bucket] = sum;
      this.#squares[bucket]! += value * value;
      if (value < this.#mins[bucket]!) this.#mins[bucket] = value;
      if (value > this.#maxs[bucket]!) this.#maxs[bucket] = value;
    }
  }

  state(bucket: number): NumericState {
    const count = this.#counts[bucket] ?? 0;
    return {
      count,
      sum: count === 0 ? 0 : this.#sums[bucket]!,
      min: count === 0 ? null : this.#mins[bucket]!,
      max: count === 0 ? null : this.#maxs[bucket]!,
      sumOfSquares: count === 0 ? 0 : this.#squares[bucket]!,
      format: this.#format,
    };
  }

  #grow(bucket: number): void {
    const size = Math.max(bucket + 1, this.#counts.length * 2);
    const grown = (from: Float64Array, fill: number): Float64Array<ArrayBuffer> => {
      const to = new Float64Array(size).fill(fill);
      to.set(from);
      return to;
    };
    this.#counts = grown(this.#counts, 0);
    this.#sums = grown(this.#sums, 0);
    this.#errors = grown(this.#errors, 0);
    this.#squares = grown(this.#squares, 0);
    this.#mins = grown(this.#mins, Number.POSITIVE_INFINITY);
    this.#maxs = grown(this.#maxs, Number.NEGATIVE_INFINITY);
  }
}
