/**
 * `auto_date_histogram`: at most the requested number of buckets, of the finest time unit that allows it.
 */

import { type Field, isDate } from "#hub/engine/mapping/field.ts";
import type {
  Aggregation,
  AggregationTree,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  emptyTree,
  hasBoundsOfShards,
  mergeTree,
  renderTree,
} from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { fieldTypeFault, missingNumber, requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { columnField, NumericValues, numericColumn } from "#hub/search/columns/column-values.ts";
import { formatOf, printValue, RAW } from "#hub/search/columns/value-format.ts";
import { timeZone } from "#hub/search/dates/date-math.ts";
import { type CalendarUnit, calendarRounding, type Rounding } from "#hub/search/dates/rounding.ts";
import { anything, integer, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { DAY_MS, HOUR_MS } from "#proto/kit/units.ts";
import { type HistogramState, mergeHistograms, type NumberBucket } from "./histogram-buckets.ts";
import { HistogramCollector } from "./histogram-collector.ts";

const OPTIONS = {
  field: text("date field", undefined),
  buckets: integer("buckets wanted at most", 10, 1),
  format: text("format of the printed keys", undefined),
  time_zone: text("zone in which buckets begin: +01:00 or Europe/Berlin", undefined),
  missing: anything("time of documents without one"),
} as const;

interface Step {
  readonly unit: CalendarUnit;
  readonly symbol: string;
  /** About. */
  readonly ms: number;
  /** Units that may be joined to one bucket. */
  readonly multiples: readonly number[];
}

const STEPS: readonly Step[] = [
  { unit: "second", symbol: "s", ms: 1000, multiples: [1, 5, 10, 30] },
  { unit: "minute", symbol: "m", ms: 60_000, multiples: [1, 5, 10, 30] },
  { unit: "hour", symbol: "h", ms: HOUR_MS, multiples: [1, 3, 12] },
  { unit: "day", symbol: "d", ms: DAY_MS, multiples: [1, 7] },
  { unit: "month", symbol: "M", ms: 2_629_746_000, multiples: [1, 3] },
  { unit: "year", symbol: "y", ms: 31_556_952_000, multiples: [1, 5, 10, 20, 50, 100] },
];

/** Buckets that a shard collects before they are joined: the unit is taken from the field's first and last time. */
const MAX_COLLECTED = 200_000;

/** Largest number of buckets that may be wanted. */
const MAX_BUCKETS = 1000;

export const autoDateHistogram: AggregationType = {
  name: "auto_date_histogram",
  summary: "Times in as many buckets as wanted, of the unit that fits.",
  options: OPTIONS,
  buckets: true,
  joined: "never",
  parse(body, { name, below }) {
    const options = readAggregation("auto_date_histogram", body, OPTIONS);
    const wanted = options.buckets ?? 10;
    if (wanted > MAX_BUCKETS)
      throw new AppError("request_invalid", `buckets must be less than ${MAX_BUCKETS}, but is [${wanted}]`);
    return new AutoDateHistogram(
      requireField(options.field, name),
      wanted,
      timeZone(options.time_zone),
      options.missing,
      options.format,
      below,
    );
  },
};

/** JSON-able. */
interface AutoState extends HistogramState {
  /** Index in STEPS of the unit that the keys are rounded to. */
  readonly step: number;
}

class AutoDateHistogram implements Aggregation<AutoState> {
  readonly #field: string;
  readonly #wanted: number;
  readonly #zone: TimeZone;
  readonly #missing: unknown;
  readonly #format: string | undefined;
  readonly #below: AggregationTree;
  readonly #roundings: readonly Rounding[];

  constructor(
    field: string,
    wanted: number,
    zone: TimeZone,
    missing: unknown,
    format: string | undefined,
    below: AggregationTree,
  ) {
    this.#field = field;
    this.#wanted = wanted;
    this.#zone = zone;
    this.#missing = missing;
    this.#format = format;
    this.#below = below;
    this.#roundings = STEPS.map(({ unit }) => calendarRounding(unit, zone));
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<AutoState> {
    const field = columnField(shard, this.#field);
    if (field !== undefined && !isDate(field)) throw fieldTypeFault(field, "auto_date_histogram");
    const missing = missingNumber(this.#missing, field, shard, "auto_date_histogram", this.#format);
    const values = new NumericValues(missing);
    const step = firstStep(shard, field);
    const rounding = this.#roundings[step]!;
    const format = formatOf(field, this.#format, this.#zone.name);
    const collector = new HistogramCollector(
      { shard, budget, below: this.#below, format, keepsNothing: hasBoundsOfShards(this.#below) },
      (segment) => values.open(numericColumn(segment, field)),
      values,
      (value) => rounding.floor(value),
    );
    const coarser = (state: HistogramState): Steps<AutoState> => this.#coarser({ ...state, step });
    const steps = function* (owner: number): Steps<AutoState> {
      return yield* coarser(yield* collector.steps(owner));
    };
    return {
      segment: (segment) => collector.segment(segment),
      collect: (docs, owners, length) => collector.collect(docs, owners, length),
      state: (owner) => atOnce(steps(owner)),
      steps,
    };
  }

  *merge(states: readonly AutoState[]): Steps<AutoState> {
    const step = Math.max(...states.map((state) => state.step));
    const alike: AutoState[] = [];
    for (const state of states) alike.push(yield* this.#rounded(state, step));
    return yield* this.#coarser({ ...(yield* mergeHistograms(alike, this.#below)), step });
  }

  *render(state: AutoState, budget: BucketBudget): Steps<JsonObject> {
    let found = yield* this.#coarser(state);
    let filled = this.#filled(found);
    let multiple = this.#multiple(filled.length, found.step);
    while (multiple === undefined) {
      found = yield* this.#rounded(found, found.step + 1);
      filled = this.#filled(found);
      multiple = this.#multiple(filled.length, found.step);
    }
    const shown = yield* this.#joined(filled, multiple);
    budget.add(shown.length);
    const rendered: JsonObject[] = [];
    for (const { key, count, below } of shown) {
      yield;
      const printed = printValue(state.format, key);
      rendered.push({
        ...(printed !== undefined && { key_as_string: printed }),
        key,
        doc_count: count,
        ...(yield* renderTree(this.#below, below, budget)),
      });
    }
    return { buckets: rendered, interval: `${multiple}${STEPS[found.step]!.symbol}` };
  }

  empty(): AutoState {
    return { buckets: [], format: RAW, step: 0 };
  }

  typedName(): string {
    return "auto_date_histogram";
  }

  /** Takes coarser units until the buckets can be joined to as few as are wanted. */
  *#coarser(state: AutoState): Steps<AutoState> {
    let found = state;
    while (
      found.step < STEPS.length - 1 &&
      found.buckets.length > this.#wanted * STEPS[found.step]!.multiples.at(-1)!
    )
      found = yield* this.#rounded(found, found.step + 1);
    return found;
  }

  *#rounded(state: AutoState, step: number): Steps<AutoState> {
    if (step === state.step) return state;
    const rounding = this.#roundings[step]!;
    const groups = new Map<number, NumberBucket[]>();
    for (const bucket of state.buckets) {
      yield;
      const key = rounding.floor(bucket.key);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [bucket]);
      else group.push(bucket);
    }
    const buckets: NumberBucket[] = [];
    for (const [key, group] of groups) buckets.push(yield* this.#join(key, group));
    return { ...state, step, buckets };
  }

  *#join(key: number, group: readonly NumberBucket[]): Steps<NumberBucket> {
    yield;
    return {
      key,
      count: group.reduce((sum, { count }) => sum + count, 0),
      below: yield* mergeTree(
        this.#below,
        group.map(({ below }) => below),
      ),
    };
  }

  /** Smallest multiple that makes few enough buckets; undefined if a coarser unit is needed. */
  #multiple(count: number, step: number): number | undefined {
    const { multiples } = STEPS[step]!;
    const found = multiples.find((multiple) => Math.ceil(count / multiple) <= this.#wanted);
    return found ?? (step === STEPS.length - 1 ? Math.ceil(count / this.#wanted) : undefined);
  }

  /** Adds empty buckets in gaps, up to a few more than can be joined to what is wanted. */
  #filled({ buckets, step, nothing }: AutoState): NumberBucket[] {
    const rounding = this.#roundings[step]!;
    const most = this.#wanted * STEPS[step]!.multiples.at(-1)! + 1;
    const filled: NumberBucket[] = [];
    for (const bucket of buckets) {
      const last = filled.at(-1);
      if (last !== undefined) {
        for (let key = rounding.next(last.key); key < bucket.key; key = rounding.next(key)) {
          // A coarser unit will be taken, so the rest isn't needed. The last unit is the coarsest.
          if (filled.length > most && step < STEPS.length - 1) return filled;
          filled.push({ key, count: 0, below: nothing ?? emptyTree(this.#below) });
        }
      }
      filled.push(bucket);
    }
    return filled;
  }

  *#joined(buckets: readonly NumberBucket[], multiple: number): Steps<NumberBucket[]> {
    if (multiple === 1) return [...buckets];
    const joined: NumberBucket[] = [];
    for (let at = 0; at < buckets.length; at += multiple)
      joined.push(yield* this.#join(buckets[at]!.key, buckets.slice(at, at + multiple)));
    return joined;
  }
}

/** The finest unit that doesn't make too many buckets of a shard's times. */
function firstStep(shard: ShardContext, field: Field | undefined): number {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const segment of field === undefined ? [] : shard.searcher.segments) {
    const column = numericColumn(segment, field);
    min = Math.min(min, column?.min ?? min);
    max = Math.max(max, column?.max ?? max);
  }
  const step = STEPS.findIndex(({ ms }) => (max - min) / ms <= MAX_COLLECTED);
  return step < 0 ? STEPS.length - 1 : step;
}
