/** Models of moving averages. */

import {
  exponentialMean,
  holt,
  holtWinters,
  linearMean,
  mean,
  PADDING,
} from "#hub/scripts/library/moving-functions.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Makes the next numbers of those before, the oldest first. */
export interface MovingModel {
  /** Numbers it needs. */
  readonly needs: number;
  next(values: readonly number[], count: number): number[];
}

/** Returns a model that has one number for all that follow. */
function constant(average: (values: readonly number[]) => number): MovingModel {
  return { needs: 1, next: (values, count) => new Array<number>(count).fill(average(values)) };
}

/** Settings of each model with their defaults. */
const SETTINGS: Readonly<Record<string, JsonObject>> = {
  simple: {},
  linear: {},
  ewma: { alpha: 0.3 },
  holt: { alpha: 0.3, beta: 0.1 },
  holt_winters: { alpha: 0.3, beta: 0.1, gamma: 0.3, period: 1, type: "add", pad: undefined },
};

/** Reads a model of `moving_avg`. Throws request_invalid. */
export function movingModel(name: string, given: JsonObject, window: number, owner: string): MovingModel {
  const settings = { ...SETTINGS[name] };
  for (const [key, value] of Object.entries(given)) {
    if (!Object.hasOwn(settings, key))
      throw new AppError(
        "request_invalid",
        `Unrecognized parameter(s): [${key}] of the model [${name}] in [${owner}]`,
      );
    if (["alpha", "beta", "gamma"].includes(key) && !(Number(value) >= 0 && Number(value) <= 1))
      throw new AppError(
        "request_invalid",
        `[${key}] must be between 0 and 1 inclusive, but is [${String(value)}]`,
      );
    settings[key] = value;
  }
  const [alpha, beta] = [Number(settings["alpha"]), Number(settings["beta"])];
  if (name === "simple") return constant(mean);
  if (name === "linear") return constant(linearMean);
  if (name === "ewma") return constant((values) => exponentialMean(values, alpha));
  if (name === "holt") return { needs: 1, next: (values, count) => holt(values, alpha, beta, count) };
  const period = Number(settings["period"]);
  if (!(period >= 1) || window < 2 * period) {
    throw new AppError(
      "request_invalid",
      `Field [window] must be at least twice as large as the period when using Holt-Winters.  Value provided was [${window}], which is less than (2*period) == ${2 * period}`,
    );
  }
  const multiplicative = settings["type"] === "mult";
  const options = {
    alpha,
    beta,
    gamma: Number(settings["gamma"]),
    period,
    multiplicative,
    padding: multiplicative && settings["pad"] !== false ? PADDING : 0,
  };
  return { needs: 2 * period, next: (values, count) => holtWinters(values, options, count) };
}
