/** Finds which ranges hold a value, among thousands that may overlap, without looking at all of them. */

/** Limits of a bucket, `from` inclusive, `to` exclusive; null: open. */
export interface RangeLimits {
  readonly from: number | null;
  readonly to: number | null;
}

/** `count` values with the index of their document in the batch, ascending. */
export interface PlacedValues {
  readonly values: ArrayLike<number>;
  readonly places: ArrayLike<number>;
  readonly count: number;
}

/** True if a value is at or after `from` and before `to`. */
export function inRange(value: number, { from, to }: RangeLimits): boolean {
  return (from === null || value >= from) && (to === null || value < to);
}

/** Ranges in the order of their lower bounds, in which those around a value are found without looking at all. */
export class SortedRanges {
  readonly #from: Float64Array;
  readonly #to: Float64Array;
  /** Largest upper bound up to each range. */
  readonly #largestTo: Float64Array;
  /** Which buckets the open document is in, if it has several values. */
  readonly #taken = new Set<number>();

  /** `ranges`: by lower bound, ascending, open ones first. */
  constructor(ranges: readonly RangeLimits[]) {
    this.#from = Float64Array.from(ranges, ({ from }) => from ?? Number.NEGATIVE_INFINITY);
    this.#to = Float64Array.from(ranges, ({ to }) => to ?? Number.POSITIVE_INFINITY);
    this.#largestTo = Float64Array.from(this.#to);
    for (let at = 1; at < ranges.length; at++)
      this.#largestTo[at] = Math.max(this.#largestTo[at - 1]!, this.#to[at]!);
  }

  /** Puts each document into the buckets that one of its values falls into, once into each. */
  put({ values, places, count }: PlacedValues, put: (index: number, bucket: number) => void): void {
    const taken = this.#taken;
    for (let at = 0; at < count; at++) {
      const [value, index] = [values[at]!, places[at]!];
      const follows = at > 0 && places[at - 1] === index;
      const isOnly = !follows && (at + 1 === count || places[at + 1] !== index);
      if (!follows) taken.clear();
      const end = this.#firstAfter(value);
      for (let bucket = this.#firstOpen(value, end); bucket < end; bucket++) {
        if (!reaches(this.#to[bucket]!, value) || taken.has(bucket)) continue;
        if (!isOnly) taken.add(bucket);
        put(index, bucket);
      }
    }
  }

  /** First range that begins after `value`. */
  #firstAfter(value: number): number {
    let [low, high] = [0, this.#from.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#from[middle]! > value) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** First range before `end` that may not have ended at `value`. */
  #firstOpen(value: number, end: number): number {
    let [low, high] = [0, end];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (reaches(this.#largestTo[middle]!, value)) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Whether a range that ends before `to` has `value`, which isn't before its beginning; infinite: it doesn't end. */
function reaches(to: number, value: number): boolean {
  return to > value || to === Number.POSITIVE_INFINITY;
}
