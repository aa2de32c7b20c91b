/** Count, sum, sum of squares, minimum and maximum of numbers by bucket. */

import { SUM_WIDTH, SumOffset } from "#hub/engine/columns/column-sums.ts";
import type { CollectBudget } from "#hub/search/aggregations/tree/aggregation.ts";

/** `ERROR` is the rounding error of the additions so far (Kahan) because small and large values are mixed. */
const { COUNT, TOTAL: SUM, ERROR, SQUARES, MIN, MAX } = SumOffset;
const WIDTH = SUM_WIDTH;

/** Initial capacity in buckets. */
const FIRST_BUCKETS = 16;

/** Share of a bucket's estimated memory that its numbers take. */
const BUDGET_SHARE = 0.5;

/** Sums of whole numbers up to it are exact in any order. */
const EXACT = Number.MAX_SAFE_INTEGER;

/** Statistics of a bucket; `min` and `max` are null without values. */
export interface BucketNumbers {
  readonly count: number;
  readonly sum: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly sumOfSquares: number;
}

export class BucketStats {
  readonly #budget: CollectBudget;
  #numbers = new Float64Array(0);
  /** Buckets that are paid for. */
  #buckets = 0;

  constructor(budget: CollectBudget) {
    this.#budget = budget;
    this.#grow(FIRST_BUCKETS);
  }

  /** Adds values[i] to bucket buckets[places[i]], for `count` values. */
  addEach(values: Float64Array, places: Int32Array, buckets: Int32Array, count: number): void {
    let largest = 0;
    for (let at = 0; at < count; at++) largest = Math.max(largest, buckets[places[at]!]!);
    this.#reach(largest);
    const numbers = this.#numbers;
    for (let at = 0; at < count; at++) {
      const bucket = WIDTH * buckets[places[at]!]!;
      const value = values[at]!;
      numbers[bucket + COUNT]!++;
      addSum(numbers, bucket, value);
      numbers[bucket + SQUARES]! += value * value;
      if (value < numbers[bucket + MIN]!) numbers[bucket + MIN] = value;
      if (value > numbers[bucket + MAX]!) numbers[bucket + MAX] = value;
    }
  }

  /** Adds the first `count` values to one bucket; `whole`: none has a fraction. */
  addAll(values: Float64Array, count: number, bucket: number, whole: boolean): void {
    if (count === 0) return;
    this.#reach(bucket);
    let min = values[0]!;
    let max = min;
    let sum = 0;
    const numbers = this.#numbers;
    const from = WIDTH * bucket;
    // Added one by one, as `addEach` does, so that both give the same to the last bit.
    let squares = numbers[from + SQUARES]!;
    for (let at = 0; at < count; at++) {
      const value = values[at]!;
      sum += value;
      squares += value * value;
      if (value < min) min = value;
      if (value > max) max = value;
    }
    numbers[from + COUNT]! += count;
    numbers[from + SQUARES] = squares;
    numbers[from + MIN] = Math.min(min, numbers[from + MIN]!);
    numbers[from + MAX] = Math.max(max, numbers[from + MAX]!);
    if (whole && Math.max(-min, max) * count <= EXACT) addSum(numbers, from, sum);
    else for (let at = 0; at < count; at++) addSum(numbers, from, values[at]!);
  }

  /** Adds the sums of whole numbers at `from` of `sums` to one bucket. */
  addSummed(sums: Float64Array, from: number, bucket: number): void {
    this.#reach(bucket);
    const numbers = this.#numbers;
    const at = WIDTH * bucket;
    numbers[at + COUNT]! += sums[from + COUNT]!;
    addSum(numbers, at, sums[from + SUM]!);
    numbers[at + SQUARES]! += sums[from + SQUARES]!;
    numbers[at + MIN] = Math.min(numbers[at + MIN]!, sums[from + MIN]!);
    numbers[at + MAX] = Math.max(numbers[at + MAX]!, sums[from + MAX]!);
  }

  /**
   * Adds sums of whole numbers to the first `buckets`, which `add` continues one value after the other. Returns what `add` does:
   * false if it has done nothing.
   */
  addRun(buckets: number, add: (sums: Float64Array) => boolean): boolean {
    if (buckets === 0) return true;
    this.#reach(buckets - 1);
    const numbers = this.#numbers;
    const sums = numbers.slice(0, WIDTH * buckets);
    for (let at = 0; at < sums.length; at += WIDTH) sums[at + SUM] = 0;
    if (!add(sums)) return false;
    for (let at = 0; at < sums.length; at += WIDTH) {
      const sum = sums[at + SUM]!;
      sums[at + SUM] = numbers[at + SUM]!;
      addSum(sums, at, sum);
    }
    numbers.set(sums);
    return true;
  }

  of(bucket: number): BucketNumbers {
    const from = WIDTH * bucket;
    const count = this.#numbers[from + COUNT] ?? 0;
    if (count === 0) return { count, sum: 0, min: null, max: null, sumOfSquares: 0 };
    return {
      count,
      sum: this.#numbers[from + SUM]!,
      min: this.#numbers[from + MIN]!,
      max: this.#numbers[from + MAX]!,
      sumOfSquares: this.#numbers[from + SQUARES]!,
    };
  }

  /** Reserves capacity for a bucket. Throws memory_limit. */
  #reach(bucket: number): void {
    if (bucket < this.#buckets) return;
    this.#budget.add((bucket + 1 - this.#buckets) * BUDGET_SHARE);
    this.#buckets = bucket + 1;
    if (bucket >= this.#numbers.length / WIDTH) this.#grow(bucket + 1);
  }

  #grow(buckets: number): void {
    const before = this.#numbers.length;
    const grown = new Float64Array(Math.max(WIDTH * buckets, 2 * before));
    grown.set(this.#numbers);
    for (let from = before; from < grown.length; from += WIDTH) {
      grown[from + MIN] = Number.POSITIVE_INFINITY;
      grown[from + MAX] = Number.NEGATIVE_INFINITY;
    }
    this.#numbers = grown;
  }
}

function addSum(numbers: Float64Array, bucket: number, value: number): void {
  const before = numbers[bucket + SUM]!;
  const corrected = value - numbers[bucket + ERROR]!;
  const sum = before + corrected;
  numbers[bucket + ERROR] = Number.isFinite(sum) ? sum - before - corrected : 0;
  numbers[bucket + SUM] = sum;
}
