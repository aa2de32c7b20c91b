/** Collects the values of a number field in one quantile sketch per bucket. */

import type { NumericColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { openNumbers, type ValueSource } from "#hub/search/aggregations/buckets/number-source.ts";
import type { CollectBudget, Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { fieldTypeFault } from "#hub/search/aggregations/tree/field-option.ts";
import { isNumeric } from "#hub/search/columns/column-values.ts";
import { countRun, type SegmentRun } from "#hub/search/columns/set-blocks.ts";
import { commonFormat, formatOf, type ValueFormat } from "#hub/search/columns/value-format.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { HdrState } from "./hdr-histogram.ts";
import type { DigestState } from "./t-digest.ts";

/** A sketch of a few hundred values takes about as much memory as that many buckets. */
const SKETCH_BUCKETS = 64;

/** What values are counted in. */
export interface Sketch {
  add(value: number): void;
  /** See TDigest.addSorted. */
  addSorted(values: Float64Array, weights: Float64Array): void;
  state(): SketchState;
  /** Adds the values of other sketches, in any order. */
  merge(states: readonly SketchState[]): void;
  /** `share` 0..1; NaN without values. */
  quantile(share: number): number;
  rank(value: number): number;
}

export type SketchState = DigestState | HdrState;

/** State of an aggregation that reads quantiles. JSON-able. */
export interface SketchedValues {
  /** Of several shards as they came, since joining them rounds: they are joined once, when all are there. */
  readonly sketches: readonly SketchState[];
  readonly format: ValueFormat;
}

/** Sketches of a bucket that are kept separately at most; more are joined. */
const MAX_SKETCHES = 64;

/** Which values are counted, and in what. */
export interface SketchSource {
  /** Name of the aggregation's type, for messages. */
  readonly owner: string;
  readonly values: ValueSource;
  readonly missing: unknown;
  readonly format: string | undefined;
  /** Values below 0 are refused. */
  readonly positive: boolean;
  readonly newSketch: () => Sketch;
}

/** Returns a collector of sketches. Throws request_invalid, parsing. */
export function sketchCollector(
  shard: ShardContext,
  budget: CollectBudget,
  source: SketchSource,
): Collector<SketchedValues> {
  const { owner, positive, newSketch } = source;
  const { field, values, open } = openNumbers(shard, source.values, {
    missing: source.missing,
    owner,
    checkField: (mapped) => {
      if (!isNumeric(mapped)) throw fieldTypeFault(mapped, owner);
    },
  });
  const format = formatOf(field, source.format);
  const sketches: Sketch[] = [];
  const sketchAt = (bucket: number): Sketch => {
    const known = sketches[bucket];
    if (known !== undefined) return known;
    budget.add(SKETCH_BUCKETS);
    return (sketches[bucket] = newSketch());
  };
  const counts = new ValueCounts((bucket, found, weights) => sketchAt(bucket).addSorted(found, weights));
  return {
    takesLate: values.areStored,
    segment: (segment: SegmentReader) => {
      open(segment);
      counts.open(values.wholeColumn);
    },
    collect: (docs, buckets, length) => {
      const count = values.read(docs, length);
      for (let at = 0; at < count; at++) {
        const value = values.values[at]!;
        if (positive && value < 0) throw negative(source.values.field ?? "script", value);
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
      return { sketches: [(sketches[bucket] ?? newSketch()).state()], format };
    },
  };
}

/** Merges states of shards. */
export function mergeSketches(states: readonly SketchedValues[], newSketch: () => Sketch): SketchedValues {
  if (states.length === 1) return states[0]!;
  const all = states.flatMap(({ sketches }) => sketches);
  return {
    sketches: all.length > MAX_SKETCHES ? [sketchOf(all, newSketch).state()] : all,
    format: states.map(({ format }) => format).reduce(commonFormat),
  };
}

/** Returns a sketch of all values of several states. */
export function sketchOf(states: readonly SketchState[], newSketch: () => Sketch): Sketch {
  const sketch = newSketch();
  sketch.merge(states);
  return sketch;
}

function negative(field: string, value: number): AppError {
  return new AppError(
    "request_invalid",
    `[hdr] counts values from 0 on, but a document's [${field}] is [${value}]; leave [hdr] out`,
    { data: { type: "array_index_out_of_bounds_exception" } },
  );
}

/** Largest value that is counted: four bytes for each up to it. */
const MAX_VALUE = 1_000_000;

/** Values up to which a document is worth clearing and reading the table. */
const VALUES_PER_DOC = 4;

/** Takes values of a bucket, ascending, and how many documents have each. */
export type TakeCounts = (bucket: number, values: Float64Array, counts: Float64Array) => void;

export class ValueCounts {
  readonly #take: TakeCounts;
  #column: NumericColumn | null = null;
  #counts = new Int32Array(0);
  #bucket = -1;

  constructor(take: TakeCounts) {
    this.#take = take;
  }

  /** Points to a segment's column, which must be a `wholeColumn` of NumericValues, or null. */
  open(column: NumericColumn | null): void {
    this.settle();
    this.#column = column;
    this.#counts = new Int32Array(0);
  }

  /** Counts a run of one bucket; false if that is no gain, or can't be done. */
  add(run: SegmentRun, bucket: number): boolean {
    const column = this.#column;
    if (column === null || column.kind === "double" || column.min < 0 || column.max > MAX_VALUE) return false;
    if (countRun(run) * VALUES_PER_DOC < column.max && bucket !== this.#bucket) return false;
    if (bucket !== this.#bucket) this.settle();
    if (this.#counts.length === 0) this.#counts = new Int32Array(column.max + 1);
    this.#bucket = bucket;
    return column.count(run, this.#counts, 0);
  }

  /** Hands on what was counted. */
  settle(): void {
    const bucket = this.#bucket;
    this.#bucket = -1;
    if (bucket < 0) return;
    const values = new Float64Array(this.#counts.length);
    const found = new Float64Array(this.#counts.length);
    let length = 0;
    for (let value = 0; value < this.#counts.length; value++) {
      if (this.#counts[value] === 0) continue;
      values[length] = value;
      found[length++] = this.#counts[value]!;
    }
    this.#counts.fill(0);
    if (length > 0) this.#take(bucket, values.subarray(0, length), found.subarray(0, length));
  }
}
