/** Pipelines over a window of buckets: `moving_avg` by models, `moving_fn` by scripts. */

import { readScript } from "#hub/scripts/script.ts";
import { toDouble } from "#hub/scripts/values/operators.ts";
import { Decimal } from "#hub/scripts/values/values.ts";
import { readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import {
  MAX_SCRIPT_STEPS,
  PIPELINE_OPTIONS,
  type PipelineType,
  parsePath,
  simpleValue,
  valueAt,
} from "#hub/search/aggregations/tree/pipeline.ts";
import { formatOf } from "#hub/search/columns/value-format.ts";
import {
  anything,
  flag,
  integer,
  object,
  oneOf,
  required,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { warnDeprecated } from "#hub/search/options/request-version.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type MovingModel, movingModel } from "./moving.ts";

/** Largest window, lag of differences and number of predictions. */
export const MAX_WINDOW = 10_000;

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

export const movingAvg: PipelineType = {
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
          if (values.length >= model.needs) put(bucket, simpleValue(model.next(values, 1)[0]!, format));
          values.push(value);
          if (values.length > window) values.shift();
          last = at;
        }
        if (predict === 0 || last < 0 || values.length < model.needs || after === undefined) return buckets;
        const all = [...buckets];
        for (const [at, value] of model.next(values, predict).entries()) {
          const bucket = (all[last + 1 + at] ??= after(Number(all[last + at]!["key"])));
          put(bucket, simpleValue(value, format));
        }
        return all;
      },
    };
  },
};

export const movingFn: PipelineType = {
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
      *apply(buckets, put) {
        // Buckets without a number are left out, of the windows too.
        const numbered = buckets
          .map((bucket) => ({ bucket, value: valueAt(bucket, path, read.gap_policy) }))
          .filter(({ value }) => !Number.isNaN(value));
        const values = numbered.map(({ value }) => new Decimal(value));
        const within = (at: number): number => Math.min(values.length, Math.max(0, at));
        for (const [at, { bucket }] of numbered.entries()) {
          yield;
          const seen = values.slice(within(at + shift - window), within(at + shift));
          const made = script.compiled.run([script.params, seen], MAX_SCRIPT_STEPS);
          // A script without a result has that of a function of Java that returns a double.
          put(bucket, simpleValue(made === null ? 0 : toDouble(made), format));
        }
        return buckets;
      },
    };
  },
};

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
