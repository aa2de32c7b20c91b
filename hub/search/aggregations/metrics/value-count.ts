/** `value_count`: the number of values. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  readValueSource,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import type { Aggregation, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  columnField,
  isNumeric,
  KeywordValues,
  NumericValues,
  opensLate,
} from "#hub/search/columns/column-values.ts";
import { anything, text, withoutEffect } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { valuesOn } from "#hub/search/scripting/document-script.ts";

const OPTIONS = {
  field: text("field", undefined),
  script: VALUE_SCRIPT,
  missing: anything("anything here counts documents without a value as one"),
  value_type: withoutEffect(text("the type of the field counts", undefined)),
} as const;

export const valueCount: AggregationType = {
  name: "value_count",
  summary: "How many values there are.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const options = readAggregation("value_count", body, OPTIONS);
    return new ValueCount(readValueSource(options, name), options.missing !== undefined);
  },
};

class ValueCount implements Aggregation<number> {
  readonly #source: ValueSource;
  readonly #missing: boolean;

  constructor(source: ValueSource, missing: boolean) {
    this.#source = source;
    this.#missing = missing;
  }

  collector(shard: ShardContext): Collector<number> {
    const { field, script } = this.#source;
    if (script === undefined && field === "_id") return countScripted(() => () => ONE, this.#missing);
    if (script === undefined) return new ValueCounter(shard, field!, this.#missing);
    return countScripted(valuesOn(script, shard), this.#missing);
  }

  merge(states: readonly number[]): number {
    return states.reduce((total, state) => total + state, 0);
  }

  render(state: number): { value: number } {
    return { value: state };
  }

  empty(): number {
    return 0;
  }

  metric(state: number): number {
    return state;
  }

  typedName(): string {
    return "value_count";
  }
}

/** Each document has one id. */
const ONE = [undefined];

/** Counts the values that a script makes. */
function countScripted(
  bind: (segment: SegmentReader) => (doc: number) => readonly unknown[],
  countsMissing: boolean,
): Collector<number> {
  const counts: number[] = [];
  let valuesOf: (doc: number) => readonly unknown[] = () => [];
  return {
    segment: (segment) => {
      valuesOf = bind(segment);
    },
    collect: (docs, buckets, length) => {
      for (let at = 0; at < length; at++) {
        const found = valuesOf(docs[at]!).length;
        const bucket = buckets[at]!;
        counts[bucket] = (counts[bucket] ?? 0) + (found === 0 && countsMissing ? 1 : found);
      }
    },
    state: (bucket) => counts[bucket] ?? 0,
  };
}

class ValueCounter implements Collector<number> {
  readonly takesLate: boolean;
  readonly #field: ReturnType<typeof columnField>;
  readonly #missing: boolean;
  readonly #numbers: NumericValues;
  readonly #keywords = new KeywordValues();
  readonly #counts: number[] = [];
  #segment: SegmentReader | undefined;

  constructor(shard: ShardContext, name: string, missing: boolean) {
    this.#field = columnField(shard, name);
    this.takesLate = this.#field === undefined || opensLate(shard, this.#field.path);
    this.#missing = missing;
    this.#numbers = new NumericValues(missing ? 0 : undefined);
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
    if (this.#field === undefined) this.#numbers.open(null);
    else if (isNumeric(this.#field)) this.#numbers.open(segment.numericColumn(this.#field.path));
    else this.#keywords.open(segment.keywordColumn(this.#field.path));
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    if (this.#field?.type === "geo_point") {
      this.#countPoints(docs, buckets, length);
      return;
    }
    if (this.#field === undefined || isNumeric(this.#field)) {
      const count = this.#numbers.read(docs, length);
      for (let at = 0; at < count; at++) this.#add(buckets[this.#numbers.places[at]!]!);
      return;
    }
    const count = this.#keywords.read(docs, length);
    for (let at = 0; at < count; at++) {
      if (this.#keywords.ordinals[at]! >= 0 || this.#missing) this.#add(buckets[this.#keywords.places[at]!]!);
    }
  }

  state(bucket: number): number {
    return this.#counts[bucket] ?? 0;
  }

  #countPoints(docs: Int32Array, buckets: Int32Array, length: number): void {
    const column = this.#segment?.geoColumn(this.#field!.path);
    const points: number[] = [];
    for (let at = 0; column !== null && column !== undefined && at < length; at++) {
      this.#add(buckets[at]!, column.read(docs[at]!, points, points));
    }
  }

  #add(bucket: number, amount = 1): void {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + amount;
  }
}
