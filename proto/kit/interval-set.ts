/** Sets of half-open integer ranges, kept merged: the processed ranges of a file. */

/** A range [from, to). */
export type Interval = readonly [from: number, to: number];

/**
 * Ranges merged and ascending. A file read in order has one. When more than `limit` remain apart, the lowest
 * gap is closed and counted in `closedGaps`: data that arrives late in it would be taken for a repetition.
 */
export class IntervalSet {
  #bounds: number[];
  readonly #limit: number;
  #closedGaps = 0;

  constructor(intervals: readonly Interval[] = [], limit = 4096) {
    this.#bounds = [];
    this.#limit = limit;
    for (const [from, to] of intervals) this.add(from, to);
  }

  /** Number of separate ranges. */
  get size(): number {
    return this.#bounds.length / 2;
  }

  /** Gaps that were closed because of the limit, since the set was made. */
  get closedGaps(): number {
    return this.#closedGaps;
  }

  /** Adds [from, to); an empty range changes nothing. */
  add(from: number, to: number): void {
    if (from >= to) return;
    const bounds = this.#bounds;
    const last = bounds.length - 1;
    if (last < 0 || from > bounds[last]!) {
      bounds.push(from, to);
    } else if (from >= bounds[last - 1]!) {
      if (to > bounds[last]!) bounds[last] = to;
      return;
    } else {
      this.#insert(from, to);
    }
    if (bounds.length / 2 > this.#limit) {
      bounds.splice(1, 2);
      this.#closedGaps++;
    }
  }

  /** Returns true if a range contains `value`. */
  has(value: number): boolean {
    const index = this.#firstEndAbove(value);
    return index < this.#bounds.length && this.#bounds[index]! <= value;
  }

  /** Returns the parts of [from, to) that are in no range, ascending. */
  missing(from: number, to: number): Interval[] {
    const gaps: Interval[] = [];
    let at = from;
    for (let index = this.#firstEndAbove(from); index < this.#bounds.length && at < to; index += 2) {
      const start = this.#bounds[index]!;
      if (start >= to) break;
      if (start > at) gaps.push([at, start]);
      at = this.#bounds[index + 1]!;
    }
    if (at < to) gaps.push([at, to]);
    return gaps;
  }

  /** Returns the end of the range that holds `value`, or `value` itself where none does. */
  contiguousEnd(value: number): number {
    const index = this.#firstEndAbove(value);
    return index < this.#bounds.length && this.#bounds[index]! <= value ? this.#bounds[index + 1]! : value;
  }

  toArray(): Interval[] {
    const result: Interval[] = [];
    for (let index = 0; index < this.#bounds.length; index += 2) {
      result.push([this.#bounds[index]!, this.#bounds[index + 1]!]);
    }
    return result;
  }

  /** Slow path: a range that starts before the last one. */
  #insert(from: number, to: number): void {
    const bounds = this.#bounds;
    let first = this.#firstEndAbove(from - 1);
    let start = from;
    let end = to;
    const at = first;
    while (first < bounds.length && bounds[first]! <= end) {
      start = Math.min(start, bounds[first]!);
      end = Math.max(end, bounds[first + 1]!);
      first += 2;
    }
    bounds.splice(at, first - at, start, end);
  }

  /** Index of the start of the first range whose end is above `value`. */
  #firstEndAbove(value: number): number {
    let low = 0;
    let high = this.#bounds.length / 2;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#bounds[2 * middle + 1]! > value) high = middle;
      else low = middle + 1;
    }
    return 2 * low;
  }
}
