/** `boxplot`: quartiles of the values with the whiskers around them. */

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
import { anything, number, text, withoutEffect } from "#hub/search/options/options.ts";
import { answersAs } from "#hub/search/options/request-version.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { fraction } from "#proto/kit/number-text.ts";

/** Centroids of a digest by default. */
const DEFAULT_COMPRESSION = 100;
/** Distances between the quartiles up to which a whisker reaches. */
const REACH = 1.5;
/** The first version that shows whiskers. */
const WHISKERS = 711;

const OPTIONS = {
  field: text("field of numbers", undefined),
  script: VALUE_SCRIPT,
  compression: number("how many centroids are kept", DEFAULT_COMPRESSION),
  execution_hint: withoutEffect(text("there is one kind of digest", undefined)),
  missing: anything("value of documents without one"),
  format: text("format of printed values", undefined),
} as const;

export const boxplot: AggregationType = {
  name: "boxplot",
  summary: "Quartiles of the values, their bounds, and whiskers that leave outliers out.",
  options: OPTIONS,
  buckets: false,
  parse(body, { name }) {
    const { compression, ...options } = readAggregation("boxplot", body, OPTIONS);
    const kept = Math.min(MAX_COMPRESSION, Math.max(MIN_COMPRESSION, compression ?? DEFAULT_COMPRESSION));
    const { missing, format } = options;
    return new Boxplot({ values: readValueSource(options, name), missing, format }, kept);
  },
};

interface Values {
  readonly values: ValueSource;
  readonly missing: unknown;
  readonly format: string | undefined;
}

class Boxplot implements Aggregation<SketchedValues> {
  readonly #values: Values;
  readonly #compression: number;

  constructor(values: Values, compression: number) {
    this.#values = values;
    this.#compression = compression;
  }

  collector(shard: ShardContext, budget: CollectBudget): Collector<SketchedValues> {
    const more = { owner: "boxplot", positive: false, newSketch: this.#newSketch };
    return sketchCollector(shard, budget, { ...this.#values, ...more });
  }

  merge(states: readonly SketchedValues[]): SketchedValues {
    return mergeSketches(states, this.#newSketch);
  }

  render(state: SketchedValues): JsonObject {
    const numbers = Object.entries(this.#numbers(state));
    const printed = numbers.flatMap(([name, value]) => {
      const shown = Number.isFinite(value) ? printValue(state.format, value) : undefined;
      return shown === undefined ? [] : [[`${name}_as_string`, shown] as const];
    });
    const shown = numbers.map(([name, value]) => [
      name,
      Number.isFinite(value) ? fraction(value) : String(value),
    ]);
    return { ...Object.fromEntries(shown), ...Object.fromEntries(printed) };
  }

  empty(): SketchedValues {
    return { sketches: [], format: RAW };
  }

  metric(state: SketchedValues, name: string): number | undefined {
    return this.#numbers(state)[name];
  }

  typedName(): string {
    return "boxplot";
  }

  readonly #newSketch = (): Sketch => new TDigest(this.#compression) as Sketch;

  #numbers({ sketches }: SketchedValues): Record<string, number> {
    const digest = new TDigest(this.#compression);
    digest.merge(sketches as readonly DigestState[]);
    const [q1, q2, q3] = [digest.quantile(0.25), digest.quantile(0.5), digest.quantile(0.75)];
    const isEmpty = Number.isNaN(q2);
    const [min, max] = isEmpty
      ? [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
      : [digest.quantile(0), digest.quantile(1)];
    const box = { min, max, q1, q2, q3 };
    return answersAs(WHISKERS) ? { ...box, ...whiskers(digest, q1, q3) } : box;
  }
}

/** Returns the first and the last centroid that lie near the box. */
function whiskers(
  digest: TDigest,
  q1: number,
  q3: number,
): { readonly lower: number; readonly upper: number } {
  const reach = REACH * (q3 - q1);
  const means = digest.state().centroids.filter((_, at) => at % 2 === 0);
  const near = means.filter((mean) => mean >= q1 - reach && mean <= q3 + reach);
  const lower = near.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  return { lower, upper: near.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) };
}
