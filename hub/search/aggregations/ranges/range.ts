/** `range`: documents by given intervals of numbers. From is inclusive, to exclusive. */

import type { Field } from "#hub/engine/mapping/field.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import {
  byKey,
  emptyFixed,
  FixedCollector,
  type FixedState,
  mergeFixed,
  type Sorter,
} from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import {
  type OpenNumbers,
  openNumbers,
  readValueSource,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { renderTree } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { fieldTypeFault } from "#hub/search/aggregations/tree/field-option.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import {
  commonFormat,
  formatOf,
  printValue,
  RAW,
  type ValueFormat,
} from "#hub/search/columns/value-format.ts";
import { objectOf } from "#hub/search/options/json.ts";
import { anything, flag, list, readOptions, required, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction } from "#proto/kit/number-text.ts";
import { type RangeLimits, SortedRanges } from "./sorted-ranges.ts";

const OPTIONS = {
  field: text("field of numbers", undefined),
  script: VALUE_SCRIPT,
  ranges: required(list("intervals {key, from, to}; from inclusive, to exclusive")),
  keyed: flag("whether buckets are an object by key", false),
  missing: anything("value of documents without one"),
  format: text("format of printed bounds", undefined),
} as const;

/** Ranges of one aggregation: each document is compared with all of them. */
const MAX_RANGES = 10_000;

const RANGE_OPTIONS = {
  key: text("name of the bucket", undefined),
  from: anything("first value"),
  to: anything("first value behind"),
} as const;

export const range: AggregationType = {
  name: "range",
  summary: "Documents by given intervals of a number; from inclusive, to exclusive.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("range", body, OPTIONS);
    const ranges = readRanges(options.ranges, "range");
    return new Ranges({
      name: "range",
      source: readValueSource(options, name),
      ranges,
      keyed: options.keyed ?? false,
      missing: options.missing,
      below,
      checkField(field) {
        if (!isNumeric(field)) throw fieldTypeFault(field, "range");
      },
      formatOf: (field) => formatOf(field, options.format),
      bound: (value) => readBound(value),
    });
  },
};

/** An interval as it was asked for. */
export interface AskedRange {
  readonly key: string | undefined;
  readonly from: unknown;
  readonly to: unknown;
}

export interface RangesOptions {
  readonly name: "range" | "date_range" | "geo_distance";
  readonly source: ValueSource;
  readonly ranges: readonly AskedRange[];
  readonly keyed: boolean;
  readonly missing: unknown;
  /** Formats of a text in `missing`; undefined: the field's. */
  readonly format?: string | undefined;
  readonly below: AggregationTree;
  checkField(field: Field): void;
  formatOf(field: Field | undefined): ValueFormat;
  /** A bound as a number; undefined for an open side. */
  bound(value: unknown, shard: ShardContext, field: Field | undefined): number | undefined;
  /** The `from` that buckets without one show. */
  readonly lowest?: number;
  /** Sorts documents by something other than the numbers of the field. */
  sorter?(shard: ShardContext, ranges: readonly RangeLimits[]): Sorter;
}

/** Reads the option `ranges`. Throws parsing. */
export function readRanges(given: readonly unknown[] | undefined, owner: string): AskedRange[] {
  checkRangeCount(given?.length ?? 0, owner);
  const ranges = (given ?? []).map((each) =>
    readOptions(owner, objectOf(each, `${owner}] [ranges`), RANGE_OPTIONS, "aggregation"),
  );
  if (ranges.length === 0)
    throw new AppError("request_invalid", `No [ranges] specified for the [${owner}] aggregation`);
  return ranges;
}

/** Throws request_invalid for too many ranges, before any of them is read. */
export function checkRangeCount(count: number, owner: string): void {
  if (count > MAX_RANGES)
    throw new AppError("request_invalid", `[${owner}] [ranges] has ${count} ranges, more than ${MAX_RANGES}`);
}

/** JSON-able. Buckets in the order of their bounds. */
interface RangesState {
  readonly ranges: readonly {
    readonly key: string | undefined;
    readonly from: number | null;
    readonly to: number | null;
  }[];
  readonly buckets: FixedState;
  readonly format: ValueFormat;
}

/** Both kinds of ranges. */
export class Ranges implements Aggregation<RangesState> {
  readonly emptyLacksBounds = true;
  readonly #options: RangesOptions;

  constructor(options: RangesOptions) {
    this.#options = options;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<RangesState> {
    const { source, below, missing, format: given, name } = this.#options;
    const numbers = openNumbers(shard, source, {
      missing,
      format: given,
      owner: name,
      checkField: (mapped) => this.#options.checkField(mapped),
    });
    const { field } = numbers;
    const ranges = this.#ranges(shard, field);
    const collector = new FixedCollector(
      ranges.length,
      this.#options.sorter?.(shard, ranges) ?? new RangeSorter(ranges, numbers),
      below,
      shard,
      budget,
    );
    const format = this.#options.formatOf(field);
    return {
      takesLate: this.#options.sorter === undefined && numbers.values.areStored && collector.belowTakesLate,
      segment: (segment) => collector.segment(segment),
      collect: (docs, owners, length) => collector.collect(docs, owners, length),
      state: (owner) => ({ ranges, buckets: collector.state(owner), format }),
      *steps(owner) {
        return { ranges, buckets: yield* collector.steps(owner), format };
      },
    };
  }

  *merge(states: readonly RangesState[]): Steps<RangesState> {
    // Bounds are read by the field's format, so they belong to it.
    const format = states.map((state) => state.format).reduce(commonFormat);
    const known = states.find((state) => state.format === format) ?? states[0]!;
    return {
      ...known,
      buckets: yield* mergeFixed(
        states.map((state) => state.buckets),
        this.#options.below,
      ),
    };
  }

  *render({ ranges, buckets, format }: RangesState, budget: BucketBudget): Steps<JsonObject> {
    budget.add(ranges.length);
    const rendered: (JsonObject & { readonly key: string })[] = [];
    for (const [at, range] of ranges.entries()) {
      yield;
      rendered.push({
        key: range.key ?? `${print(range.from, format)}-${print(range.to, format)}`,
        ...bounds("from", range.from ?? this.#options.lowest ?? null, format),
        ...bounds("to", range.to, format),
        doc_count: buckets[at]!.count,
        ...(yield* renderTree(this.#options.below, buckets[at]!.below, budget)),
      });
    }
    return { buckets: this.#options.keyed ? byKey(rendered) : rendered };
  }

  empty(): RangesState {
    const ranges = this.#options.ranges.map(({ key, from, to }) => ({
      key,
      from: readPlain(from),
      to: readPlain(to),
    }));
    return { ranges, buckets: emptyFixed(ranges.length, this.#options.below), format: RAW };
  }

  typedName(): string {
    return this.#options.name;
  }

  #ranges(shard: ShardContext, field: Field | undefined): RangesState["ranges"] {
    const bound = (value: unknown): number | null => this.#options.bound(value, shard, field) ?? null;
    return this.#options.ranges
      .map(({ key, from, to }) => ({
        key,
        from: bound(from),
        to: bound(to),
      }))
      .sort((a, b) => low(a.from) - low(b.from) || high(a.to) - high(b.to) || 0);
  }
}

class RangeSorter implements Sorter {
  readonly #ranges: SortedRanges;
  readonly #numbers: OpenNumbers;

  constructor(ranges: RangesState["ranges"], numbers: OpenNumbers) {
    this.#ranges = new SortedRanges(ranges);
    this.#numbers = numbers;
  }

  segment(segment: SegmentReader): void {
    this.#numbers.open(segment);
  }

  sort(docs: Int32Array, length: number, put: (index: number, bucket: number) => void): void {
    const count = this.#numbers.values.read(docs, length);
    const { values, places } = this.#numbers.values;
    this.#ranges.put({ values, places, count }, put);
  }
}

function low(value: number | null): number {
  return value ?? -Number.MAX_VALUE;
}

function high(value: number | null): number {
  return value ?? Number.MAX_VALUE;
}

function print(value: number | null, format: ValueFormat): string {
  return value === null ? "*" : (printValue(format, value) ?? doubleText(value));
}

function bounds(name: "from" | "to", value: number | null, format: ValueFormat): JsonObject {
  if (value === null) return {};
  const printed = printValue(format, value);
  return { [name]: fraction(value), ...(printed === undefined ? {} : { [`${name}_as_string`]: printed }) };
}

function readPlain(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** Reads a bound that is a number. Throws parsing. */
export function readBound(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  const number = Number(value);
  if (Number.isNaN(number))
    throw new AppError("parsing", `[range] bounds must be numbers, but one is ${JSON.stringify(value)}`);
  return number;
}
