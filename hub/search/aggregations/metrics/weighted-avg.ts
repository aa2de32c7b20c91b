/** `weighted_avg`: the mean of the values of a field or script, weighted by another one. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Aggregation, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { fieldTypeFault, missingNumber, requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { columnField, isNumeric, numericColumn } from "#hub/search/columns/column-values.ts";
import { printValue, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { anything, object, readOptions, required, text, withoutEffect } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import {
  readValueScript,
  type ScriptedValue,
  scriptedNumber,
  type ValueScript,
  valuesOn,
} from "#hub/search/scripting/document-script.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { addExact, type ExactSum, sumOf } from "./exact-sum.ts";

const OPTIONS = {
  value: required(object("the values: {field | script, missing}")),
  weight: required(object("the weights, one for each document: {field | script, missing}")),
  format: text("format of the printed value", undefined),
  value_type: withoutEffect(text("the type of the field counts", undefined)),
} as const;
const PART_OPTIONS = {
  field: text("field of numbers", undefined),
  script: anything("script that returns the numbers"),
  missing: anything("value of documents without one"),
} as const;

interface Part {
  /** Undefined where a script returns the numbers. */
  readonly field: string | undefined;
  readonly script: ValueScript | undefined;
  readonly missing: unknown;
}

/** JSON-able. */
interface WeightedState {
  readonly sum: ExactSum;
  readonly weights: ExactSum;
}

export const weightedAvg: AggregationType = {
  name: "weighted_avg",
  summary: "The mean of the values, weighted by another field.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const options = readAggregation("weighted_avg", body, OPTIONS);
    const part = (given: JsonObject | undefined, which: string): Part => {
      const { field, script, missing } = readOptions(
        `weighted_avg] [${which}`,
        given ?? {},
        PART_OPTIONS,
        "aggregation",
      );
      if (script === undefined) return { field: requireField(field, name), script: undefined, missing };
      if (field === undefined) return { field, script: readValueScript(script, undefined), missing };
      throw new AppError(
        "request_invalid",
        "[field] and [script] cannot both be configured.  Please specify one or the other.",
      );
    };
    const format: ValueFormat | undefined =
      options.format === undefined ? undefined : { kind: "decimal", pattern: options.format };
    return new WeightedAvg(part(options.value, "value"), part(options.weight, "weight"), format);
  },
};

class WeightedAvg implements Aggregation<WeightedState> {
  readonly #value: Part;
  readonly #weight: Part;
  readonly #format: ValueFormat | undefined;

  constructor(value: Part, weight: Part, format: ValueFormat | undefined) {
    this.#value = value;
    this.#weight = weight;
    this.#format = format;
  }

  collector(shard: ShardContext): Collector<WeightedState> {
    return new WeightedCollector(
      new PartValues(this.#value, shard),
      new PartValues(this.#weight, shard),
      this.#weight.field ?? "script",
    );
  }

  merge(states: readonly WeightedState[]): WeightedState {
    return states.reduce((a, b) => ({
      sum: addExact(a.sum, b.sum),
      weights: addExact(a.weights, b.weights),
    }));
  }

  render(state: WeightedState): JsonObject {
    const value = weightedMean(state);
    const printed =
      value === null || this.#format === undefined ? undefined : printValue(this.#format, value);
    return { value: fraction(value), ...(printed !== undefined && { value_as_string: printed }) };
  }

  empty(): WeightedState {
    return { sum: 0, weights: 0 };
  }

  metric(state: WeightedState, name: string): number | undefined {
    return name === "" || name === "value" ? (weightedMean(state) ?? Number.NaN) : undefined;
  }

  typedName(): string {
    return "weighted_avg";
  }
}

function weightedMean({ sum, weights }: WeightedState): number | null {
  const total = sumOf(weights);
  return total === 0 ? null : sumOf(sum) / total;
}

/** Numbers of a field or script, document by document. */
class PartValues {
  readonly #field: Field | undefined;
  readonly #bind: ReturnType<typeof valuesOn> | undefined;
  readonly #missing: number | undefined;
  readonly values: number[] = [];
  #column: NumericColumn | null = null;
  #scripted: ((doc: number) => ScriptedValue[]) | undefined;

  constructor({ field, script, missing }: Part, shard: ShardContext) {
    this.#field = field === undefined ? undefined : columnField(shard, field);
    this.#bind = script === undefined ? undefined : valuesOn(script, shard);
    if (this.#field !== undefined && !isNumeric(this.#field))
      throw fieldTypeFault(this.#field, "weighted_avg");
    this.#missing = missingNumber(missing, this.#field, shard, "weighted_avg");
  }

  open(segment: SegmentReader): void {
    this.#column = numericColumn(segment, this.#field);
    this.#scripted = this.#bind?.(segment);
  }

  /** Reads the values of a document into `values` and returns how many there are. */
  read(doc: number): number {
    const count =
      this.#scripted === undefined
        ? (this.#column?.read(doc, this.values) ?? 0)
        : this.#keep(this.#scripted(doc));
    if (count > 0 || this.#missing === undefined) return count;
    this.values[0] = this.#missing;
    return 1;
  }

  #keep(found: readonly ScriptedValue[]): number {
    for (const [at, value] of found.entries()) this.values[at] = scriptedNumber(value, "weighted_avg");
    return found.length;
  }
}

class WeightedCollector implements Collector<WeightedState> {
  readonly #value: PartValues;
  readonly #weight: PartValues;
  readonly #weightField: string;
  readonly #sums: number[] = [];
  readonly #weights: number[] = [];

  constructor(value: PartValues, weight: PartValues, weightField: string) {
    this.#value = value;
    this.#weight = weight;
    this.#weightField = weightField;
  }

  segment(segment: SegmentReader): void {
    this.#value.open(segment);
    this.#weight.open(segment);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    for (let at = 0; at < length; at++) {
      const count = this.#value.read(docs[at]!);
      const weights = this.#weight.read(docs[at]!);
      if (count === 0 || weights === 0) continue;
      if (weights > 1) {
        throw new AppError(
          "request_invalid",
          `Encountered more than one weight for a single document in [${this.#weightField}]; use a field with one value`,
        );
      }
      const weight = this.#weight.values[0]!;
      const bucket = buckets[at]!;
      for (let each = 0; each < count; each++) {
        this.#sums[bucket] = (this.#sums[bucket] ?? 0) + this.#value.values[each]! * weight;
        this.#weights[bucket] = (this.#weights[bucket] ?? 0) + weight;
      }
    }
  }

  state(bucket: number): WeightedState {
    return { sum: this.#sums[bucket] ?? 0, weights: this.#weights[bucket] ?? 0 };
  }
}
