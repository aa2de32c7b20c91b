/** Pipelines below a histogram: they add a number to each bucket that depends on earlier buckets. */

import { readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  type Bucket,
  type GapPolicy,
  PIPELINE_OPTIONS,
  type Pipeline,
  type PipelineType,
  parsePath,
  simpleValue,
  valueAt,
} from "#hub/search/aggregations/tree/pipeline.ts";
import { formatOf } from "#hub/search/columns/value-format.ts";
import { integer, text } from "#hub/search/options/options.ts";
import { AppError } from "#proto/kit/errors.ts";
import { fraction } from "#proto/kit/number-text.ts";
import { DAY_MS, HOUR_MS, parseDuration } from "#proto/kit/units.ts";
import { MAX_WINDOW, movingAvg, movingFn } from "./moving-pipelines.ts";

const DERIVATIVE = {
  ...PIPELINE_OPTIONS,
  unit: text("time that [normalized_value] is per", undefined),
} as const;
const SERIAL_DIFF = {
  ...PIPELINE_OPTIONS,
  lag: integer("distance to the bucket that is subtracted", 1),
} as const;
interface Read {
  readonly buckets_path: unknown;
  readonly gap_policy: GapPolicy;
  readonly format: string | undefined;
}

/** Makes a pipeline that walks the buckets with the value of each. */
function walking(
  read: Read,
  name: string,
  typedName: string,
  start: () => (value: number, bucket: Bucket) => number | undefined,
  gaps: GapPolicy = read.gap_policy,
  more: (value: number, bucket: Bucket) => Record<string, unknown> = () => ({}),
): Pipeline {
  const path = parsePath(read.buckets_path, name);
  const format = formatOf(undefined, read.format);
  return {
    place: "parent",
    reads: path.names.slice(0, 1),
    typedName,
    apply(buckets, put) {
      const step = start();
      for (const bucket of buckets) {
        const made = step(valueAt(bucket, path, gaps), bucket);
        if (made === undefined) continue;
        put(bucket, { ...simpleValue(made, format), ...more(made, bucket) });
      }
      return buckets;
    },
  };
}

const cumulativeSum: PipelineType = {
  name: "cumulative_sum",
  summary: "The sum of a number over a bucket and those before it.",
  options: PIPELINE_OPTIONS,
  parse(body, name) {
    const read = readAggregation("cumulative_sum", body, PIPELINE_OPTIONS);
    const start = (): ((value: number) => number) => {
      let total = 0;
      return (value) => (total += value);
    };
    return walking(read, name, "simple_value", start, "insert_zeros");
  },
};

const derivative: PipelineType = {
  name: "derivative",
  summary: "The difference of a number to that of the bucket before.",
  options: DERIVATIVE,
  parse(body, name) {
    const read = readAggregation("derivative", body, DERIVATIVE);
    const per = read.unit === undefined ? undefined : unitMs(read.unit);
    let distance = 0;
    const start = (): ((value: number, bucket: Bucket) => number | undefined) => {
      let before: { value: number; key: number } | undefined;
      return (value, bucket) => {
        const key = Number(bucket["key"]);
        const made = before === undefined ? undefined : value - before.value;
        distance = before === undefined ? 0 : key - before.key;
        before = { value, key };
        return made;
      };
    };
    const more = (value: number): Record<string, unknown> =>
      per === undefined
        ? {}
        : { normalized_value: Number.isFinite(value) ? fraction((value * per) / distance) : null };
    return walking(read, name, "derivative", start, read.gap_policy, more);
  },
};

const serialDiff: PipelineType = {
  name: "serial_diff",
  summary: "The difference between a bucket's number and that of an earlier bucket.",
  options: SERIAL_DIFF,
  parse(body, name) {
    const read = readAggregation("serial_diff", body, SERIAL_DIFF);
    const lag = read.lag ?? 1;
    if (lag < 1 || lag > MAX_WINDOW)
      throw new AppError(
        "parsing",
        `[lag] must be a positive, non-zero integer up to ${MAX_WINDOW}.  Value supplied was [${lag}] in [${name}].`,
      );
    return walking(read, name, "simple_value", () => {
      const values: number[] = [];
      return (value) => {
        const before = values[values.length - lag] ?? Number.NaN;
        values.push(value);
        return Number.isNaN(value - before) ? undefined : value - before;
      };
    });
  },
};

export const PARENT_TYPES: readonly PipelineType[] = [
  cumulativeSum,
  derivative,
  movingAvg,
  movingFn,
  serialDiff,
];

const CALENDAR_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: HOUR_MS,
  day: DAY_MS,
  week: 7 * DAY_MS,
  "1w": 7 * DAY_MS,
  month: 2_629_746_000,
  "1M": 2_629_746_000,
  quarter: 7_889_238_000,
  "1q": 7_889_238_000,
  year: 31_556_952_000,
  "1y": 31_556_952_000,
};

/** Returns the ms of "day" or "90m". Throws request_invalid. */
export function unitMs(text: string): number {
  const known = Object.hasOwn(CALENDAR_MS, text) ? CALENDAR_MS[text] : undefined;
  if (known !== undefined) return known;
  try {
    return parseDuration(text, 1);
  } catch (error) {
    throw new AppError("request_invalid", `[unit] [${text}] isn't a time; write for example day or 90m`, {
      cause: error,
    });
  }
}
