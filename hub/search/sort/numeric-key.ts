/** Sorts by a number, date or boolean field. */

import type { Field } from "#hub/engine/mapping/field.ts";
import { COLUMN_BLOCK, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { NanosColumn } from "#hub/search/columns/nanos-column.ts";
import { shortest } from "#hub/search/options/json.ts";
import { LONG_MAX, LONG_MIN } from "#hub/search/options/whole-numbers.ts";
import { fraction, singleFraction } from "#proto/kit/number-text.ts";
import { ConvertedColumn, type SortColumn, TO_NANOS, TO_WHOLE } from "./converted-column.ts";
import { ExactKey } from "./exact-key.ts";
import { type KeySource, NUMBER_ORDER, type Rank, type SegmentKey, type SortValue } from "./key.ts";
import { mayLieBeyond, pickValue } from "./picked-value.ts";
import type { NumericType, SortKey, SortMode } from "./sort-request.ts";

/**
 * Smallest and largest whole number of a field. As in Elasticsearch, documents without a value are at one of them, beside those
 * that have it.
 */
const LONG_ENDS = [LONG_MIN, LONG_MAX] as const;
const UNSIGNED_ENDS = [0n, 2n ** 64n - 1n] as const;

/** How the numbers of a field are compared and printed. */
export type NumberKind = "whole" | "single" | "double";

/** Makes a number as precise as the values of a field are. */
const ROUND: Readonly<Record<NumberKind, (value: number) => number>> = {
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

/** Shows a whole number. */
export type PrintValue = (value: number | bigint) => SortValue;

const plain: PrintValue = (value) => value;

/** Documents of a block from which on decoding the whole block is cheaper than reading one by one. */
const DENSE = 24;

export class NumericKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #field: Field | undefined;
  readonly #sign: 1 | -1;
  /** Rank of documents without a value. */
  readonly #missing: number | bigint;
  readonly #mode: SortMode;
  readonly #kind: NumberKind;
  readonly #type: string | undefined;
  readonly #read: (value: unknown) => number | bigint;
  readonly #print: PrintValue;

  /** `read` gets values in the form of the type that `comparedType` returns for the field, as `print` shows them. */
  constructor(
    field: Field | undefined,
    key: Extract<SortKey, { kind: "field" }>,
    read: (value: unknown) => number | bigint,
    print: PrintValue = plain,
  ) {
    this.#print = print;
    this.#field = field;
    this.#sign = key.descending ? -1 : 1;
    const type = comparedType(field?.type ?? key.unmappedType, key.numericType);
    this.#type = type;
    this.#kind = numberKind(type);
    // The float that is printed as 0.1 isn't the double 0.1.
    this.#read = this.#kind === "single" ? (value) => Math.fround(Number(read(value))) : read;
    this.#mode = key.mode ?? (key.descending ? "max" : "min");
    this.#missing = this.#missingRank(key.missing, type === "unsigned_long" ? UNSIGNED_ENDS : LONG_ENDS);
  }

  segment(segment: SegmentReader): SegmentKey {
    const column = this.#column(segment);
    const [sign, missing, mode] = [this.#sign, this.#missing, this.#mode];
    if (this.#kind === "whole" && column?.safe === false)
      return new ExactKey({ column, sign, missing, mode, print: this.#print });
    return new NumericKey(column, { sign, missing, mode, kind: this.#kind, print: this.#print });
  }

  rankOf(value: unknown): Rank {
    if (value === null) return this.#missing;
    return this.#turned(this.#read(value));
  }

  #column(segment: SegmentReader): SortColumn | null {
    if (this.#field === undefined) return null;
    const column = segment.numericColumn(this.#field.path);
    const { type } = this.#field;
    if (column === null || type === this.#type) return column;
    if (this.#type === "date") return new NanosColumn(column);
    if (this.#type === "double") return column;
    return new ConvertedColumn(column, this.#type === "long" ? TO_WHOLE : TO_NANOS);
  }

  /** Rank of documents without a value: a value that a field of these ends can hold. */
  #missingRank(missing: unknown, [min, max]: readonly [bigint, bigint]): number | bigint {
    if (missing === null) return Number.POSITIVE_INFINITY;
    const isWhole = this.#kind === "whole";
    if (missing !== "_last" && missing !== "_first") {
      const read = this.#read(missing);
      if (!isWhole || (min <= read && read <= max)) return this.#turned(read);
      return this.#turned(read < min ? min : max);
    }
    const isMax = (missing === "_last") === (this.#sign === 1);
    if (isWhole) return this.#turned(isMax ? max : min);
    return this.#turned(isMax ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
  }

  #turned(value: number | bigint): number | bigint {
    if (typeof value === "number") return this.#sign === 1 ? value : -value;
    return shortest(this.#sign === 1 ? value : -value);
  }
}

/**
 * Returns the type as which the values of a field of a type are compared, where a sort names a `numeric_type`. Times become
 * no other numbers, and other numbers no times.
 */
export function comparedType(
  type: string | undefined,
  numericType: NumericType | undefined,
): string | undefined {
  const isTime = type === "date" || type === "date_nanos";
  if (numericType === undefined || isTime !== (numericType === "date" || numericType === "date_nanos"))
    return type;
  return numericType === "long" && numberKind(type) === "whole" ? type : numericType;
}

/** How numbers of fields of a type are compared and printed. */
export function numberKind(type: string | undefined): NumberKind {
  if (type === "float" || type === "half_float") return "single";
  return type === "double" || type === "scaled_float" ? "double" : "whole";
}

interface NumericKeyOptions {
  readonly sign: 1 | -1;
  /** Rank of documents without a value. */
  readonly missing: number | bigint;
  readonly mode: SortMode;
  readonly kind: NumberKind;
  readonly print: PrintValue;
}

class NumericKey implements SegmentKey {
  readonly #column: SortColumn | null;
  readonly #sign: 1 | -1;
  readonly #missingRank: number | bigint;
  readonly #missing: number;
  readonly #mode: SortMode;
  readonly #kind: NumberKind;
  readonly #print: PrintValue;
  /** Values of the block that is loaded. 8 KiB, so it is made when it is needed: each bucket of top_hits has its own keys. */
  #block: Float64Array | undefined;
  readonly #many: number[] = [];
  #loaded = -1;

  constructor(column: SortColumn | null, { sign, missing, mode, kind, print }: NumericKeyOptions) {
    this.#column = column;
    this.#sign = sign;
    this.#missingRank = missing;
    this.#missing = Number(missing);
    this.#mode = mode;
    this.#kind = kind;
    this.#print = print;
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
    return key === this.#missing ? this.#missingRank : key;
  }

  value(_doc: number, key: number): SortValue {
    const value = this.#sign * key;
    if (this.#kind !== "whole") return shownFraction(value, this.#kind);
    if (key === this.#missing && typeof this.#missingRank === "bigint")
      return this.#print(this.#sign === 1 ? this.#missingRank : -this.#missingRank);
    // A sum: the shortest text of it may be of another whole number.
    return this.#print(Number.isSafeInteger(value) ? value : BigInt(value));
  }

  keyOf(rank: Rank): number {
    const key = Number(rank);
    const missing = this.#missingRank;
    if (key !== this.#missing || typeof missing !== "bigint" || typeof rank !== "bigint" || rank === missing)
      return key;
    // Beside what documents without a value have, which shares its number.
    return key + (rank < missing ? -1 : 1) * Math.abs(key) * Number.EPSILON;
  }

  rounded(key: number): number {
    return this.#sign * ROUND[this.#kind](this.#sign * key);
  }

  bestOfBlock(block: number): number {
    const column = this.#column;
    if (column === null) return this.#missing;
    if (column.multiValued && mayLieBeyond(this.#mode)) return Number.NEGATIVE_INFINITY;
    const best = this.#sign > 0 ? column.blockMin(block) : -column.blockMax(block);
    return column.presence === null ? best : Math.min(best, this.#missing);
  }

  worstOfBlock(block: number): number {
    const column = this.#column;
    if (column === null) return this.#missing;
    if (column.multiValued && mayLieBeyond(this.#mode)) return Number.POSITIVE_INFINITY;
    const worst = this.#sign > 0 ? column.blockMax(block) : -column.blockMin(block);
    return column.presence === null ? worst : Math.max(worst, this.#missing);
  }

  #loadBlock(column: SortColumn, docs: Int32Array, from: number, length: number, out: Float64Array): number {
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

  #pick(column: SortColumn, doc: number): number {
    const values = this.#many;
    const count = column.read(doc, values);
    if (count === 0) return Number.NaN;
    return ROUND[this.#kind](pickValue(values, count, this.#mode));
  }
}
