/** Counts the values of runs of documents where a segment has small whole numbers only: each is looked at once then. */

import type { NumericColumn } from "#hub/engine/searcher/searcher.ts";
import { countRun, type SegmentRun } from "#hub/search/columns/set-blocks.ts";

/** Largest value that is counted: four bytes for each up to it. */
const MAX_VALUE = 1_000_000;

/** Values up to which a document is worth clearing and reading the table. */
const VALUES_PER_DOC = 4;

/** Takes values of a bucket, ascending, and how many documents have each. */
export type TakeCounts = (bucket: number, values: Float64Array, counts: Float64Array) => void;

export class ValueCounts {
  readonly #take: TakeCounts;
  #column: NumericColumn | null = null;
  #counts = new Int32Array(0);
  #bucket = -1;

  constructor(take: TakeCounts) {
    this.#take = take;
  }

  /** Points to a segment's column, which must be a `wholeColumn` of NumericValues, or null. */
  open(column: NumericColumn | null): void {
    this.settle();
    this.#column = column;
    this.#counts = new Int32Array(0);
  }

  /** Counts a run of one bucket; false where that is no gain, or can't be done. */
  add(run: SegmentRun, bucket: number): boolean {
    const column = this.#column;
    if (column === null || column.kind === "double" || column.min < 0 || column.max > MAX_VALUE) return false;
    if (countRun(run) * VALUES_PER_DOC < column.max && bucket !== this.#bucket) return false;
    if (bucket !== this.#bucket) this.settle();
    if (this.#counts.length === 0) this.#counts = new Int32Array(column.max + 1);
    this.#bucket = bucket;
    return column.count(run, this.#counts, 0);
  }

  /** Hands on what was counted. */
  settle(): void {
    const bucket = this.#bucket;
    this.#bucket = -1;
    if (bucket < 0) return;
    const values = new Float64Array(this.#counts.length);
    const found = new Float64Array(this.#counts.length);
    let length = 0;
    for (let value = 0; value < this.#counts.length; value++) {
      if (this.#counts[value] === 0) continue;
      values[length] = value;
      found[length++] = this.#counts[value]!;
    }
    this.#counts.fill(0);
    if (length > 0) this.#take(bucket, values.subarray(0, length), found.subarray(0, length));
  }
}
