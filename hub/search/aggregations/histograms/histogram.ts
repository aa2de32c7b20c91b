/** `histogram`: numbers in intervals of one width. */

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
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import { formatOf, RAW } from "#hub/search/columns/value-format.ts";
import { anything, flag, integer, number, object, required, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";
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
  field: text("field of numbers", undefined),
  script: VALUE_SCRIPT,
  interval: required(number("width of the buckets", undefined)),
  offset: number("offset of the keys", 0),
  min_doc_count: integer("buckets with fewer documents are left out; 0 fills gaps", 0),
  extended_bounds: object("first and last value that get a bucket in any case: {min, max}"),
  hard_bounds: object("first and last value that get a bucket at all: {min, max}"),
  order: anything("order of the buckets: {_key: asc}"),
  missing: anything("value of documents without one"),
  keyed: flag("whether buckets are an object by key", false),
  format: text("format of the printed keys", undefined),
} as const;

export const histogram: AggregationType = {
  name: "histogram",
  summary: "Documents by intervals of a number.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("histogram", body, OPTIONS);
    if (!(options.interval > 0)) {
      throw new AppError("request_invalid", `[interval] must be >0 for histogram aggregation [${name}]`);
    }
    const order = readOrder(options.order, "histogram");
    checkOrder(order, below, name);
    const offset = options.offset ?? 0;
    const floor = (value: number): number =>
      Math.floor((value - offset) / options.interval) * options.interval + offset;
    const shape: HistogramShape = {
      below,
      minDocCount: options.min_doc_count ?? 0,
      order,
      keyed: options.keyed ?? false,
      next: (key) => floor(key + options.interval * 1.5),
      bounds: readBounds(options.extended_bounds, floor),
    };
    const limits = readBounds(options.hard_bounds, floor, "hard_bounds");
    checkLimits(shape.bounds, limits);
    return new Histogram({
      source: readValueSource(options, name),
      shape,
      floor,
      limits,
      missing: options.missing,
      format: options.format,
    });
  },
};

function readBounds(
  json: JsonObject | undefined,
  floor: (value: number) => number,
  name?: string,
): HistogramShape["bounds"] {
  return json === undefined ? undefined : histogramBounds(json, (value) => floor(Number(value)), name);
}

interface HistogramRequest {
  readonly source: ValueSource;
  readonly shape: HistogramShape;
  readonly floor: (value: number) => number;
  readonly limits: HistogramBounds | undefined;
  readonly missing: unknown;
  readonly format: string | undefined;
}

class Histogram implements Aggregation<HistogramState> {
  readonly #request: HistogramRequest;

  constructor(request: HistogramRequest) {
    this.#request = request;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<HistogramState> {
    const { shape, floor, limits, missing, format } = this.#request;
    const keepsNothing = shape.minDocCount === 0 && hasBoundsOfShards(shape.below);
    const { field: name, script } = this.#request.source;
    const type =
      name === undefined || script !== undefined ? undefined : rangeType(shard, name, "histogram", false);
    if (name !== undefined && type !== undefined) {
      if (missing !== undefined) throw missingRange(name);
      const printed = formatOf(shard.mapping.field(`${name}.gte`), format);
      const context = { shard, budget, below: shape.below, format: printed, limits, keepsNothing };
      return new RangeHistogramCollector({
        ...context,
        field: name,
        type,
        floor,
        next: (key) => shape.next(key),
      });
    }
    const { field, values, open } = openNumbers(shard, this.#request.source, {
      missing,
      owner: "histogram",
      checkField: (mapped) => {
        if (!isNumeric(mapped)) throw fieldTypeFault(mapped, "histogram");
      },
    });
    return new HistogramCollector(
      { shard, budget, below: shape.below, format: formatOf(field, format), limits, keepsNothing },
      open,
      values,
      floor,
    );
  }

  merge(states: readonly HistogramState[]): Steps<HistogramState> {
    return mergeHistograms(states, this.#request.shape.below);
  }

  render(state: HistogramState, budget: BucketBudget): Steps<JsonObject> {
    return renderHistogram(state, this.#request.shape, budget);
  }

  bucketAfter({ format }: HistogramState, key: number): JsonObject {
    const next = this.#request.shape.next(key);
    return { ...emptyBucket(next, format), key: fraction(next) };
  }

  empty(): HistogramState {
    return { buckets: [], format: RAW };
  }

  typedName(): string {
    return "histogram";
  }
}
