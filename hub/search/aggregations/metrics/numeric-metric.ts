/** Metrics of a number field that follow from count, sum, minimum and maximum: avg, max, min, sum, stats. */

import { SUM_WIDTH, SumOffset } from "#hub/engine/columns/column-sums.ts";
import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  readValueSource,
  ScriptedNumbers,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import type {
  Aggregation,
  ChosenOrdinals,
  CollectBudget,
  Collector,
  OrdinalBuckets,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { fieldTypeFault, missingNumber } from "#hub/search/aggregations/tree/field-option.ts";
import { columnField, isNumeric, NumericValues, numericColumn } from "#hub/search/columns/column-values.ts";
import type { SegmentRun } from "#hub/search/columns/set-blocks.ts";
import {
  commonFormat,
  formatOf,
  printValue,
  RAW,
  type ValueFormat,
} from "#hub/search/columns/value-format.ts";
import { anything, text, withoutEffect } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { type BucketNumbers, BucketStats } from "./bucket-stats.ts";
import { addExact, type ExactSum, sumOf } from "./exact-sum.ts";

/** JSON-able; `min` and `max` null without values. */
interface NumericState extends Omit<BucketNumbers, "sum" | "sumOfSquares"> {
  readonly sum: ExactSum;
  readonly sumOfSquares: ExactSum;
  readonly format: ValueFormat;
}

/** Numbers by their names; null without values. */
export type NumberGroup = Readonly<Record<string, number | null>>;

/** Returns numbers as answers hold them: none of them is of a whole kind. */
export function fractions(numbers: NumberGroup): JsonObject {
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, fraction(value)]));
}

export interface NumericMetric {
  readonly name: string;
  readonly summary: string;
  /** The answer, by its numbers; dates get a printed twin of each. */
  numbers(state: BucketNumbers): NumberGroup;
  /** Numbers that count values, so that they have no printed twin. */
  readonly counts?: readonly string[];
  /** Numbers that are grouped in an object, by its name. */
  groups?(state: BucketNumbers): Readonly<Record<string, NumberGroup>>;
  /** Numbers that have other names in orders and pipelines than in the answer. */
  paths?(state: BucketNumbers): NumberGroup;
}

const OPTIONS = {
  field: text("field of numbers, dates or booleans", undefined),
  script: VALUE_SCRIPT,
  missing: anything("value of documents without one"),
  format: text("format of the printed values", undefined),
  value_type: withoutEffect(text("the type of the field counts", undefined)),
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
      const source = readValueSource(options, name);
      return new NumericAggregation(metric, source, options.missing, options.format);
    },
  };
}

class NumericAggregation implements Aggregation<NumericState> {
  readonly collectedAs?: string;
  readonly #metric: NumericMetric;
  readonly #source: ValueSource;
  readonly #missing: unknown;
  readonly #format: string | undefined;

  constructor(metric: NumericMetric, source: ValueSource, missing: unknown, format: string | undefined) {
    this.#metric = metric;
    this.#source = source;
    this.#missing = missing;
    this.#format = format;
    const { field, script } = source;
    if (script === undefined) this.collectedAs = `numbers ${JSON.stringify({ field, missing, format })}`;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<NumericState> {
    const { field, script } = this.#source;
    if (script !== undefined) {
      const mapped = field === undefined ? undefined : columnField(shard, field);
      const missing = missingNumber(this.#missing, mapped, shard, this.#metric.name, this.#format);
      const numbers = new ScriptedNumbers(script, shard, missing, this.#metric.name);
      return new ScriptedCollector(numbers, formatOf(mapped, this.#format), budget);
    }
    return new NumericCollector({ shard, budget }, field!, this.#missing, this.#format, this.#metric.name);
  }

  merge(states: readonly NumericState[]): NumericState {
    return states.reduce((a, b) => ({
      count: a.count + b.count,
      sum: addExact(a.sum, b.sum),
      min: a.min === null || b.min === null ? (a.min ?? b.min) : Math.min(a.min, b.min),
      max: a.max === null || b.max === null ? (a.max ?? b.max) : Math.max(a.max, b.max),
      sumOfSquares: addExact(a.sumOfSquares, b.sumOfSquares),
      format: commonFormat(a.format, b.format),
    }));
  }

  render(state: NumericState): JsonObject {
    const answer: JsonObject = {};
    const printed: JsonObject = {};
    const totals = totalsOf(state);
    for (const [name, value] of Object.entries(this.#metric.numbers(totals))) {
      const isCount = this.#metric.counts?.includes(name) === true;
      answer[name] = isCount ? value : fraction(value);
      if (value === null || isCount) continue;
      const twin = printValue(state.format, value);
      if (twin !== undefined) printed[`${name}_as_string`] = twin;
    }
    for (const [name, group] of Object.entries(this.#metric.groups?.(totals) ?? {})) {
      answer[name] = fractions(group);
      const twins = Object.entries(group).flatMap(([key, value]) => {
        const twin = value === null ? undefined : printValue(state.format, value);
        return twin === undefined ? [] : [[key, twin] as const];
      });
      if (twins.length > 0) printed[`${name}_as_string`] = Object.fromEntries(twins);
    }
    return { ...answer, ...printed };
  }

  empty(): NumericState {
    return { count: 0, sum: 0, min: null, max: null, sumOfSquares: 0, format: RAW };
  }

  metric(state: NumericState, name: string): number | undefined {
    const totals = totalsOf(state);
    const numbers = { ...this.#metric.numbers(totals), ...this.#metric.paths?.(totals) };
    const value = numbers[name === "" ? "value" : name];
    return value === null ? absent(name === "" || name === "value" ? this.#metric.name : name) : value;
  }

  typedName(): string {
    return this.#metric.name;
  }
}

/** What orders take for a metric without values. */
function absent(name: string): number {
  if (name === "min") return Number.POSITIVE_INFINITY;
  if (name === "max") return Number.NEGATIVE_INFINITY;
  return name === "sum" || name === "sum_of_squares" ? 0 : Number.NaN;
}

function totalsOf({ count, min, max, sum, sumOfSquares }: NumericState): BucketNumbers {
  return { count, min, max, sum: sumOf(sum), sumOfSquares: sumOf(sumOfSquares) };
}

const NOTHING = new Float64Array(0);

class NumericCollector implements Collector<NumericState> {
  readonly takesLate = true;
  readonly #field: ReturnType<typeof columnField>;
  readonly #values: NumericValues;
  readonly #format: ValueFormat;
  readonly #stats: BucketStats;
  #sums = new Float64Array(0);

  constructor(
    { shard, budget }: { readonly shard: ShardContext; readonly budget: CollectBudget },
    name: string,
    missing: unknown,
    format: string | undefined,
    owner: string,
  ) {
    this.#field = columnField(shard, name);
    if (this.#field !== undefined && !isNumeric(this.#field)) throw fieldTypeFault(this.#field, owner);
    this.#values = new NumericValues(missingNumber(missing, this.#field, shard, owner, format));
    this.#format = formatOf(this.#field, format);
    this.#stats = new BucketStats(budget);
  }

  segment(segment: SegmentReader): void {
    this.#values.open(numericColumn(segment, this.#field));
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    const count = this.#values.read(docs, length);
    this.#stats.addEach(this.#values.values, this.#values.places, buckets, count);
  }

  /** Fast path: the values of whole blocks of one bucket. */
  collectRun(run: SegmentRun, bucket: number): boolean {
    const column = this.#values.wholeColumn;
    if (column === null) return false;
    for (let block = run.from; block < run.to; block++) {
      const count = this.#values.readBlock(run, block);
      this.#stats.addAll(this.#values.values, count, bucket, column.kind !== "double");
    }
    return true;
  }

  takesBy(column: KeywordColumn): boolean {
    const own = this.#values.wholeColumn;
    const noDocuments = { from: 0, to: 0, words: null, wordsFrom: 0 };
    return own?.sumBy(noDocuments, column, NOTHING) ?? this.#values.isNothing;
  }

  /** Fast path: the values of whole runs of many buckets. */
  collectBy(run: SegmentRun, { column, bucketOf }: OrdinalBuckets): void {
    const own = this.#values.wholeColumn;
    if (own === null) return;
    const length = SUM_WIDTH * column.cardinality;
    const sums = length <= this.#sums.length ? this.#sums.subarray(0, length) : new Float64Array(length);
    this.#sums = sums.length > this.#sums.length ? sums : this.#sums;
    sums.fill(0);
    for (let from = 0; from < length; from += SUM_WIDTH) {
      sums[from + SumOffset.MIN] = Number.POSITIVE_INFINITY;
      sums[from + SumOffset.MAX] = Number.NEGATIVE_INFINITY;
    }
    own.sumBy(run, column, sums);
    for (let ordinal = 0; ordinal < column.cardinality; ordinal++) {
      if (sums[SUM_WIDTH * ordinal + SumOffset.COUNT] === 0) continue;
      const bucket = bucketOf(ordinal);
      if (bucket >= 0) this.#stats.addSummed(sums, SUM_WIDTH * ordinal, bucket);
    }
  }

  /** Fast path: the values of whole runs of the buckets that were chosen. */
  collectChosen(run: SegmentRun, { column, byOrdinal, size }: ChosenOrdinals): boolean {
    const own = this.#values.wholeColumn;
    if (own === null) return this.#values.isNothing;
    return this.#stats.addRun(size, (sums) => own.sumBy(run, column, sums, byOrdinal));
  }

  state(bucket: number): NumericState {
    return { ...this.#stats.of(bucket), format: this.#format };
  }
}

/** Collects values that a script makes. */
class ScriptedCollector implements Collector<NumericState> {
  readonly #numbers: ScriptedNumbers;
  readonly #format: ValueFormat;
  readonly #stats: BucketStats;

  constructor(numbers: ScriptedNumbers, format: ValueFormat, budget: CollectBudget) {
    this.#numbers = numbers;
    this.#format = format;
    this.#stats = new BucketStats(budget);
  }

  segment(segment: SegmentReader): void {
    this.#numbers.segment(segment);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    const count = this.#numbers.read(docs, length);
    this.#stats.addEach(this.#numbers.values, this.#numbers.places, buckets, count);
  }

  state(bucket: number): NumericState {
    return { ...this.#stats.of(bucket), format: this.#format };
  }
}

export const avg = numericMetric({
  name: "avg",
  summary: "The mean of the values.",
  numbers: (state) => ({ value: state.count === 0 ? null : state.sum / state.count }),
});

export const max = numericMetric({
  name: "max",
  summary: "The largest value.",
  numbers: (state) => ({ value: state.max }),
});

export const min = numericMetric({
  name: "min",
  summary: "The smallest value.",
  numbers: (state) => ({ value: state.min }),
});

export const sum = numericMetric({
  name: "sum",
  summary: "All values added up; 0 without any.",
  numbers: (state) => ({ value: state.sum }),
});

export const stats = numericMetric({
  name: "stats",
  summary: "Count, smallest, largest, mean and sum of the values.",
  counts: ["count"],
  numbers: ({ count, min, max, sum }) => ({
    count,
    min,
    max,
    avg: count === 0 ? null : sum / count,
    // The sum of nothing is 0 from 7.0 on.
    sum: count === 0 && !answersAs(700) ? null : sum,
  }),
});
