/** `cardinality`: the number of distinct values. */

import { parseIp } from "#hub/engine/bytes/ip.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import type { DocRun, KeywordColumn, NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  readValueSource,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import {
  columnRegisters,
  DistinctCounter,
  type DistinctState,
  hashBytes,
  hashNumber,
} from "#hub/search/aggregations/sketches/hyper-log-log.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { missingNumber } from "#hub/search/aggregations/tree/field-option.ts";
import {
  columnField,
  isNumeric,
  KeywordValues,
  NumericValues,
  opensLate,
} from "#hub/search/columns/column-values.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { anything, hint, integer, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { valuesOn } from "#hub/search/scripting/document-script.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Values counted exactly by default. */
const DEFAULT_THRESHOLD = 3000;

/** Largest number of values counted exactly. */
const MAX_THRESHOLD = 40_000;

/** Ordinals of a segment that are counted at most: four bytes each. */
const MAX_COUNTED = 4_000_000;

const OPTIONS = {
  field: text("field", undefined),
  script: VALUE_SCRIPT,
  precision_threshold: integer(
    "values up to which the count is exact",
    DEFAULT_THRESHOLD,
    Number.MIN_SAFE_INTEGER,
  ),
  missing: anything("value of documents without one"),
  rehash: hint(anything("how other engines compute it")),
} as const;

export const cardinality: AggregationType = {
  name: "cardinality",
  summary: "How many different values there are; exact up to precision_threshold, then about 1 % off.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const options = readAggregation("cardinality", body, OPTIONS);
    const given = options.precision_threshold ?? DEFAULT_THRESHOLD;
    if (given < 0) {
      throw new AppError(
        "request_invalid",
        `[precisionThreshold] must be greater than or equal to 0. Found [${given}] in [${name}]`,
      );
    }
    const threshold = Math.min(MAX_THRESHOLD, given);
    return new Cardinality(readValueSource(options, name), threshold, options.missing);
  },
};

class Cardinality implements Aggregation<DistinctState> {
  readonly #source: ValueSource;
  readonly #threshold: number;
  readonly #missing: unknown;

  constructor(source: ValueSource, threshold: number, missing: unknown) {
    this.#source = source;
    this.#threshold = threshold;
    this.#missing = missing;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<DistinctState> {
    const { field = "", script } = this.#source;
    const counters = new Counters(this.#threshold, budget);
    if (script !== undefined) return countScripted(valuesOn(script, shard), counters, this.#missing);
    if (field === "_index" || field === "_type") {
      const state = {
        hashes: [hashBytes(Buffer.from(field === "_index" ? shard.index : shard.typeName))],
      };
      return { segment: () => undefined, collect: () => undefined, state: () => state };
    }
    return new CardinalityCollector(shard, field, counters, this.#missing);
  }

  merge(states: readonly DistinctState[]): DistinctState {
    if (states.length === 1) return states[0]!;
    const counter = new DistinctCounter(this.#threshold);
    for (const state of states) counter.merge(state);
    return counter.state();
  }

  render(state: DistinctState): { value: number } {
    return { value: this.#count(state) };
  }

  empty(): DistinctState {
    return { hashes: [] };
  }

  metric(state: DistinctState, name: string): number | undefined {
    return name === "" || name === "value" ? this.#count(state) : undefined;
  }

  typedName(): string {
    return "cardinality";
  }

  #count(state: DistinctState): number {
    const counter = new DistinctCounter(this.#threshold);
    counter.merge(state);
    return counter.count();
  }
}

/** The counters of buckets, each created with its bucket's first value. */
class Counters {
  readonly threshold: number;
  readonly #budget: CollectBudget;
  readonly #counters: DistinctCounter[] = [];

  constructor(threshold: number, budget: CollectBudget) {
    this.threshold = threshold;
    this.#budget = budget;
  }

  of(bucket: number): DistinctCounter {
    const known = this.#counters[bucket];
    if (known !== undefined) return known;
    // A full counter takes about as much memory as that many buckets.
    this.#budget.add(16);
    return (this.#counters[bucket] = new DistinctCounter(this.threshold));
  }

  state(bucket: number): DistinctState {
    return this.#counters[bucket]?.state() ?? { hashes: [] };
  }
}

/** Counts the values that a script makes; a number is another value than its text. */
function countScripted(
  bind: ReturnType<typeof valuesOn>,
  counters: Counters,
  missing: unknown,
): Collector<DistinctState> {
  const hash = (value: unknown): number =>
    typeof value === "number" ? hashNumber(value) : hashBytes(Buffer.from(scalarText(value, "script")));
  let valuesOf: (doc: number) => readonly unknown[] = () => [];
  return {
    segment: (segment) => {
      valuesOf = bind(segment);
    },
    collect: (docs, buckets, length) => {
      for (let at = 0; at < length; at++) {
        const found = valuesOf(docs[at]!);
        const values = found.length > 0 || missing === undefined ? found : [missing];
        for (const value of values) counters.of(buckets[at]!).add(hash(value));
      }
    },
    state: (bucket) => counters.state(bucket),
  };
}

/** The hash that a value of the field would have; undefined without `missing`. Throws parsing. */
function missingHash(missing: unknown, field: Field | undefined, shard: ShardContext): number | undefined {
  if (missing === undefined || missing === null) return undefined;
  if (field === undefined ? typeof missing === "number" : isNumeric(field))
    return hashNumber(missingNumber(missing, field, shard, "cardinality")!);
  const text = scalarText(missing, "missing");
  return hashBytes((field?.type === "ip" ? parseIp(text) : null) ?? Buffer.from(text));
}

class CardinalityCollector implements Collector<DistinctState> {
  readonly takesLate: boolean;
  readonly #field: Field | undefined;
  readonly #counters: Counters;
  readonly #missing: number | undefined;
  readonly #numbers = new NumericValues();
  readonly #keywords = new KeywordValues();
  readonly #exact: bigint[] = [];
  #keywordColumn: KeywordColumn | null = null;
  #numericColumn: NumericColumn | null = null;
  /** Hash by ordinal of the segment, NaN if it isn't made yet. */
  #hashes = new Float64Array(0);
  /** Documents by ordinal of one bucket in the open segment, -1 if there is none. */
  #counts = new Int32Array(0);
  #countedBucket = -1;

  constructor(shard: ShardContext, name: string, counters: Counters, missing: unknown) {
    const field = columnField(shard, name);
    this.#field = field;
    this.takesLate = field === undefined || opensLate(shard, field.path);
    this.#counters = counters;
    this.#missing = missingHash(missing, field, shard);
  }

  segment(segment: SegmentReader): void {
    this.#settle();
    if (this.#field === undefined) return;
    if (isNumeric(this.#field)) {
      this.#numericColumn = segment.numericColumn(this.#field.path);
      this.#numbers.open(this.#numericColumn);
      return;
    }
    this.#keywordColumn = segment.keywordColumn(this.#field.path);
    this.#keywords.open(this.#keywordColumn);
    this.#counts = new Int32Array(0);
    this.#hashes = new Float64Array(this.#keywordColumn?.cardinality ?? 0).fill(Number.NaN);
  }

  collect(docs: Int32Array, buckets: Int32Array, length: number): void {
    if (this.#field !== undefined && !isNumeric(this.#field)) this.#collectKeywords(docs, buckets, length);
    else if (this.#numericColumn?.safe === false) this.#collectExact(docs, buckets, length);
    else this.#collectNumbers(docs, buckets, length);
  }

  /** Fast path: which ordinals there are is counted first; each is hashed once. */
  collectRun(run: DocRun, bucket: number): boolean {
    const column = this.#keywordColumn;
    if (column === null || this.#missing !== undefined || column.cardinality > MAX_COUNTED) return false;
    if (this.#countedBucket !== bucket) this.#settle();
    if (this.#counts.length === 0) this.#counts = new Int32Array(column.cardinality);
    if (!column.count(run, this.#counts, 0)) return false;
    this.#countedBucket = bucket;
    return true;
  }

  state(bucket: number): DistinctState {
    this.#settle();
    return this.#counters.state(bucket);
  }

  /** Gives the ordinals counted of the open segment to the counter of their bucket. */
  #settle(): void {
    if (this.#countedBucket < 0) return;
    const counter = this.#counters.of(this.#countedBucket);
    this.#countedBucket = -1;
    const registers = this.#registers(this.#keywordColumn!);
    if (registers === undefined) this.#addHashes(counter);
    else counter.addCounted(this.#counts, registers);
    this.#counts.fill(0);
  }

  /** Registers of the open segment's values; undefined for few counted ones, which are hashed. */
  #registers(column: KeywordColumn): Int32Array | undefined {
    let met = 0;
    for (let ordinal = 0; ordinal < this.#counts.length; ordinal++) if (this.#counts[ordinal] !== 0) met++;
    if (met <= this.#counters.threshold) return undefined;
    return columnRegisters().open(column, met);
  }

  #addHashes(counter: DistinctCounter): void {
    const reader = this.#keywordColumn!.reader();
    for (let ordinal = 0; ordinal < this.#counts.length; ordinal++) {
      if (this.#counts[ordinal] === 0) continue;
      if (Number.isNaN(this.#hashes[ordinal]!)) this.#hashes[ordinal] = hashBytes(reader.bytes(ordinal));
      counter.add(this.#hashes[ordinal]!);
    }
  }

  #collectNumbers(docs: Int32Array, buckets: Int32Array, length: number): void {
    const count = this.#field === undefined ? 0 : this.#numbers.read(docs, length);
    const { values, places } = this.#numbers;
    for (let at = 0; at < count; at++) this.#counters.of(buckets[places[at]!]!).add(hashNumber(values[at]!));
    if (this.#missing === undefined) return;
    for (let at = 0, next = 0; at < length; at++) {
      if (next < count && places[next] === at) while (next < count && places[next] === at) next++;
      else this.#counters.of(buckets[at]!).add(this.#missing);
    }
  }

  #collectKeywords(docs: Int32Array, buckets: Int32Array, length: number): void {
    const count = this.#keywords.read(docs, length);
    const { ordinals, places } = this.#keywords;
    for (let at = 0; at < count; at++) {
      const ordinal = ordinals[at]!;
      const hash = ordinal < 0 ? this.#missing : this.#hash(ordinal);
      if (hash !== undefined) this.#counters.of(buckets[places[at]!]!).add(hash);
    }
  }

  #collectExact(docs: Int32Array, buckets: Int32Array, length: number): void {
    for (let at = 0; at < length; at++) {
      const found = this.#numericColumn!.readExact(docs[at]!, this.#exact);
      for (let each = 0; each < found; each++) {
        const value = this.#exact[each]!;
        const number = Number(value);
        const hash = Number.isSafeInteger(number)
          ? hashNumber(number)
          : hashBytes(Buffer.from(String(value)));
        this.#counters.of(buckets[at]!).add(hash);
      }
      if (found === 0 && this.#missing !== undefined) this.#counters.of(buckets[at]!).add(this.#missing);
    }
  }

  #hash(ordinal: number): number {
    const known = this.#hashes[ordinal]!;
    if (!Number.isNaN(known)) return known;
    return (this.#hashes[ordinal] = hashBytes(this.#keywordColumn!.lookup(ordinal)));
  }
}
