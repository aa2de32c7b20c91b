/** Pipelines below a histogram: they add a number to each bucket that depends on earlier buckets. */

import { readScript } from "#hub/scripts/script.ts";
import { toDouble } from "#hub/scripts/values/operators.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
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
import { formatOf, printValue } from "#hub/search/columns/value-format.ts";
import {
  anything,
  flag,
  integer,
  object,
  oneOf,
  required,
  text,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { type MovingModel, movingModel } from "./moving.ts";

/** Largest window of moving averages and lag of differences. */
const MAX_WINDOW = 10_000;

const DERIVATIVE = {
  ...PIPELINE_OPTIONS,
  unit: text("time that [normalized_value] is per", undefined),
} as const;
const SERIAL_DIFF = {
  ...PIPELINE_OPTIONS,
  lag: integer("distance to the bucket that is subtracted", 1),
} as const;
const MOVING_AVG = {
  ...PIPELINE_OPTIONS,
  window: integer("buckets that are averaged", 5, 1),
  model: oneOf("how", ["simple", "linear", "ewma", "holt", "holt_winters"], "simple"),
  settings: object("alpha, beta, gamma, period, type of the model"),
  minimize: withoutEffect(flag("the settings are taken as they are", undefined)),
  predict: integer("buckets after the last one with a number that get a prediction", undefined),
} as const;
const MOVING_FN = {
  ...PIPELINE_OPTIONS,
  window: required(integer("buckets that are looked at", undefined, Number.MIN_SAFE_INTEGER)),
  script: required(anything("Painless over `values`, e.g. MovingFunctions.unweightedAvg(values)")),
  shift: integer("buckets by which the window is moved on", 0),
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
        put(bucket, { ...simpleValue(made, (value) => printValue(format, value)), ...more(made, bucket) });
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
      per === undefined ? {} : { normalized_value: Number.isFinite(value) ? (value * per) / distance : null };
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

const movingAvg: PipelineType = {
  name: "moving_avg",
  summary: "The mean of a number over the buckets before, by one of several models.",
  options: MOVING_AVG,
  parse(body, name) {
    warnDeprecated("The moving_avg aggregation has been deprecated in favor of the moving_fn aggregation.");
    const read = readAggregation("moving_avg", body, MOVING_AVG);
    const window = checkWindow(read.window ?? 5, name);
    const predict = checkPredict(read.predict, name);
    const model: MovingModel = movingModel(read.model ?? "simple", read.settings ?? {}, window, name);
    const path = parsePath(read.buckets_path, name);
    const format = formatOf(undefined, read.format);
    const printed = (made: number): JsonObject => simpleValue(made, (value) => printValue(format, value));
    return {
      place: "parent",
      reads: path.names.slice(0, 1),
      typedName: "simple_value",
      apply(buckets, put, after) {
        const values: number[] = [];
        let last = -1;
        for (const [at, bucket] of buckets.entries()) {
          const value = valueAt(bucket, path, read.gap_policy);
          if (Number.isNaN(value)) continue;
          if (values.length >= model.needs) put(bucket, printed(model.next(values, 1)[0]!));
          values.push(value);
          if (values.length > window) values.shift();
          last = at;
        }
        if (predict === 0 || last < 0 || values.length < model.needs || after === undefined) return buckets;
        const all = [...buckets];
        for (const [at, value] of model.next(values, predict).entries()) {
          const bucket = (all[last + 1 + at] ??= after(Number(all[last + at]!["key"])));
          put(bucket, printed(value));
        }
        return all;
      },
    };
  },
};

const movingFn: PipelineType = {
  name: "moving_fn",
  summary: "A number that a script computes from those of a window of buckets.",
  options: MOVING_FN,
  parse(body, name) {
    const read = readAggregation("moving_fn", body, MOVING_FN);
    if (read.window <= 0)
      throw new AppError("request_invalid", "[window] must be a positive, non-zero integer.");
    const window = checkWindow(read.window, name);
    const shift = read.shift ?? 0;
    const script = readScript(read.script, ["params", "values"]);
    const path = parsePath(read.buckets_path, name);
    const format = formatOf(undefined, read.format);
    return {
      place: "parent",
      reads: path.names.slice(0, 1),
      typedName: "simple_value",
      apply(buckets, put) {
        // Buckets without a number are left out, of the windows too.
        const numbered = buckets
          .map((bucket) => ({ bucket, value: valueAt(bucket, path, read.gap_policy) }))
          .filter(({ value }) => !Number.isNaN(value));
        const values = numbered.map(({ value }) => new Decimal(value));
        const within = (at: number): number => Math.min(values.length, Math.max(0, at));
        for (const [at, { bucket }] of numbered.entries()) {
          const seen = values.slice(within(at + shift - window), within(at + shift));
          const made = script.compiled.run([script.params, seen]);
          put(
            bucket,
            // A script without a result has that of a function of Java that returns a double.
            simpleValue(made === null ? 0 : toDouble(made), (value) => printValue(format, value)),
          );
        }
        return buckets;
      },
    };
  },
};

export const PARENT_TYPES: readonly PipelineType[] = [
  cumulativeSum,
  derivative,
  movingAvg,
  movingFn,
  serialDiff,
];

function checkWindow(window: number, name: string): number {
  if (window >= 1 && window <= MAX_WINDOW) return window;
  throw new AppError(
    "request_invalid",
    `[window] of [${name}] must be 1 to ${MAX_WINDOW}, but is [${window}]`,
  );
}

function checkPredict(predict: number | undefined, name: string): number {
  if (predict === undefined) return 0;
  if (predict >= 1 && predict <= MAX_WINDOW) return predict;
  throw new AppError(
    "parsing",
    `[predict] value must be a positive integer up to ${MAX_WINDOW}.  Value supplied was [${predict}] in [${name}].`,
  );
}

const CALENDAR_MS: Readonly<Record<string, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
  "1w": 604_800_000,
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
    throw new AppError("request_invalid", `[unit] [${text}] is no time; write for example day or 90m`, {
      cause: error,
    });
  }
}
