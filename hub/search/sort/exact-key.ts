/**
 * The key of a segment whose whole numbers are partly beyond 2^53. A number can't hold them: the key is the nearest one, and
 * the rest, what is to be added to it, orders documents of equal keys.
 */

import { shortest } from "#hub/search/options/json.ts";
import type { SortColumn } from "./converted-column.ts";
import type { KeyRange, Rank, SegmentKey, SortValue } from "./key.ts";
import { mayLieBeyond, pickValue } from "./picked-value.ts";
import type { SortMode } from "./sort-request.ts";

/** Rounding of decoded values, which are sums of products, as a share of the largest one: some units in the last place. */
const ROUNDING = 2 ** -49;

export interface ExactKeyOptions {
  readonly column: SortColumn;
  readonly sign: 1 | -1;
  /** Rank of documents without a value. */
  readonly missing: number | bigint;
  readonly mode: SortMode;
  /** Shows a value. */
  readonly print: (value: number | bigint) => SortValue;
}

export class ExactKey implements SegmentKey {
  readonly #options: ExactKeyOptions;
  readonly #missingKey: number;
  /** What decoded values may differ from the exact ones. */
  readonly #error: number;
  readonly #exact: bigint[] = [];
  readonly #numbers: number[] = [];

  constructor(options: ExactKeyOptions) {
    this.#options = options;
    this.#missingKey = Number(options.missing);
    const { min, max } = options.column;
    this.#error = Math.max(Math.abs(min), Math.abs(max)) * ROUNDING;
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    for (let at = 0; at < length; at++) out[at] = Number(this.#rankOf(docs[at]!));
  }

  loadExact(docs: Int32Array, length: number, out: Float64Array, rest: Float64Array, wanted: KeyRange): void {
    const { column, sign, mode } = this.#options;
    const isFirst = !column.multiValued || mode === "min";
    const [from, to] = [wanted.from - this.#error, wanted.to + this.#error];
    for (let at = 0; at < length; at++) {
      const doc = docs[at]!;
      // Usually most documents are out of the range: they needn't be read exactly.
      const rounded = isFirst ? sign * column.first(doc) : Number.NaN;
      if (rounded > to || rounded < from) {
        out[at] = rounded;
        rest[at] = 0;
        continue;
      }
      const rank = this.#rankOf(doc);
      out[at] = Number(rank);
      rest[at] = this.restOf(rank);
    }
  }

  restOf(rank: Rank): number {
    return typeof rank === "bigint" ? Number(rank - BigInt(Number(rank))) : 0;
  }

  rank(doc: number): number | bigint {
    return this.#rankOf(doc);
  }

  value(doc: number): SortValue {
    const rank = this.#rankOf(doc);
    return this.print(this.#options.sign === 1 ? rank : -rank);
  }

  /** Shows a value of the column. */
  print(value: number | bigint): SortValue {
    return this.#options.print(value);
  }

  keyOf(rank: Rank): number {
    return Number(rank);
  }

  bestOfBlock(block: number): number {
    const { column, sign, mode } = this.#options;
    if (column.multiValued && mayLieBeyond(mode)) return Number.NEGATIVE_INFINITY;
    const best = sign > 0 ? column.blockMin(block) : -column.blockMax(block);
    return column.presence === null ? best : Math.min(best, this.#missingKey);
  }

  worstOfBlock(block: number): number {
    const { column, sign, mode } = this.#options;
    if (column.multiValued && mayLieBeyond(mode)) return Number.POSITIVE_INFINITY;
    const worst = sign > 0 ? column.blockMax(block) : -column.blockMin(block);
    return column.presence === null ? worst : Math.max(worst, this.#missingKey);
  }

  /** The value of a document with its sign; means, sums and medians of several are rounded. */
  #rankOf(doc: number): number | bigint {
    const { column, sign, missing, mode } = this.#options;
    const exact = this.#exact;
    const count = column.readExact(doc, exact);
    if (count === 0) return missing;
    if (count > 1 && mode !== "min" && mode !== "max") {
      for (let at = 0; at < count; at++) this.#numbers[at] = Number(exact[at]!);
      return shortest(BigInt(sign * Math.round(pickValue(this.#numbers, count, mode))));
    }
    const picked = exact[mode === "max" ? count - 1 : 0]!;
    return shortest(sign === 1 ? picked : -picked);
  }
}
