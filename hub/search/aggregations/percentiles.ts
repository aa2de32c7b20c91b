/** `percentiles`, `percentile_ranks`: values below which shares of the values lie, and the other way round. */

import type { SegmentReader } from "#hub/engine/searcher.ts";
import { AppError } from "#proto/kit/errors.ts";
import { columnField, isNumeric, NumericValues, numericColumn } from "../columns.ts";
import type { JsonObject } from "../json.ts";
import { anything, flag, list, object, text } from "../options.ts";
import type { ShardContext } from "../query.ts";
import { formatOf, javaDouble, printValue, RAW, type ValueFormat } from "../value-format.ts";
import type { Aggregation, CollectBudget, Collector } from "./aggregation.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { fieldTypeFault, missingNumber, requireField } from "./field-option.ts";
import { HdrHistogram, type HdrState } from "./hdr-histogram.ts";
import { type DigestState, TDigest } from "./t-digest.ts";
import { ValueCounts } from "./value-counts.ts";

/** Percents of the answer unless the request names others. */
const DEFAULT_PERCENTS = [1, 5, 25, 50, 75, 95, 99];

/** Centroids of a digest unless the request says otherwise. */
const DEFAULT_COMPRESSION = 100;

/** Largest compression: a digest of it takes about 100 kB. */
const MAX_COMPRESSION = 3000;

const SHARED = {
  field: text("field of numbers", undefined),
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
  summary: "Values below which shares of the values lie.",
  options: PERCENTILES,
  buckets: false,
  parse(body, { name }) {
    const { percents, ...options } = readAggregation("percentiles", body, PERCENTILES);
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
  summary: "Percents of the values that lie at or below given ones.",
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
  readonly keyed: boolean | undefined;
  readonly tdigest: JsonObject | undefined;
  readonly hdr: JsonObject | undefined;
  readonly missing: unknown;
  readonly format: string | undefined;
}

/** What values are counted in. */
interface Sketch {
  add(value: number): void;
  /** See TDigest.addSorted. */
  addSorted(values: Float64Array, weights: Float64Array): void;
  state(): SketchState;
  merge(state: SketchState): void;
  /** `share` 0..1; NaN without values. */
  quantile(share: number): number;
  rank(value: number): number;
}

type SketchState = DigestState | HdrState;

/** JSON-able. */
interface PercentilesState {
  readonly sketch: SketchState;
  readonly format: ValueFormat;
}

class Percentiles implements Aggregation<PercentilesState> {
  readonly #field: string;
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
    this.#field = requireField(options.field, name);
    this.#options = options;
    this.#points = points;
    this.#read = read;
    this.#name = type;
    this.#newSketch = sketchOf(options, name);
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<PercentilesState> {
    const field = columnField(shard, this.#field);
    if (field !== undefined && !isNumeric(field)) throw fieldTypeFault(field, this.#name);
    const values = new NumericValues(missingNumber(this.#options.missing, field, shard, this.#name));
    const format = formatOf(field, this.#options.format);
    const positive = this.#options.hdr !== undefined;
    const sketches: Sketch[] = [];
    const sketchAt = (bucket: number): Sketch => {
      const known = sketches[bucket];
      if (known !== undefined) return known;
      // A sketch takes about as much memory as that many buckets.
      budget.add(16);
      return (sketches[bucket] = this.#newSketch());
    };
    const counts = new ValueCounts((bucket, found, weights) => sketchAt(bucket).addSorted(found, weights));
    return {
      segment: (segment: SegmentReader) => {
        values.open(numericColumn(segment, field));
        counts.open(values.wholeColumn);
      },
      collect: (docs, buckets, length) => {
        const count = values.read(docs, length);
        for (let at = 0; at < count; at++) {
          const value = values.values[at]!;
          if (positive && value < 0) throw negative(this.#field, value);
          sketchAt(buckets[values.places[at]!]!).add(value);
        }
      },
      collectRun: (run, bucket) => {
        const column = values.wholeColumn;
        if (column === null || (positive && column.min < 0)) return false;
        if (counts.add(run, bucket)) return true;
        for (let block = run.from; block < run.to; block++) {
          const count = values.readBlock(run, block);
          if (count === 0) continue;
          const sketch = sketchAt(bucket);
          for (let at = 0; at < count; at++) sketch.add(values.values[at]!);
        }
        return true;
      },
      state: (bucket) => {
        counts.settle();
        return { sketch: (sketches[bucket] ?? this.#newSketch()).state(), format };
      },
    };
  }

  merge(states: readonly PercentilesState[]): PercentilesState {
    if (states.length === 1) return states[0]!;
    return {
      sketch: this.#merged(states.map(({ sketch }) => sketch)).state(),
      format: states.find((state) => state.format.kind !== "raw")?.format ?? RAW,
    };
  }

  render({ sketch: state, format }: PercentilesState): JsonObject {
    const sketch = this.#merged([state]);
    const rows = this.#points.map((point) => ({ point, value: this.#read(sketch, point) }));
    const shown = (value: number): number | string => (Number.isNaN(value) ? "NaN" : value);
    const printed = (value: number): string | undefined =>
      Number.isNaN(value) ? undefined : printValue(format, value);
    if (this.#options.keyed === false) {
      return {
        values: rows.map(({ point, value }) => ({
          key: point,
          value: shown(value),
          ...(printed(value) === undefined ? {} : { value_as_string: printed(value) }),
        })),
      };
    }
    const values: JsonObject = {};
    for (const { point, value } of rows) {
      values[javaDouble(point)] = shown(value);
      if (printed(value) !== undefined) values[`${javaDouble(point)}_as_string`] = printed(value);
    }
    return { values };
  }

  empty(): PercentilesState {
    return { sketch: this.#newSketch().state(), format: RAW };
  }

  metric({ sketch }: PercentilesState, name: string): number | undefined {
    const point = Number(name);
    return name === "" || Number.isNaN(point) ? undefined : this.#read(this.#merged([sketch]), point);
  }

  typedName(): string {
    return `${this.#options.hdr === undefined ? "tdigest" : "hdr"}_${this.#name}`;
  }

  #merged(states: readonly SketchState[]): Sketch {
    const sketch = this.#newSketch();
    for (const state of states) sketch.merge(state);
    return sketch;
  }
}

function negative(field: string, value: number): AppError {
  return new AppError(
    "request_invalid",
    `[hdr] counts values from 0 on, but a document's [${field}] is [${value}]; leave [hdr] out`,
    { data: { type: "array_index_out_of_bounds_exception" } },
  );
}

/** Returns what makes sketches of the kind that the options ask for. Throws request_invalid. */
function sketchOf({ tdigest, hdr }: Options, name: string): () => Sketch {
  if (hdr !== undefined) {
    const digits = Number(hdr["number_of_significant_value_digits"] ?? 3);
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
      `[compression] must be greater than or equal to 0. Found [${javaDouble(given)}] in [${name}]`,
    );
  }
  const compression = Math.min(MAX_COMPRESSION, Math.max(20, given));
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
