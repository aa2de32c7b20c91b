/** Functions over a series of numbers, the oldest first, which `moving_avg` and the scripts of `moving_fn` use. */

import { toDouble, toInteger, truth } from "#hub/scripts/values/operators.ts";
import { ScriptException } from "#hub/scripts/values/script-error.ts";
import { type CallContext, Decimal } from "#hub/scripts/values/values.ts";
import { membersOf } from "./members.ts";

/** Weights of triple exponential smoothing. */
export interface Seasonal {
  readonly alpha: number;
  readonly beta: number;
  readonly gamma: number;
  /** Numbers of a season. */
  readonly period: number;
  readonly multiplicative: boolean;
  /** What is added to each number: seasons as factors can't work on zeros. */
  readonly padding: number;
}

/** The level and trend at the end of a series, and the factors or summands of the season that follows. */
interface Smoothed {
  readonly level: number;
  readonly trend: number;
  readonly season: readonly number[];
}

/** Zeros become this for seasons as factors. */
export const PADDING = 1e-10;

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

/** Returns the mean; NaN without numbers. */
export function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

/** Returns the mean in which each number counts one more than that before; as in 6.5 the weights add up to one too many. */
export function linearMean(values: readonly number[]): number {
  let total = 0;
  let weights = 1;
  for (const [at, value] of values.entries()) {
    total += value * (at + 1);
    weights += at + 1;
  }
  return values.length === 0 ? Number.NaN : total / weights;
}

/** Returns the mean in which earlier numbers count exponentially less; NaN without numbers. */
export function exponentialMean(values: readonly number[], alpha: number): number {
  let average = values[0] ?? Number.NaN;
  for (const value of values.slice(1)) average = value * alpha + average * (1 - alpha);
  return average;
}

/** Returns the next numbers by level and trend, which begins flat. As in 6.5 the first of them is the last level. */
export function holt(values: readonly number[], alpha: number, beta: number, count: number): number[] {
  let level = values[0] ?? Number.NaN;
  let trend = 0;
  for (const value of values.slice(1)) {
    const before = level;
    level = alpha * value + (1 - alpha) * (level + trend);
    trend = beta * (level - before) + (1 - beta) * trend;
  }
  return Array.from({ length: count }, (_, at) => level + at * trend);
}

/** Returns the next numbers by level, trend and season. Throws IllegalArgumentException for less than two seasons. */
export function holtWinters(values: readonly number[], options: Seasonal, count: number): number[] {
  const { period, multiplicative } = options;
  if (values.length === 0) return new Array<number>(count).fill(Number.NaN);
  if (!(period >= 1) || values.length < 2 * period)
    throw new ScriptException(
      "IllegalArgumentException",
      `Holt-Winters aggregation requires at least (2 * period == 2 * ${period} == ${2 * period}) data-points to function.  Only [${values.length}] were provided.`,
    );
  const { level, trend, season } = smooth(
    values.map((value) => value + options.padding),
    options,
  );
  return Array.from({ length: count }, (_, at) => {
    const flat = level + (at + 1) * trend;
    const coming = season[at % period]!;
    return multiplicative ? flat * coming : flat + coming;
  });
}

/** As in 6.5 the trend begins flat, the first season has factors in any case, and later parts of it use the level before. */
function smooth(
  values: readonly number[],
  { alpha, beta, gamma, period, multiplicative }: Seasonal,
): Smoothed {
  let level = mean(values.slice(0, period));
  let trend = 0;
  const season = values.slice(0, period).map((value) => (level === 0 ? 0 : value / level));
  for (let at = period; at < values.length; at++) {
    const [before, slope] = [level, trend];
    const past = season[at - period]!;
    const value = values[at]!;
    level = alpha * (multiplicative ? value / past : value - past) + (1 - alpha) * (before + slope);
    trend = beta * (level - before) + (1 - beta) * slope;
    const part = multiplicative ? value / (before + slope) : value - (before - slope);
    season[at] = gamma * part + (1 - gamma) * past;
  }
  return { level, trend, season: season.slice(values.length - period) };
}

type Apply = (values: readonly number[], options: readonly unknown[]) => number;

const over =
  (apply: Apply) =>
  ([values, ...options]: readonly unknown[], context: CallContext): Decimal =>
    new Decimal(apply(membersOf(values, context).map(toDouble), options));

/** Static methods of the class MovingFunctions. */
export const MOVING_FUNCTIONS = {
  max: over((values) => (values.length === 0 ? Number.NaN : values.reduce((a, b) => Math.max(a, b)))),
  min: over((values) => (values.length === 0 ? Number.NaN : values.reduce((a, b) => Math.min(a, b)))),
  sum: over(sum),
  unweightedAvg: over(mean),
  stdDev: over((values, [middle]) => Math.sqrt(mean(values.map((value) => (value - toDouble(middle)) ** 2)))),
  linearWeightedAvg: over(linearMean),
  ewma: over((values, [alpha]) => exponentialMean(values, toDouble(alpha))),
  holt: over((values, [alpha, beta]) => holt(values, toDouble(alpha), toDouble(beta), 1)[0]!),
  holtWinters: over((values, [alpha, beta, gamma, period, isMultiplicative]) => {
    const multiplicative = truth(isMultiplicative);
    const options = {
      alpha: toDouble(alpha),
      beta: toDouble(beta),
      gamma: toDouble(gamma),
      period: toInteger(period),
      multiplicative,
      padding: multiplicative ? PADDING : 0,
    };
    return holtWinters(values, options, 1)[0]!;
  }),
};
