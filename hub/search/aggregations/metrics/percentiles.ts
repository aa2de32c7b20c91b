/**
 * `percentiles`: values below which given shares of the values lie. `percentile_ranks`: the shares below given values.
 */

import {
  readValueSource,
  VALUE_SCRIPT,
  type ValueSource,
} from "#hub/search/aggregations/buckets/number-source.ts";
import { HdrHistogram } from "#hub/search/aggregations/sketches/hdr-histogram.ts";
import {
  mergeSketches,
  type Sketch,
  type SketchedValues,
  sketchCollector,
  sketchOf,
} from "#hub/search/aggregations/sketches/sketched-values.ts";
import { MAX_COMPRESSION, MIN_COMPRESSION, TDigest } from "#hub/search/aggregations/sketches/t-digest.ts";
import type { Aggregation, CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { printValue, RAW } from "#hub/search/columns/value-format.ts";
import { anything, flag, list, object, text } from "#hub/search/options/options.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction } from "#proto/kit/number-text.ts";

/** Percents of the answer unless the request names others. */
const DEFAULT_PERCENTS = [1, 5, 25, 50, 75, 95, 99];

/** Centroids of a digest by default. */
const DEFAULT_COMPRESSION = 100;

const SHARED = {
  field: text("field of numbers", undefined),
  script: VALUE_SCRIPT,
  keyed: flag("whether the answer is an object by percent", true),
  tdigest: object("{compression}: how many centroids are kept"),
  hdr: object("{number_of_significant_value_digits}: buckets of a relative width instead of a digest"),
  missing: anything("value of documents without one"),
  format: text("format of printed values", undefined),
} as const;

const PERCENTILES = { ...SHARED, percents: list("percents, 0..100") } as const;
const RANKS = { ...SHARED, values: list("values") } as const;

export const percentiles: AggregationType = {
  name: "percentiles",
  summary: "Values below which given percentages of the values are.",
  options: PERCENTILES,
  buckets: false,
  parse(body, { name }) {
    const { percents, ...options } = readAggregation("percentiles", body, PERCENTILES);
    if (isObject(body) && body["percents"] === null)
      throw new AppError("parsing", "[percents] must not be null");
    const points = numbers(percents ?? DEFAULT_PERCENTS, "percents");
    if (points.length === 0) throw new AppError("request_invalid", `[percents] must not be empty: [${name}]`);
    if (points.some((point) => point < 0 || point > 100)) {
      throw new AppError(
        "request_invalid",
        `percent must be in [0,100], got [${points.find((point) => point < 0 || point > 100)}]: [${name}]`,
      );
    }
    return new Percentiles(
      name,
      options,
      points,
      (sketch, point) => sketch.quantile(point / 100),
      "percentiles",
    );
  },
};

export const percentileRanks: AggregationType = {
  name: "percentile_ranks",
  summary: "Percentages of the values that are at or below given ones.",
  options: RANKS,
  buckets: false,
  parse(body, { name }) {
    const { values, ...options } = readAggregation("percentile_ranks", body, RANKS);
    if (values === undefined || values.length === 0)
      throw new AppError("request_invalid", `[values] must not be an empty array: [${name}]`);
    return new Percentiles(
      name,
      options,
      numbers(values, "values"),
      (sketch, point) => sketch.rank(point) * 100,
      "percentile_ranks",
    );
  },
};

interface Options {
  readonly field: string | undefined;
  readonly script: unknown;
  readonly keyed: boolean | undefined;
  readonly tdigest: JsonObject | undefined;
  readonly hdr: JsonObject | undefined;
  readonly missing: unknown;
  readonly format: string | undefined;
}

class Percentiles implements Aggregation<SketchedValues> {
  readonly #values: ValueSource;
  readonly #options: Options;
  readonly #points: readonly number[];
  readonly #read: (sketch: Sketch, point: number) => number;
  readonly #name: string;
  readonly #newSketch: () => Sketch;

  constructor(
    name: string,
    options: Options,
    points: readonly number[],
    read: (sketch: Sketch, point: number) => number,
    type: string,
  ) {
    this.#values = readValueSource(options, name);
    this.#options = options;
    this.#points = points;
    this.#read = read;
    this.#name = type;
    this.#newSketch = sketchMaker(options, name);
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<SketchedValues> {
    return sketchCollector(shard, budget, {
      owner: this.#name,
      values: this.#values,
      missing: this.#options.missing,
      format: this.#options.format,
      positive: this.#options.hdr !== undefined,
      newSketch: this.#newSketch,
    });
  }

  merge(states: readonly SketchedValues[]): SketchedValues {
    return mergeSketches(states, this.#newSketch);
  }

  render({ sketches, format }: SketchedValues): JsonObject {
    const sketch = sketchOf(sketches, this.#newSketch);
    const rows = this.#points.map((point) => ({ point, value: this.#read(sketch, point) }));
    const shown = (value: number): unknown => (Number.isNaN(value) ? "NaN" : fraction(value));
    const printed = (value: number): string | undefined =>
      Number.isNaN(value) ? undefined : printValue(format, value);
    if (this.#options.keyed === false) {
      return {
        values: rows.map(({ point, value }) => ({
          key: fraction(point),
          value: shown(value),
          ...(printed(value) === undefined ? {} : { value_as_string: printed(value) }),
        })),
      };
    }
    const values: JsonObject = {};
    for (const { point, value } of rows) {
      values[doubleText(point)] = shown(value);
      if (printed(value) !== undefined) values[`${doubleText(point)}_as_string`] = printed(value);
    }
    return { values };
  }

  empty(): SketchedValues {
    return { sketches: [], format: RAW };
  }

  metric({ sketches }: SketchedValues, name: string): number | undefined {
    const point = Number(name);
    return name === "" || Number.isNaN(point)
      ? undefined
      : this.#read(sketchOf(sketches, this.#newSketch), point);
  }

  typedName(): string {
    return `${this.#options.hdr === undefined ? "tdigest" : "hdr"}_${this.#name}`;
  }
}

/** Returns a factory of sketches of the kind in the options. Throws request_invalid. */
function sketchMaker({ tdigest, hdr }: Options, name: string): () => Sketch {
  if (hdr !== undefined) {
    const { number_of_significant_value_digits: given = 3 } = hdr;
    const digits = given === null ? Number.NaN : Number(given);
    if (!(digits >= 0 && digits <= 5)) {
      throw new AppError(
        "request_invalid",
        `[numberOfSignificantValueDigits] must be between 0 and 5: [${name}]`,
      );
    }
    return () => new HdrHistogram(Math.trunc(digits)) as Sketch;
  }
  const given = Number(tdigest?.["compression"] ?? DEFAULT_COMPRESSION);
  if (!(given >= 0)) {
    throw new AppError(
      "request_invalid",
      `[compression] must be greater than or equal to 0. Found [${doubleText(given)}] in [${name}]`,
    );
  }
  const compression = Math.min(MAX_COMPRESSION, Math.max(MIN_COMPRESSION, given));
  return () => new TDigest(compression) as Sketch;
}

function numbers(given: readonly unknown[], name: string): number[] {
  return given
    .map((each) => {
      const value = Number(each);
      if (typeof each !== "object" && !Number.isNaN(value)) return value;
      throw new AppError("parsing", `[${name}] must be a list of numbers, but holds ${JSON.stringify(each)}`);
    })
    .sort((a, b) => a - b);
}
