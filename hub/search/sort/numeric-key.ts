/** Sorts by a number, date or boolean field. */

import { columnKind, type Field } from "#hub/engine/mapping/field.ts";
import { COLUMN_BLOCK, type NumericColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { shortest } from "#hub/search/options/json.ts";
import { fraction, singleFraction } from "#proto/kit/number-text.ts";
import { type KeySource, NUMBER_ORDER, type Rank, type SegmentKey, type SortValue } from "./key.ts";
import type { SortKey, SortMode } from "./sort-request.ts";

/** How the numbers of a field are compared and printed. */
type Kind = "whole" | "single" | "double";

/** Makes a number as precise as the values of a field are. */
const ROUND: Readonly<Record<Kind, (value: number) => number>> = {
  whole: Math.round,
  // Half floats too: their values and what is sent in search_after are compared as floats.
  single: Math.fround,
  double: (value) => value,
};

/** Returns a number of a field with fractions as answers show it. */
function shownFraction(value: number, kind: "single" | "double"): SortValue {
  if (!Number.isFinite(value)) return value > 0 ? "Infinity" : "-Infinity";
  return kind === "single" ? singleFraction(value) : fraction(value);
}

/** What clients see, and send in search_after, for documents without a value of a whole-number field. */
const LONG_MAX = 9_223_372_036_854_775_807n;
const LONG_MIN = -9_223_372_036_854_775_808n;

/** Documents of a block from which on decoding the whole block is cheaper than reading one by one. */
const DENSE = 24;

export class NumericKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #field: Field | undefined;
  readonly #sign: 1 | -1;
  /** Key of documents without a value. */
  readonly #missing: number;
  readonly #mode: SortMode;
  readonly #kind: Kind;
  readonly #read: (value: unknown) => number;

  constructor(
    field: Field | undefined,
    key: Extract<SortKey, { kind: "field" }>,
    read: (value: unknown) => number,
  ) {
    this.#field = field;
    this.#sign = key.descending ? -1 : 1;
    this.#kind = kindOf(field);
    // The float that is printed as 0.1 isn't the double 0.1.
    this.#read = this.#kind === "single" ? (value) => Math.fround(read(value)) : read;
    this.#mode = key.mode ?? (key.descending ? "max" : "min");
    this.#missing =
      key.missing === "_last"
        ? Number.POSITIVE_INFINITY
        : key.missing === "_first"
          ? Number.NEGATIVE_INFINITY
          : this.#sign * this.#read(key.missing);
  }

  segment(segment: SegmentReader): SegmentKey {
    const column = this.#field === undefined ? null : segment.numericColumn(this.#field.path);
    return new NumericKey(column, this.#sign, this.#missing, this.#mode, this.#kind);
  }

  rankOf(value: unknown): Rank {
    if (value === null) return this.#missing;
    if (typeof value === "bigint" && (value === LONG_MAX || value === LONG_MIN)) {
      return this.#sign * (value === LONG_MAX ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    }
    return this.#sign * this.#read(value);
  }
}

function kindOf(field: Field | undefined): Kind {
  if (field === undefined || columnKind(field) !== "double") return "whole";
  return field.type === "float" || field.type === "half_float" ? "single" : "double";
}

class NumericKey implements SegmentKey {
  readonly #column: NumericColumn | null;
  readonly #sign: 1 | -1;
  readonly #missing: number;
  readonly #mode: SortMode;
  readonly #kind: Kind;
  /** Values of the block that is loaded. 8 KiB, so it is made when it is needed: each bucket of top_hits has its own keys. */
  #block: Float64Array | undefined;
  readonly #many: number[] = [];
  readonly #exact: bigint[] = [];
  #loaded = -1;

  constructor(column: NumericColumn | null, sign: 1 | -1, missing: number, mode: SortMode, kind: Kind) {
    this.#column = column;
    this.#sign = sign;
    this.#missing = missing;
    this.#mode = mode;
    this.#kind = kind;
  }

  load(docs: Int32Array, _scores: Float32Array | null, length: number, out: Float64Array): void {
    const column = this.#column;
    if (column === null) {
      out.fill(this.#missing, 0, length);
      return;
    }
    if (column.multiValued && this.#mode !== "min") {
      for (let at = 0; at < length; at++) out[at] = this.#key(this.#pick(column, docs[at]!));
      return;
    }
    for (let at = 0; at < length; ) at = this.#loadBlock(column, docs, at, length, out);
  }

  rank(_doc: number, key: number): Rank {
    return key;
  }

  value(doc: number, key: number): SortValue {
    const value = this.#sign * key;
    if (this.#kind !== "whole") return shownFraction(value, this.#kind);
    if (Number.isFinite(value)) {
      return this.#column?.safe === false ? this.#exactValue(this.#column, doc, value) : value;
    }
    return value > 0 ? LONG_MAX : LONG_MIN;
  }

  /** The value beyond 2^53 that `value` represents; means and sums stay rounded. */
  #exactValue(column: NumericColumn, doc: number, value: number): SortValue {
    const count = column.readExact(doc, this.#exact);
    if (count === 1 || this.#mode === "min") return shortest(this.#exact[0]!);
    return this.#mode === "max" ? shortest(this.#exact[count - 1]!) : value;
  }

  keyOf(rank: Rank): number {
    return rank as number;
  }

  rounded(key: number): number {
    return this.#sign * ROUND[this.#kind](this.#sign * key);
  }

  bestOfBlock(block: number): number {
    const column = this.#column;
    if (column === null) return this.#missing;
    // A sum may lie beyond each of its values.
    if (this.#mode === "sum" && column.multiValued) return Number.NEGATIVE_INFINITY;
    const best = this.#sign > 0 ? column.blockMin(block) : -column.blockMax(block);
    return column.presence === null ? best : Math.min(best, this.#missing);
  }

  #loadBlock(
    column: NumericColumn,
    docs: Int32Array,
    from: number,
    length: number,
    out: Float64Array,
  ): number {
    const block = Math.floor(docs[from]! / COLUMN_BLOCK);
    const base = block * COLUMN_BLOCK;
    let end = from + 1;
    while (end < length && docs[end]! < base + COLUMN_BLOCK) end++;
    if (block !== this.#loaded && end - from >= DENSE) {
      this.#block ??= new Float64Array(COLUMN_BLOCK);
      column.decodeBlock(block, this.#block);
      this.#loaded = block;
    }
    const dense = block === this.#loaded ? this.#block : undefined;
    for (let at = from; at < end; at++) {
      out[at] = this.#key(dense === undefined ? column.first(docs[at]!) : dense[docs[at]! - base]!);
    }
    return end;
  }

  #key(value: number): number {
    return Number.isNaN(value) ? this.#missing : this.#sign * value;
  }

  #pick(column: NumericColumn, doc: number): number {
    const values = this.#many;
    const count = column.read(doc, values);
    if (count === 0) return Number.NaN;
    return ROUND[this.#kind](pickValue(values, count, this.#mode));
  }
}

/** Returns the one value of `count` ascending ones that a mode means. */
export function pickValue(values: readonly number[], count: number, mode: SortMode): number {
  if (mode === "min") return values[0]!;
  if (mode === "max") return values[count - 1]!;
  if (mode === "median") {
    const middle = count >> 1;
    return count % 2 === 1 ? values[middle]! : (values[middle - 1]! + values[middle]!) / 2;
  }
  let sum = 0;
  for (let at = 0; at < count; at++) sum += values[at]!;
  return mode === "sum" ? sum : sum / count;
}
