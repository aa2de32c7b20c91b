/** Pipelines beside an aggregation: they reduce one number of each of its buckets to one answer. */

import { boundsOf, deviationsOf } from "#hub/search/aggregations/metrics/extended-stats.ts";
import { fractions, type NumberGroup } from "#hub/search/aggregations/metrics/numeric-metric.ts";
import { readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  type KeyedValue,
  PIPELINE_OPTIONS,
  type PipelineType,
  parsePath,
  simpleValue,
} from "#hub/search/aggregations/tree/pipeline.ts";
import { formatOf, printValue, type ValueFormat } from "#hub/search/columns/value-format.ts";
import { list, number } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { doubleText, fraction } from "#proto/kit/number-text.ts";

/** Percents of percentiles_bucket unless the request names others. */
const DEFAULT_PERCENTS = [1, 5, 25, 50, 75, 95, 99];

interface SiblingType {
  readonly name: string;
  readonly summary: string;
  readonly typedName: string;
  summarise(values: readonly KeyedValue[], format: ValueFormat, options: JsonObject): JsonObject;
}

const SIBLINGS: readonly SiblingType[] = [
  {
    name: "avg_bucket",
    summary: "The mean of a number over buckets.",
    typedName: "simple_value",
    summarise: (values, format) => simpleValue(sum(values) / values.length, format),
  },
  {
    name: "sum_bucket",
    summary: "The sum of a number over buckets.",
    typedName: "simple_value",
    summarise: (values, format) => simpleValue(sum(values), format),
  },
  {
    name: "max_bucket",
    summary: "The largest number of buckets, with their keys.",
    typedName: "bucket_metric_value",
    summarise: (values, format) => extreme(values, Math.max(...values.map(({ value }) => value)), format),
  },
  {
    name: "min_bucket",
    summary: "The smallest number of buckets, with their keys.",
    typedName: "bucket_metric_value",
    summarise: (values, format) => extreme(values, Math.min(...values.map(({ value }) => value)), format),
  },
  {
    name: "stats_bucket",
    summary: "Count, minimum, maximum, mean and sum of a number over buckets.",
    typedName: "stats_bucket",
    summarise: (values, format) => stats(values, format),
  },
  {
    name: "extended_stats_bucket",
    summary: "stats_bucket with variance and standard deviation.",
    typedName: "extended_stats_bucket",
    summarise: (values, format, { sigma }) => extendedStats(values, format, Number(sigma ?? 2)),
  },
  {
    name: "percentiles_bucket",
    summary: "Percentiles of a number over buckets, each the number of a bucket.",
    typedName: "percentiles_bucket",
    summarise: (values, format, { percents }) =>
      percentiles(values, format, (percents as number[] | undefined) ?? DEFAULT_PERCENTS),
  },
];

export const SIBLING_TYPES: readonly PipelineType[] = SIBLINGS.map((type) => {
  const options = {
    ...PIPELINE_OPTIONS,
    ...(type.name === "extended_stats_bucket" && { sigma: number("deviations of the bounds", 2) }),
    ...(type.name === "percentiles_bucket" && { percents: list("percents, 0..100") }),
  };
  return {
    name: type.name,
    summary: type.summary,
    options,
    parse(body, name) {
      const read = readAggregation(type.name, body, options) as Record<string, unknown> & {
        buckets_path: unknown;
        gap_policy: "skip" | "insert_zeros";
        format: string | undefined;
      };
      checkNumbers(read["percents"], name);
      if (Number(read["sigma"] ?? 0) < 0)
        throw new AppError("request_invalid", "sigma must be a non-negative double");
      const path = parsePath(read.buckets_path, name);
      const format = formatOf(undefined, read.format);
      return {
        place: "sibling",
        path,
        gaps: read.gap_policy,
        reads: path.names,
        typedName: type.typedName,
        summarise: (values) => type.summarise(values, format, read),
      };
    },
  };
});

function checkNumbers(percents: unknown, name: string): void {
  if (percents === undefined) return;
  const valid = (percents as unknown[]).every((each) => typeof each === "number" && each >= 0 && each <= 100);
  if (!valid)
    throw new AppError(
      "request_invalid",
      `[percents] of [${name}] must only contain non-null doubles from 0.0-100.0 inclusive`,
    );
}

function sum(values: readonly KeyedValue[]): number {
  return values.reduce((total, { value }) => total + value, 0);
}

function extreme(values: readonly KeyedValue[], value: number, format: ValueFormat): JsonObject {
  const keys = values.filter((each) => each.value === value).map(({ key }) => key);
  return { ...simpleValue(value, format), keys };
}

function stats(values: readonly KeyedValue[], format: ValueFormat): JsonObject {
  if (values.length === 0) return { count: 0, min: null, max: null, avg: null, sum: fraction(0) };
  const numbers = values.map(({ value }) => value);
  const found = {
    min: Math.min(...numbers),
    max: Math.max(...numbers),
    avg: sum(values) / values.length,
    sum: sum(values),
  };
  return { count: values.length, ...fractions(found), ...printed(found, format) };
}

function extendedStats(values: readonly KeyedValue[], format: ValueFormat, sigma: number): JsonObject {
  const squares = values.reduce((total, { value }) => total + value * value, 0);
  const state = { count: values.length, sum: sum(values), sumOfSquares: squares };
  const found = { sum_of_squares: values.length === 0 ? null : squares, ...deviationsOf(state) };
  return {
    ...stats(values, format),
    ...fractions(found),
    std_deviation_bounds: fractions(boundsOf(state, sigma)),
    ...printed(found, format),
  };
}

/** Returns the value at the nearest rank, as these aggregations define percentiles. */
function percentiles(
  values: readonly KeyedValue[],
  format: ValueFormat,
  percents: readonly number[],
): JsonObject {
  const sorted = values.map(({ value }) => value).sort((a, b) => a - b);
  const answer: JsonObject = {};
  for (const percent of percents) {
    const value = sorted[Math.round((percent / 100) * (sorted.length - 1))];
    answer[doubleText(percent)] = fraction(value ?? null);
    const text = value === undefined ? undefined : printValue(format, value);
    if (text !== undefined) answer[`${doubleText(percent)}_as_string`] = text;
  }
  return { values: answer };
}

function printed(numbers: NumberGroup, format: ValueFormat): JsonObject {
  const entries = Object.entries(numbers).flatMap(([name, value]) => {
    const text = value === null ? undefined : printValue(format, value);
    return text === undefined ? [] : [[`${name}_as_string`, text]];
  });
  return Object.fromEntries(entries) as JsonObject;
}
