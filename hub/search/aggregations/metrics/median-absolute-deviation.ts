/** `median_absolute_deviation`: the median distance of the values from their median. */

import {
  readValueSource,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import {
  mergeSketches,
  type Sketch,
  type SketchedValues,
  sketchCollector,
} from "#hub/search/aggregations/sketches/sketched-values.ts";
import {
  type DigestState,
  MAX_COMPRESSION,
  MIN_COMPRESSION,
  TDigest,
} from "#hub/search/aggregations/sketches/t-digest.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { printValue, RAW } from "#hub/search/columns/value-format.ts";
import { anything, number, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction } from "#proto/kit/number-text.ts";

/** Centroids of a digest by default. */
const DEFAULT_COMPRESSION = 1000;

const OPTIONS = {
  field: text("field of numbers", undefined),
  script: VALUE_SCRIPT,
  compression: number("how many centroids are kept", DEFAULT_COMPRESSION),
  missing: anything("value of documents without one"),
  format: text("format of the printed value", undefined),
} as const;

export const medianAbsoluteDeviation: AggregationType = {
  name: "median_absolute_deviation",
  summary: "The median of the values' distances from their median.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const options = readAggregation("median_absolute_deviation", body, OPTIONS);
    const compression = options.compression ?? DEFAULT_COMPRESSION;
    if (!(compression > 0)) {
      throw new AppError(
        "request_invalid",
        `[compression] must be greater than 0. Found [${doubleText(compression)}] in [${name}]`,
      );
    }
    return new MedianAbsoluteDeviation(
      { values: readValueSource(options, name), missing: options.missing, format: options.format },
      Math.min(MAX_COMPRESSION, Math.max(MIN_COMPRESSION, compression)),
    );
  },
};

interface Values {
  readonly values: ValueSource;
  readonly missing: unknown;
  readonly format: string | undefined;
}

class MedianAbsoluteDeviation implements Aggregation<SketchedValues> {
  readonly #values: Values;
  readonly #compression: number;

  constructor(values: Values, compression: number) {
    this.#values = values;
    this.#compression = compression;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<SketchedValues> {
    return sketchCollector(shard, budget, {
      ...this.#values,
      owner: "median_absolute_deviation",
      positive: false,
      newSketch: this.#newSketch,
    });
  }

  merge(states: readonly SketchedValues[]): SketchedValues {
    return mergeSketches(states, this.#newSketch);
  }

  render(state: SketchedValues): JsonObject {
    const value = this.#deviation(state);
    if (value === null) return { value };
    const printed = printValue(state.format, value);
    return { value: fraction(value), ...(printed !== undefined && { value_as_string: printed }) };
  }

  empty(): SketchedValues {
    return { sketches: [], format: RAW };
  }

  metric(state: SketchedValues, name: string): number | undefined {
    return name === "" || name === "value" ? (this.#deviation(state) ?? Number.NaN) : undefined;
  }

  typedName(): string {
    return "median_absolute_deviation";
  }

  readonly #newSketch = (): Sketch => new TDigest(this.#compression) as Sketch;

  /** Uses the distance of each centroid for all of its values; null without values. */
  #deviation({ sketches }: SketchedValues): number | null {
    const digest = new TDigest(this.#compression);
    digest.merge(sketches as readonly DigestState[]);
    const median = digest.quantile(0.5);
    if (Number.isNaN(median)) return null;
    const { centroids } = digest.state();
    const distances: { distance: number; weight: number }[] = [];
    for (let at = 0; at < centroids.length; at += 2)
      distances.push({ distance: Math.abs(centroids[at]! - median), weight: centroids[at + 1]! });
    distances.sort((a, b) => a.distance - b.distance);
    const deviations = new TDigest(this.#compression);
    deviations.addSorted(
      Float64Array.from(distances, ({ distance }) => distance),
      Float64Array.from(distances, ({ weight }) => weight),
    );
    return deviations.quantile(0.5);
  }
}
