/** Quantiles of a stream in little memory: a merging t-digest (Dunning & Ertl 2019), exact while there are few values. */

/** JSON-able: centroids ascending, as [mean, weight] pairs in one list. */
export interface DigestState {
  readonly centroids: readonly number[];
  readonly min: number | null;
  readonly max: number | null;
}

/** Values gathered before they are merged into the centroids. */
const BUFFER = 2048;

export class TDigest {
  readonly #compression: number;
  #means: number[] = [];
  #weights: number[] = [];
  #pending: [mean: number, weight: number][] = [];
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;

  /** `compression`: about how many centroids are kept; at most twice as many. */
  constructor(compression: number) {
    this.#compression = compression;
  }

  add(value: number, weight = 1): void {
    this.#pending.push([value, weight]);
    if (value < this.#min) this.#min = value;
    if (value > this.#max) this.#max = value;
    if (this.#pending.length >= BUFFER) this.#compress();
  }

  merge({ centroids, min, max }: DigestState): void {
    for (let at = 0; at < centroids.length; at += 2) this.add(centroids[at]!, centroids[at + 1]!);
    if (min !== null && min < this.#min) this.#min = min;
    if (max !== null && max > this.#max) this.#max = max;
  }

  state(): DigestState {
    this.#settle();
    const centroids = this.#means.flatMap((mean, at) => [mean, this.#weights[at]!]);
    return {
      centroids,
      min: centroids.length === 0 ? null : this.#min,
      max: centroids.length === 0 ? null : this.#max,
    };
  }

  /** Value at `quantile`, 0..1, which may lie between two values; NaN without values. */
  quantile(quantile: number): number {
    this.#settle();
    const total = this.#weights.reduce((sum, weight) => sum + weight, 0);
    if (total === 0) return Number.NaN;
    const target = quantile * total;
    let before = 0;
    let lastAt = 0;
    let lastMean = this.#min;
    for (let at = 0; at < this.#means.length; at++) {
      const weight = this.#weights[at]!;
      const mean = this.#means[at]!;
      // A centroid stands at the middle of its weight; a single value at either end stands for itself.
      const middle = before + weight / 2;
      if (target <= middle) {
        if (at === 0 && weight === 1) return mean;
        return middle === lastAt
          ? mean
          : lastMean + ((mean - lastMean) * (target - lastAt)) / (middle - lastAt);
      }
      before += weight;
      lastAt = middle;
      lastMean = mean;
    }
    if (this.#weights.at(-1) === 1 || total === lastAt) return lastMean;
    return lastMean + ((this.#max - lastMean) * (target - lastAt)) / (total - lastAt);
  }

  /** Share of the values at or below `value`, 0..1; NaN without values. */
  rank(value: number): number {
    this.#settle();
    const total = this.#weights.reduce((sum, weight) => sum + weight, 0);
    if (total === 0) return Number.NaN;
    if (value < this.#min) return 0;
    if (value >= this.#max) return 1;
    let before = 0;
    for (let at = 0; at < this.#means.length; at++) {
      const mean = this.#means[at]!;
      if (mean > value) {
        const lastMean = at === 0 ? this.#min : this.#means[at - 1]!;
        const share = mean === lastMean ? 0 : (value - lastMean) / (mean - lastMean);
        const half = at === 0 ? 0 : this.#weights[at - 1]! / 2;
        return Math.min(1, Math.max(0, (before - half + share * (half + this.#weights[at]! / 2)) / total));
      }
      before += this.#weights[at]!;
    }
    return 1;
  }

  #settle(): void {
    if (this.#pending.length > 0) this.#compress();
  }

  #compress(): void {
    const all = this.#means.map((mean, at): [number, number] => [mean, this.#weights[at]!]);
    all.push(...this.#pending);
    this.#pending = [];
    all.sort((a, b) => a[0] - b[0]);
    this.#means = all.map(([mean]) => mean);
    this.#weights = all.map(([, weight]) => weight);
    // Few values stay as they are, so that their quantiles are exact.
    if (all.length <= 2 * this.#compression) return;
    this.#mergeNeighbours(all);
  }

  /** Joins neighbours while they span at most one step of the scale, whose steps are short at both ends. */
  #mergeNeighbours(all: readonly (readonly [number, number])[]): void {
    const total = all.reduce((sum, [, weight]) => sum + weight, 0);
    const means: number[] = [];
    const weights: number[] = [];
    let [mean, weight] = all[0]!;
    let before = 0;
    let limit = total * this.#limit(0);
    for (const [nextMean, nextWeight] of all.slice(1)) {
      if (before + weight + nextWeight <= limit) {
        weight += nextWeight;
        mean += ((nextMean - mean) * nextWeight) / weight;
        continue;
      }
      means.push(mean);
      weights.push(weight);
      before += weight;
      limit = total * this.#limit(before / total);
      [mean, weight] = [nextMean, nextWeight];
    }
    means.push(mean);
    weights.push(weight);
    this.#means = means;
    this.#weights = weights;
  }

  /** Quantile at which a centroid that begins at `quantile` has to end (scale function k1). */
  #limit(quantile: number): number {
    const scale = this.#compression / (2 * Math.PI);
    const k = scale * Math.asin(2 * quantile - 1) + 1;
    return k >= scale * (Math.PI / 2) ? 1 : (Math.sin(k / scale) + 1) / 2;
  }
}
