/** Quantiles of a stream in little memory: a merging t-digest (Dunning & Ertl 2019), exact while there are few values. */

/** JSON-able: centroids ascending, as [mean, weight] pairs in one list. */
export interface DigestState {
  readonly centroids: readonly number[];
  readonly min: number | null;
  readonly max: number | null;
}

/** Smallest and largest compression: a digest of the largest takes about 100 kB. */
export const MIN_COMPRESSION = 20;
export const MAX_COMPRESSION = 3000;

/** Values that are kept as they are: this many for each unit of the compression, and at most for small compressions. */
const EXACT_FACTOR = 10;
const MAX_EXACT = 2000;

/** Values gathered before they are merged into the centroids. */
const BUFFER = 4096;
/** Length of the buffer at first: as small as the engine keeps on the heap, since one of thousands of buckets has few values. */
const FEW = 8;

/** Values with their weights, ascending. */
interface Weighted {
  readonly means: Float64Array;
  readonly weights: Float64Array;
  /** 1 if a weight may be divided. */
  readonly divisible: Uint8Array;
}

export class TDigest {
  readonly #compression: number;
  #means: Float64Array = new Float64Array(0);
  #weights: Float64Array = new Float64Array(0);
  /** Values of weight 1 that aren't merged yet. */
  #pending: Float64Array = new Float64Array(FEW);
  #pendingCount = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** `compression`: a quarter of it times twice the logarithm of the values is the number of centroids. */
  constructor(compression: number) {
    this.#compression = compression;
  }

  add(value: number): void {
    if (this.#pendingCount === this.#pending.length) this.#grow();
    this.#pending[this.#pendingCount++] = value;
  }

  /** Adds values, each `counts` times; values ascend and counts are above 0. */
  addSorted(values: Float64Array, counts: Float64Array): void {
    if (values.length === 0) return;
    this.#settle();
    let total = 0;
    for (const count of counts) total += count;
    // A few are added separately, as if they had come one by one.
    if (total <= this.#exactValues) {
      for (const [at, value] of values.entries())
        for (let copy = 0; copy < counts[at]!; copy++) this.add(value);
    } else this.#mergeIn(values, counts, true);
  }

  /** Adds the values of other digests. Their centroids are joined once and in one order, whichever they come in. */
  merge(states: readonly DigestState[]): void {
    const filled = states.filter(({ centroids }) => centroids.length > 0);
    if (filled.length === 0) return;
    this.#settle();
    const centroids = filled.length === 1 ? filled[0]!.centroids : ascending(filled);
    const means = Float64Array.from({ length: centroids.length / 2 }, (_, at) => centroids[2 * at]!);
    const weights = Float64Array.from({ length: centroids.length / 2 }, (_, at) => centroids[2 * at + 1]!);
    this.#mergeIn(means, weights, false);
    for (const { min, max } of states) {
      this.#min = Math.min(this.#min, min ?? this.#min);
      this.#max = Math.max(this.#max, max ?? this.#max);
    }
  }

  state(): DigestState {
    this.#settle();
    const centroids = Array.from(this.#means).flatMap((mean, at) => [mean, this.#weights[at]!]);
    return {
      centroids,
      min: centroids.length === 0 ? null : this.#min,
      max: centroids.length === 0 ? null : this.#max,
    };
  }

  /** Value at `quantile`, 0..1, which may lie between two values; NaN without values. */
  quantile(quantile: number): number {
    this.#settle();
    const means = this.#means;
    const total = this.#total();
    if (total === 0) return Number.NaN;
    if (means.length === 1) return means[0]!;
    // A centroid is at the middle of its weight; a single value at either end represents itself.
    const target = quantile * total;
    let before = 0;
    let [lastOffset, lastMean] = [0, this.#min];
    for (let at = 0; at < means.length; at++) {
      const offset = before + this.#weights[at]! / 2;
      if (offset >= target) return between(lastMean, means[at]!, [lastOffset, target, offset]);
      before += this.#weights[at]!;
      [lastOffset, lastMean] = [offset, means[at]!];
    }
    return between(lastMean, this.#max, [lastOffset, target, total]);
  }

  /**
   * Share of the values at or below `value`, 0..1; NaN without values. Each centroid reaches halfway to the next ones,
   * the first one as far to its left as to its right; what is closer to the last one than to the one before is above
   * all, as for the digest that other servers use (AVLTreeDigest of t-digest 3.2).
   */
  rank(value: number): number {
    this.#settle();
    const means = this.#means;
    const total = this.#total();
    if (total === 0) return Number.NaN;
    let before = 0;
    let left = means.length > 1 ? (means[1]! - means[0]!) / 2 : 0;
    for (let at = 0; at < means.length - 1; at++) {
      const right = (means[at + 1]! - means[at]!) / 2;
      const low = means[at]! - left;
      const high = means[at]! + right;
      if (value < high)
        return Math.max(0, before + (this.#weights[at]! * (value - low)) / (high - low)) / total;
      before += this.#weights[at]!;
      left = right;
    }
    return means.length === 1 && value < means[0]! ? 0 : 1;
  }

  #total(): number {
    let total = 0;
    for (const weight of this.#weights) total += weight;
    return total;
  }

  #grow(): void {
    if (this.#pending.length >= BUFFER) this.#settle();
    else {
      const larger = new Float64Array(4 * this.#pending.length);
      larger.set(this.#pending);
      this.#pending = larger;
    }
  }

  #settle(): void {
    if (this.#pendingCount === 0) return;
    const values = this.#pending.subarray(0, this.#pendingCount).sort();
    this.#pendingCount = 0;
    this.#mergeIn(values, null, false);
  }

  /**
   * Merges ascending values into the centroids. `areCounts`: a weight says how often its value came, so that it may go to
   * several centroids.
   */
  #mergeIn(values: Float64Array, weights: Float64Array | null, areCounts: boolean): void {
    this.#min = Math.min(this.#min, values[0]!);
    this.#max = Math.max(this.#max, values.at(-1)!);
    const length = this.#means.length + values.length;
    const all: Weighted = {
      means: new Float64Array(length),
      weights: new Float64Array(length),
      divisible: new Uint8Array(length),
    };
    let own = 0;
    let other = 0;
    for (let at = 0; at < length; at++) {
      if (own < this.#means.length && (other === values.length || this.#means[own]! <= values[other]!)) {
        all.means[at] = this.#means[own]!;
        all.weights[at] = this.#weights[own++]!;
      } else {
        all.means[at] = values[other]!;
        all.weights[at] = weights === null ? 1 : weights[other]!;
        all.divisible[at] = areCounts ? 1 : 0;
        other++;
      }
    }
    // Few values stay as they are, so that their quantiles are exact.
    if (length <= this.#exactValues && !areCounts) {
      this.#means = all.means;
      this.#weights = all.weights;
    } else this.#join(all);
  }

  /** Makes centroids of adjacent ones that span at most one step of the scale, whose steps are short at both ends. */
  #join({ means, weights, divisible }: Weighted): void {
    let total = 0;
    for (const weight of weights) total += weight;
    const joined: number[] = [];
    const counts: number[] = [];
    let mean = 0;
    let weight = 0;
    let before = 0;
    let limit = total * this.#limit(0);
    for (let at = 0; at < means.length; at++) {
      for (let left = weights[at]!; left > 0; ) {
        const room = Math.floor(limit - before - weight);
        const take = divisible[at] === 1 ? Math.min(left, Math.max(1, room)) : left;
        if (weight > 0 && before + weight + take > limit) {
          joined.push(mean);
          counts.push(weight);
          before += weight;
          limit = total * this.#limit(before / total);
          weight = 0;
          continue;
        }
        weight += take;
        mean = weight === take ? means[at]! : mean + ((means[at]! - mean) * take) / weight;
        left -= take;
      }
    }
    joined.push(mean);
    counts.push(weight);
    this.#means = Float64Array.from(joined);
    this.#weights = Float64Array.from(counts);
  }

  /** Values up to which all are kept. */
  get #exactValues(): number {
    return Math.max(2 * this.#compression, Math.min(MAX_EXACT, EXACT_FACTOR * this.#compression));
  }

  /**
   * Quantile at which a centroid that begins at `quantile` has to end: its weight is at most 4 q (1 - q) / compression of all,
   * so that values at both ends are centroids of their own.
   */
  #limit(quantile: number): number {
    return quantile + (4 * quantile * (1 - quantile)) / this.#compression;
  }
}

/** The centroids of several digests as those of one. */
function ascending(states: readonly DigestState[]): number[] {
  const pairs: [mean: number, weight: number][] = [];
  for (const { centroids } of states)
    for (let at = 0; at < centroids.length; at += 2) pairs.push([centroids[at]!, centroids[at + 1]!]);
  return pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]).flat();
}

/** Returns the value at `at` of a line from `low` at `first` to `high` at `last`. */
function between(low: number, high: number, [first, at, last]: readonly [number, number, number]): number {
  if (low === high) return low;
  const distance = last - first;
  return (low * (last - at)) / distance + (high * (at - first)) / distance;
}
