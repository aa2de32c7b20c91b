/** Models of moving averages, and the named functions of `moving_fn`. */

import { AppError } from "#proto/kit/errors.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";

/** Makes the next number of those before, the oldest first. */
export interface MovingModel {
  /** Numbers it needs. */
  readonly needs: number;
  next(values: readonly number[]): number;
}

interface Seasonal {
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  readonly period: number;
  readonly multiplicative: boolean;
}

/** Settings of each model with their defaults. */
const SETTINGS: Readonly<Record<string, JsonObject>> = {
  simple: {},
  linear: {},
  ewma: { alpha: 0.3 },
  holt: { alpha: 0.3, beta: 0.1 },
  holt_winters: { alpha: 0.3, beta: 0.1, gamma: 0.3, period: 1, type: "add", pad: false },
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
  if (name === "simple") return { needs: 1, next: mean };
  if (name === "linear") return { needs: 1, next: linearMean };
  if (name === "ewma") return { needs: 1, next: (values) => exponentialMean(values, alpha) };
  if (name === "holt") return { needs: 1, next: (values) => holt(values, alpha, beta) };
  const period = Number(settings["period"]);
  if (!(period >= 1) || window < 2 * period) {
    throw new AppError(
      "request_invalid",
      `Field [window] must be at least twice as large as the period when using Holt-Winters.  Value provided was [${window}], which is less than (2*period) == ${2 * period}`,
    );
  }
  const options = {
    alpha,
    beta,
    gamma: Number(settings["gamma"]),
    period,
    multiplicative: settings["type"] === "mult",
  };
  return { needs: 2 * period, next: (values) => holtWinters(values, options) };
}

/** Reads the only thing that `moving_fn` takes as a script: one call of a known function. Throws request_invalid. */
export function movingFunction(script: unknown, owner: string): (values: readonly number[]) => number {
  const source: unknown = isObject(script) ? script["source"] : script;
  const call = /^\s*(?:return\s+)?MovingFunctions\.(\w+)\(\s*values\s*(?:,([^;]*))?\)\s*;?\s*$/.exec(
    typeof source === "string" ? source : "",
  );
  const numbers = (call?.[2] ?? "").split(",").map((each) => Number(each.trim()));
  const [first = Number.NaN, second = Number.NaN] = numbers;
  const none = (apply: (values: readonly number[]) => number) => (values: readonly number[]) =>
    values.length === 0 ? Number.NaN : apply(values);
  switch (call?.[1]) {
    case "max":
      return none((values) => Math.max(...values));
    case "min":
      return none((values) => Math.min(...values));
    case "sum":
      return (values) => values.reduce((total, value) => total + value, 0);
    case "unweightedAvg":
      return none(mean);
    case "stdDev":
      return none(deviation);
    case "linearWeightedAvg":
      return none(linearMean);
    case "ewma":
      if (!Number.isNaN(first)) return none((values) => exponentialMean(values, first));
      break;
    case "holt":
      if (!Number.isNaN(first + second)) return none((values) => holt(values, first, second));
      break;
  }
  throw new AppError(
    "request_invalid",
    `[moving_fn] of [${owner}] takes one call of MovingFunctions with numbers, such as MovingFunctions.unweightedAvg(values) or MovingFunctions.ewma(values, 0.3); other scripts aren't offered`,
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

function deviation(values: readonly number[]): number {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((value) => (value - middle) ** 2)));
}

/** Later numbers count more, each by one; as in 6.5 the weights add up to one too many. */
function linearMean(values: readonly number[]): number {
  let total = 0;
  let weights = 1;
  for (const [at, value] of values.entries()) {
    total += value * (at + 1);
    weights += at + 1;
  }
  return total / weights;
}

function exponentialMean(values: readonly number[], alpha: number): number {
  return values.reduce((average, value) => value * alpha + average * (1 - alpha));
}

/** Double exponential smoothing: level and trend, which begins flat. As in 6.5 the next number is the last level. */
function holt(values: readonly number[], alpha: number, beta: number): number {
  let level = values[0] ?? Number.NaN;
  let trend = 0;
  for (const value of values.slice(1)) {
    const before = level;
    level = alpha * value + (1 - alpha) * (level + trend);
    trend = beta * (level - before) + (1 - beta) * trend;
  }
  return level;
}

/** Triple exponential smoothing: level, trend and season. */
function holtWinters(given: readonly number[], options: Seasonal): number {
  const { alpha, beta, gamma, period, multiplicative } = options;
  // Seasons as factors can't work on zeros.
  const values = multiplicative ? given.map((value) => value + 1e-10) : given;
  let level = mean(values.slice(0, period));
  let trend = 0;
  const season: number[] = [];
  for (let at = 0; at < period; at++) {
    trend += (values[at + period]! - values[at]!) / period;
    season[at] = multiplicative ? values[at]! / level : values[at]! - level;
  }
  trend /= period;
  for (let at = period; at < values.length; at++) {
    const before = level;
    const past = season[at - period]!;
    const value = values[at]!;
    level = alpha * (multiplicative ? value / past : value - past) + (1 - alpha) * (level + trend);
    trend = beta * (level - before) + (1 - beta) * trend;
    season[at] = gamma * (multiplicative ? value / level : value - level) + (1 - gamma) * past;
  }
  const coming = season[values.length - period]!;
  return multiplicative ? (level + trend) * coming : level + trend + coming;
}
