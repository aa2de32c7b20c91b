/**
 * Counts numbers in buckets of a relative width (HdrHistogram). Each power of two is cut into equal parts, whose number
 * follows from the significant digits. A value is reported as the largest one of its bucket.
 */

/** JSON-able: the digits, then pairs of a bucket and its count. */
export interface HdrState {
  readonly digits: number;
  readonly counts: readonly (readonly [bucket: number, count: number])[];
}

/** Bucket of zero; all others are above. */
const ZERO = -2_000_000_000;

export class HdrHistogram {
  readonly #digits: number;
  /** Parts that a power of two is cut into, and its logarithm. */
  readonly #parts: number;
  readonly #counts = new Map<number, number>();
  #total = 0;

  /** `digits`: significant digits, 0..5. */
  constructor(digits: number) {
    this.#digits = digits;
    this.#parts = 2 ** (Math.ceil(Math.log2(2 * 10 ** digits)) - 1);
  }

  /** `value` must not be negative. */
  add(value: number): void {
    this.#count(this.#bucketOf(value), 1);
  }

  /** Adds values, each as often as its weight says; none is negative. */
  addSorted(values: Float64Array, weights: Float64Array): void {
    for (const [at, value] of values.entries()) this.#count(this.#bucketOf(value), weights[at]!);
  }

  /** Adds what other histograms have counted. */
  merge(states: readonly HdrState[]): void {
    for (const { counts } of states) for (const [bucket, count] of counts) this.#count(bucket, count);
  }

  state(): HdrState {
    return { digits: this.#digits, counts: [...this.#counts].sort(([a], [b]) => a - b) };
  }

  /** Returns the value below which a share 0..1 of the values lies; NaN without values. */
  quantile(share: number): number {
    const sorted = [...this.#counts].sort(([a], [b]) => a - b);
    const wanted = Math.max(1, Math.floor(share * this.#total + 0.5));
    const unit = this.#unit(sorted);
    let seen = 0;
    for (const [bucket, count] of sorted) {
      seen += count;
      if (seen >= wanted) return share === 0 ? this.#lowest(bucket) : this.#highest(bucket, unit);
    }
    return Number.NaN;
  }

  /** Returns the share 0..1 of the values at or below `value`; NaN without values. */
  rank(value: number): number {
    if (this.#total === 0) return Number.NaN;
    const end = value < 0 ? ZERO - 1 : this.#bucketOf(value);
    let below = 0;
    for (const [bucket, count] of this.#counts) if (bucket <= end) below += count;
    return below / this.#total;
  }

  #count(bucket: number, count: number): void {
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + count);
    this.#total += count;
  }

  #bucketOf(value: number): number {
    if (value === 0) return ZERO;
    const exponent = Math.floor(Math.log2(value));
    return exponent * this.#parts + Math.floor((value / 2 ** exponent - 1) * this.#parts);
  }

  #lowest(bucket: number): number {
    if (bucket === ZERO) return 0;
    const exponent = Math.floor(bucket / this.#parts);
    return 2 ** exponent * (1 + (bucket - exponent * this.#parts) / this.#parts);
  }

  #highest(bucket: number, unit: number): number {
    if (bucket === ZERO) return 0;
    const exponent = Math.floor(bucket / this.#parts);
    return this.#lowest(bucket) + 2 ** exponent / this.#parts - unit;
  }

  /** Distance of neighbouring values: a part of the smallest power of two that is there. */
  #unit(sorted: readonly (readonly [bucket: number, count: number])[]): number {
    const [smallest] = sorted.find(([bucket]) => bucket !== ZERO) ?? [0];
    return 2 ** Math.floor(smallest / this.#parts) / this.#parts;
  }
}
