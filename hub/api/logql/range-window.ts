/** Functions over the lines of a range: one value for each step, in time linear in samples and steps. */

import type { Labels, Series } from "./metric-math.ts";
import type { Pace } from "./pace.ts";

/** Steps between two checks of the time. */
const STEPS_A_LOOK = 64;

/** Samples of one series: times in ms, and values. */
export interface Samples {
  readonly labels: Labels;
  readonly times: number[];
  readonly values: number[];
}

/** Parameters of a range function. */
interface RangeFunction {
  readonly name: string;
  readonly rangeMs: number;
  /** Quantile of quantile_over_time. */
  readonly quantile: number;
}

/**
 * Returns the series of a range function over samples in any order; each step uses those of (step - range, step].
 * Throws what `pace` throws.
 */
export async function overRange(
  { labels, times, values }: Samples,
  range: RangeFunction,
  steps: readonly number[],
  pace: Pace,
): Promise<Series> {
  const order = times.map((_, at) => at).sort((a, b) => times[a]! - times[b]!);
  const window = windowOf(
    range,
    order.map((at) => values[at]!),
  );
  const points: (number | undefined)[] = [];
  let start = 0;
  let end = 0;
  for (const [at, step] of steps.entries()) {
    if (at % STEPS_A_LOOK === 0 && pace.isDue) await pace.pause();
    for (; end < order.length && times[order[end]!]! <= step; end++) window.push();
    for (; start < end && times[order[start]!]! <= step - range.rangeMs; start++) window.shift();
    points.push(start === end ? undefined : window.result());
  }
  return { labels, points };
}

/** A window that moves over values in the order of their times. */
interface MovingWindow {
  /** Adds the next value. */
  push(): void;
  /** Removes the oldest value. */
  shift(): void;
  /** Returns the result of a non-empty window. */
  result(): number;
}

function windowOf({ name, rangeMs, quantile }: RangeFunction, values: readonly number[]): MovingWindow {
  switch (name) {
    case "rate":
    case "bytes_rate":
      return new JoinedWindow(values, add, (total) => (total * 1000) / rangeMs);
    case "rate_counter":
      return new JoinedWindow(
        values.map(growthOf),
        joinedGrowth,
        ({ increase }) => (increase * 1000) / rangeMs,
      );
    case "avg_over_time":
      return new JoinedWindow(values, add, (total, size) => total / size);
    case "min_over_time":
      return new JoinedWindow(values, Math.min, (total) => total);
    case "max_over_time":
      return new JoinedWindow(values, Math.max, (total) => total);
    case "first_over_time":
      return new JoinedWindow(
        values,
        (a) => a,
        (total) => total,
      );
    case "last_over_time":
      return new JoinedWindow(
        values,
        (_, b) => b,
        (total) => total,
      );
    case "stdvar_over_time":
      return new JoinedWindow(values.map(momentsOf), joinedMoments, variance);
    case "stddev_over_time":
      return new JoinedWindow(values.map(momentsOf), joinedMoments, (all) => Math.sqrt(variance(all)));
    case "quantile_over_time":
      return new RankedWindow(values, quantile);
    default:
      return new JoinedWindow(values, add, (total) => total);
  }
}

function add(a: number, b: number): number {
  return a + b;
}

/** Values of a counter, and how much it has grown from the first to the last of them. */
interface Growth {
  readonly first: number;
  readonly last: number;
  readonly increase: number;
}

function growthOf(value: number): Growth {
  return { first: value, last: value, increase: 0 };
}

/** A value below the one before it means that the counter was reset to 0. */
function joinedGrowth(a: Growth, b: Growth): Growth {
  const between = b.first < a.last ? b.first : b.first - a.last;
  return { first: a.first, last: b.last, increase: a.increase + between + b.increase };
}

/** Count, mean and sum of squared distances from the mean, joined by the method of Chan, Golub and LeVeque (1979). */
interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly squares: number;
}

function momentsOf(value: number): Moments {
  return { count: 1, mean: value, squares: 0 };
}

function joinedMoments(a: Moments, b: Moments): Moments {
  const count = a.count + b.count;
  const distance = b.mean - a.mean;
  return {
    count,
    mean: a.mean + (distance * b.count) / count,
    squares: a.squares + b.squares + (distance * distance * a.count * b.count) / count,
  };
}

function variance({ squares, count }: Moments): number {
  return squares / count;
}

/** A window that finds values by rank, with a tree of counts (Fenwick, 1994) over all values in order. */
class RankedWindow implements MovingWindow {
  readonly #sorted: Float64Array;
  /** Rank of each value, from 1. */
  readonly #ranks: Uint32Array;
  readonly #counts: Uint32Array;
  readonly #quantile: number;
  #start = 0;
  #end = 0;

  constructor(values: readonly number[], quantile: number) {
    const order = values.map((_, at) => at).sort((a, b) => values[a]! - values[b]!);
    this.#sorted = Float64Array.from(order, (at) => values[at]!);
    this.#ranks = new Uint32Array(values.length);
    for (const [rank, at] of order.entries()) this.#ranks[at] = rank + 1;
    this.#counts = new Uint32Array(values.length + 1);
    this.#quantile = quantile;
  }

  push(): void {
    this.#count(this.#ranks[this.#end++]!, 1);
  }

  shift(): void {
    this.#count(this.#ranks[this.#start++]!, -1);
  }

  /** Returns the value at the quantile, interpolated between two ranks. */
  result(): number {
    if (this.#quantile < 0) return Number.NEGATIVE_INFINITY;
    if (this.#quantile > 1) return Number.POSITIVE_INFINITY;
    const rank = this.#quantile * (this.#end - this.#start - 1);
    const below = Math.floor(rank);
    const low = this.#at(below);
    return below === rank ? low : low + (this.#at(below + 1) - low) * (rank - below);
  }

  #count(rank: number, change: number): void {
    for (let at = rank; at < this.#counts.length; at += at & -at)
      this.#counts[at] = this.#counts[at]! + change;
  }

  /** Returns the value with `rank` others below it. */
  #at(rank: number): number {
    let at = 0;
    let rest = rank;
    for (let step = 2 ** Math.floor(Math.log2(this.#sorted.length)); step >= 1; step /= 2)
      if (at + step < this.#counts.length && this.#counts[at + step]! <= rest) {
        at += step;
        rest -= this.#counts[at]!;
      }
    return this.#sorted[at]!;
  }
}

/**
 * A window that keeps the join of its values. Nothing is ever subtracted from a sum, so neither rounding nor an
 * infinite value has an effect after it has left the window.
 */
class JoinedWindow<T> implements MovingWindow {
  readonly #values: readonly T[];
  readonly #join: (a: T, b: T) => T;
  readonly #finish: (total: T, size: number) => number;
  /** At each index before `#middle`: the join of the values from there to `#middle`. */
  readonly #front: T[];
  #start = 0;
  #end = 0;
  #middle = 0;
  /** The join of the values from `#middle` to the end. */
  #back: T | undefined;

  constructor(values: readonly T[], join: (a: T, b: T) => T, finish: (total: T, size: number) => number) {
    this.#values = values;
    this.#join = join;
    this.#finish = finish;
    this.#front = [...values];
  }

  result(): number {
    return this.#finish(this.#total(), this.#end - this.#start);
  }

  push(): void {
    const value = this.#values[this.#end++]!;
    this.#back = this.#back === undefined ? value : this.#join(this.#back, value);
  }

  shift(): void {
    if (this.#start === this.#middle) this.#turn();
    this.#start++;
  }

  #total(): T {
    if (this.#start === this.#middle) return this.#back!;
    const front = this.#front[this.#start]!;
    return this.#back === undefined ? front : this.#join(front, this.#back);
  }

  #turn(): void {
    for (let at = this.#end - 1; at >= this.#start; at--) {
      const value = this.#values[at]!;
      this.#front[at] = at === this.#end - 1 ? value : this.#join(value, this.#front[at + 1]!);
    }
    this.#middle = this.#end;
    this.#back = undefined;
  }
}
