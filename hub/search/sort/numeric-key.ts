/** Sorts by a number, date or boolean field. */

import { columnKind, type Field } from "#hub/engine/mapping/field.ts";
import { COLUMN_BLOCK, type NumericColumn, type SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { fraction, singleFraction } from "#proto/kit/number-text.ts";
import { ExactKey, LONG_MAX, LONG_MIN, wholeEnd } from "./exact-key.ts";
import { type KeySource, NUMBER_ORDER, type Rank, type SegmentKey, type SortValue } from "./key.ts";
import { pickValue } from "./picked-value.ts";
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

/** Documents of a block from which on decoding the whole block is cheaper than reading one by one. */
const DENSE = 24;

export class NumericKeySource implements KeySource {
  readonly order = NUMBER_ORDER;
  readonly #field: Field | undefined;
  readonly #sign: 1 | -1;
  /** Rank of documents without a value. */
  readonly #missing: number | bigint;
  readonly #mode: SortMode;
  readonly #kind: Kind;
  readonly #read: (value: unknown) => number | bigint;

  constructor(
    field: Field | undefined,
    key: Extract<SortKey, { kind: "field" }>,
    read: (value: unknown) => number | bigint,
  ) {
    this.#field = field;
    this.#sign = key.descending ? -1 : 1;
    this.#kind = kindOf(field);
    // The float that is printed as 0.1 isn't the double 0.1.
    this.#read = this.#kind === "single" ? (value) => Math.fround(Number(read(value))) : read;
    this.#mode = key.mode ?? (key.descending ? "max" : "min");
    this.#missing =
      key.missing === "_last"
        ? Number.POSITIVE_INFINITY
        : key.missing === "_first"
          ? Number.NEGATIVE_INFINITY
          : this.#rankOf(key.missing);
  }

  segment(segment: SegmentReader): SegmentKey {
    const column = this.#field === undefined ? null : segment.numericColumn(this.#field.path);
    const [sign, missing, mode] = [this.#sign, this.#missing, this.#mode];
    if (this.#kind === "whole" && column?.safe === false)
      return new ExactKey({ column, sign, missing, mode });
    return new NumericKey(column, sign, missing, mode, this.#kind);
  }

  rankOf(value: unknown): Rank {
    if (value === null) return this.#missing;
    if (typeof value === "bigint" && (value === LONG_MAX || value === LONG_MIN)) {
      return this.#sign * (value === LONG_MAX ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY);
    }
    return this.#rankOf(value);
  }

  #rankOf(value: unknown): number | bigint {
    const read = this.#read(value);
    return this.#sign === 1 ? read : -read;
  }
}

function kindOf(field: Field | undefined): Kind {
  if (field === undefined || columnKind(field) !== "double") return "whole";
  return field.type === "float" || field.type === "half_float" ? "single" : "double";
}

class NumericKey implements SegmentKey {
  readonly #column: NumericColumn | null;
  readonly #sign: 1 | -1;
  readonly #missingRank: number | bigint;
  readonly #missing: number;
  readonly #mode: SortMode;
  readonly #kind: Kind;
  /** Values of the block that is loaded. 8 KiB, so it is made when it is needed: each bucket of top_hits has its own keys. */
  #block: Float64Array | undefined;
  readonly #many: number[] = [];
  #loaded = -1;

  constructor(
    column: NumericColumn | null,
    sign: 1 | -1,
    missing: number | bigint,
    mode: SortMode,
    kind: Kind,
  ) {
    this.#column = column;
    this.#sign = sign;
    this.#missingRank = missing;
    this.#missing = Number(missing);
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
    return key === this.#missing ? this.#missingRank : key;
  }

  value(_doc: number, key: number): SortValue {
    const value = this.#sign * key;
    if (this.#kind !== "whole") return shownFraction(value, this.#kind);
    if (key === this.#missing && typeof this.#missingRank === "bigint")
      return this.#sign === 1 ? this.#missingRank : -this.#missingRank;
    if (!Number.isFinite(value)) return wholeEnd(value);
    // A sum: the shortest text of it may be of another whole number.
    return Number.isSafeInteger(value) ? value : BigInt(value);
  }

  keyOf(rank: Rank): number {
    return Number(rank);
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
