/** `date_histogram`: times in calendar units or fixed intervals. */

import type { Field } from "#hub/engine/mapping/field.ts";
import {
  openNumbers,
  readValueSource,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import type {
  Aggregation,
  BucketBudget,
  CollectBudget,
  Collector,
} from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { hasBoundsOfShards } from "#hub/search/aggregations/tree/aggregation-tree.ts";
import { checkOrder, readOrder } from "#hub/search/aggregations/tree/bucket-order.ts";
import { fieldTypeFault } from "#hub/search/aggregations/tree/field-option.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { formatOf, RAW, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { parseDateMath, timeZone } from "#hub/search/dates/date-math.ts";
import type { Rounding } from "#hub/search/dates/rounding.ts";
import { anything, flag, integer, object, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { monthsOf, readOffset, readRounding, shifted } from "./date-intervals.ts";
import {
  checkLimits,
  emptyBucket,
  type HistogramBounds,
  type HistogramShape,
  type HistogramState,
  histogramBounds,
  mergeHistograms,
  renderHistogram,
} from "./histogram-buckets.ts";
import { HistogramCollector } from "./histogram-collector.ts";
import { missingRange, RangeHistogramCollector, rangeType } from "./range-histogram.ts";

const OPTIONS = {
  field: text("date field", undefined),
  script: VALUE_SCRIPT,
  interval: anything("calendar unit (day, 1M) or fixed time (90m)"),
  calendar_interval: text("calendar unit: 1m, 1h, 1d, 1w, 1M, 1q, 1y", undefined),
  fixed_interval: text("fixed time: 30s, 90m, 12h", undefined),
  time_zone: text("zone in which buckets begin: +01:00 or Europe/Berlin", undefined),
  offset: anything("time by which buckets begin later: +6h"),
  format: text("format of the printed keys", undefined),
  min_doc_count: integer("buckets with fewer documents are left out; 0 fills gaps", 0),
  extended_bounds: object("first and last time that get a bucket in any case: {min, max}"),
  hard_bounds: object("first and last time that get a bucket at all: {min, max}"),
  order: anything("order of the buckets: {_key: asc}"),
  missing: anything("time of documents without one"),
  keyed: flag("whether buckets are an object by printed key", false),
} as const;

/** Formats of times that a script makes. */
const DEFAULT_FORMATS = "strict_date_optional_time||epoch_millis";

export const dateHistogram: AggregationType = {
  name: "date_histogram",
  summary: "Documents by calendar units or intervals of a time.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("date_histogram", body, OPTIONS);
    const zone = timeZone(options.time_zone);
    const rounding = shifted(readRounding(options, zone, name), readOffset(options.offset));
    const order = readOrder(options.order, "date_histogram");
    checkOrder(order, below, name);
    const shape = {
      below,
      minDocCount: options.min_doc_count ?? 0,
      order,
      keyed: options.keyed ?? false,
      next: (key: number) => rounding.next(key),
      times: { months: monthsOf(options) },
    };
    return new DateHistogram(
      {
        source: readValueSource(options, name),
        zone,
        missing: options.missing,
        format: options.format,
        bounds: options.extended_bounds,
        limits: options.hard_bounds,
      },
      shape,
      rounding,
    );
  },
};

function checkTimes(field: Field): void {
  if (field.type === "keyword" || field.type === "ip" || field.type === "geo_point")
    throw fieldTypeFault(field, "date_histogram");
}

interface DateHistogramOptions {
  readonly source: ValueSource;
  readonly zone: TimeZone;
  readonly missing: unknown;
  readonly format: string | undefined;
  readonly bounds: JsonObject | undefined;
  readonly limits: JsonObject | undefined;
}

/** `bounds` of the request in ms, kept in the state because date math needs the field's format. */
interface DateHistogramState extends HistogramState {
  readonly bounds?: HistogramBounds;
}

class DateHistogram implements Aggregation<DateHistogramState> {
  readonly emptyLacksBounds: boolean;
  readonly #options: DateHistogramOptions;
  readonly #shape: Omit<HistogramShape, "bounds">;
  readonly #rounding: Rounding;

  constructor(options: DateHistogramOptions, shape: Omit<HistogramShape, "bounds">, rounding: Rounding) {
    this.emptyLacksBounds = options.bounds !== undefined;
    this.#options = options;
    this.#shape = shape;
    this.#rounding = rounding;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<DateHistogramState> {
    const { source, missing, format, zone } = this.#options;
    const { field: name = "", script } = source;
    const ranges = script === undefined ? rangeType(shard, name, "date_histogram", true) : undefined;
    if (ranges !== undefined && missing !== undefined) throw missingRange(name);
    const inner = ranges === undefined ? source : { field: `${name}.gte`, script: undefined };
    const { field, values, open } = openNumbers(shard, inner, {
      missing,
      format,
      owner: "date_histogram",
      checkField: checkTimes,
    });
    const isUntyped = script !== undefined && field === undefined;
    const printed: ValueFormat = isUntyped
      ? { kind: "date", formats: format ?? DEFAULT_FORMATS, zone: zone.name }
      : formatOf(field, format, zone.name);
    const { next, minDocCount } = this.#shape;
    const formats = printed.kind === "date" ? printed.formats : DEFAULT_FORMATS;
    const bounds = this.#bounds("extended_bounds", shard, formats);
    const limits = this.#bounds("hard_bounds", shard, formats);
    checkLimits(bounds, limits);
    const context = {
      shard,
      budget,
      below: this.#shape.below,
      format: printed,
      next,
      limits,
      keepsNothing: minDocCount === 0 && hasBoundsOfShards(this.#shape.below),
    };
    const floor = remembering(this.#rounding);
    const collector =
      ranges === undefined
        ? new HistogramCollector(context, open, values, floor)
        : new RangeHistogramCollector({ ...context, field: name, type: ranges, floor });
    function* steps(owner: number): Steps<DateHistogramState> {
      const state = yield* collector.steps(owner);
      return bounds === undefined ? state : { ...state, bounds };
    }
    return {
      segment: (segment) => collector.segment(segment),
      collect: (docs, owners, length) => collector.collect(docs, owners, length),
      ...(collector instanceof HistogramCollector && {
        collectBlock: (block, mask, count, owner) => collector.collectBlock(block, mask, count, owner),
        collectRun: (run, owner) => collector.collectRun(run, owner),
        takesLate: collector.takesLate,
      }),
      state: (owner) => atOnce(steps(owner)),
      steps,
    };
  }

  *merge(states: readonly DateHistogramState[]): Steps<DateHistogramState> {
    const merged = yield* mergeHistograms(states, this.#shape.below);
    // Bounds are read by the field's format, so they belong to it.
    const bounded = states.filter((state) => state.bounds !== undefined);
    const bounds = (bounded.find(({ format }) => format === merged.format) ?? bounded[0])?.bounds;
    return { ...merged, ...(bounds === undefined ? {} : { bounds }) };
  }

  render(state: DateHistogramState, budget: BucketBudget): Steps<JsonObject> {
    return renderHistogram(state, { ...this.#shape, bounds: state.bounds }, budget);
  }

  bucketAfter({ format }: DateHistogramState, key: number): JsonObject {
    return emptyBucket(this.#shape.next(key), format);
  }

  empty(): DateHistogramState {
    return { buckets: [], format: RAW };
  }

  typedName(): string {
    return "date_histogram";
  }

  #bounds(
    name: "extended_bounds" | "hard_bounds",
    shard: ShardContext,
    format: string,
  ): HistogramBounds | undefined {
    const { bounds, limits, zone } = this.#options;
    const given = name === "hard_bounds" ? limits : bounds;
    if (!isObject(given)) return undefined;
    const read = (value: unknown): number =>
      typeof value === "number"
        ? value
        : parseDateMath(String(value), { format, nowMs: shard.nowMs, zone, roundUp: false });
    return histogramBounds(given, (value) => this.#rounding.floor(read(value)), name);
  }
}

/** Rounds without arithmetic while times stay within one bucket, which is usual for neighbouring documents. */
function remembering(rounding: Rounding): (utcMs: number) => number {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  return (utcMs) => {
    if (utcMs >= start && utcMs < end) return start;
    start = rounding.floor(utcMs);
    end = rounding.next(start);
    return start;
  };
}
