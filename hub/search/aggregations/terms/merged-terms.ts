/**
 * Numbers for the terms of a field across segments, in the order of the terms. Unlike in SharedTerms no term is kept,
 * only the location of each: about 12 bytes per term. The numbers belong to one set of segments and are recomputed for
 * another. They serve fields with too many terms for SharedTerms, and single segments, whose ordinals they are.
 */

import type { KeywordColumn, TermReader } from "#hub/engine/searcher/searcher.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { type NumberedTerms, sharedTermsCache } from "./shared-terms.ts";
import { JoinedTerms } from "./terms-merge.ts";

/** Memory of all numbers of a thread. */
const LIMIT_BYTES = 64 * 1024 * 1024;
/** Memory of a term at most: its number in a segment, that segment, its ordinal there. */
const TERM_BYTES = 10;
/** Columns that a term's segment can be one of. */
const MAX_COLUMNS = 65_536;
/** Terms between two pauses: about a millisecond. */
const STEP_TERMS = 1024;

interface NumberedColumn {
  readonly at: number;
  /** By ordinal. */
  readonly numbers: Int32Array;
}

/** The numbers of a set of columns. They don't keep the columns alive, which are those of segments. */
class MergedTerms {
  readonly bytes: number;
  readonly #columns: WeakMap<KeywordColumn, NumberedColumn>;
  readonly #columnCount: number;
  /** A column that has the term of a number, and its ordinal there. */
  readonly #at: Uint16Array;
  readonly #ordinals: Int32Array;

  private constructor(
    columns: readonly KeywordColumn[],
    numbers: readonly Int32Array[],
    at: Uint16Array,
    ordinals: Int32Array,
  ) {
    this.#columns = new WeakMap(columns.map((column, at) => [column, { at, numbers: numbers[at]! }]));
    this.#columnCount = columns.length;
    this.#at = at;
    this.#ordinals = ordinals;
    this.bytes =
      at.byteLength + numbers.reduce((total, each) => total + each.byteLength, ordinals.byteLength);
  }

  static *of(columns: readonly KeywordColumn[]): Steps<MergedTerms> {
    const numbers = columns.map(({ cardinality }) => new Int32Array(cardinality));
    const most = numbers.reduce((total, { length }) => total + length, 0);
    const [at, ordinals] = [new Uint16Array(most), new Int32Array(most)];
    let size = 0;
    if (columns.length === 1) {
      for (; size < most; size++) numbers[0]![size] = ordinals[size] = size;
    } else {
      for (const terms = new JoinedTerms(columns.map((column) => ({ column }))); terms.next(); size++) {
        if (size % STEP_TERMS === STEP_TERMS - 1) yield;
        for (const { segment, ordinal } of terms.current()) {
          numbers[segment]![ordinal] = size;
          at[size] = segment;
          ordinals[size] = ordinal;
        }
      }
    }
    return new MergedTerms(columns, numbers, at.slice(0, size), ordinals.slice(0, size));
  }

  /** True for the columns that it was made of, in any order. */
  isOf(columns: readonly KeywordColumn[]): boolean {
    return columns.length === this.#columnCount && columns.every((column) => this.#columns.has(column));
  }

  /** The terms, as long as the columns are open. */
  read(columns: readonly KeywordColumn[]): NumberedTerms {
    const readers: TermReader[] = [];
    for (const column of columns) readers[this.#columns.get(column)!.at] = column.reader();
    return {
      size: this.#ordinals.length,
      numbersOf: (column) => this.#columns.get(column)!.numbers,
      text: (number) => readers[this.#at[number]!]!.text(this.#ordinals[number]!),
      compare: (a, b) => a - b,
    };
  }
}

/** Keeps the numbers of the fields used last. */
export class MergedTermsCache {
  readonly #limitBytes: number;
  /** In the order of their use, the oldest first. */
  readonly #fields = new Map<string, MergedTerms>();

  constructor(limitBytes = LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  get sizeBytes(): number {
    let bytes = 0;
    for (const each of this.#fields.values()) bytes += each.bytes;
    return bytes;
  }

  /** Returns the numbers of columns if they were made before and fit. */
  known(index: string, path: string, columns: readonly KeywordColumn[]): NumberedTerms | undefined {
    const key = `${index}\u0000${path}`;
    const terms = this.#fields.get(key);
    if (terms?.isOf(columns) !== true) return undefined;
    this.#fields.delete(key);
    this.#fields.set(key, terms);
    return terms.read(columns);
  }

  /** Returns the numbers of columns of an index (by UUID); undefined if they would take too much memory. */
  *open(index: string, path: string, columns: readonly KeywordColumn[]): Steps<NumberedTerms | undefined> {
    const known = this.known(index, path, columns);
    if (known !== undefined) return known;
    const values = columns.reduce((total, { cardinality }) => total + cardinality, 0);
    if (values * TERM_BYTES > this.#limitBytes || columns.length > MAX_COLUMNS) return undefined;
    const terms = yield* MergedTerms.of(columns);
    const key = `${index}\u0000${path}`;
    this.#fields.delete(key);
    this.#fields.set(key, terms);
    let bytes = this.sizeBytes;
    for (const [oldest, each] of this.#fields) {
      if (bytes <= this.#limitBytes) break;
      this.#fields.delete(oldest);
      bytes -= each.bytes;
    }
    return terms.read(columns);
  }
}

let ofThread: MergedTermsCache | undefined;

/** Returns the numbers that this thread keeps. */
export function mergedTermsCache(): MergedTermsCache {
  return (ofThread ??= new MergedTermsCache());
}

/** A field of an index. */
export interface TermsField {
  /** UUID. */
  readonly index: string;
  readonly path: string;
  /** Of all segments that have the field. */
  readonly columns: readonly KeywordColumn[];
}

/** Returns numbers for the terms of a field; undefined if they would take too much memory. */
export function* numberedTerms({ index, path, columns }: TermsField): Steps<NumberedTerms | undefined> {
  const values = columns.reduce((total, { cardinality }) => total + cardinality, 0);
  const shared = columns.length > 1 ? sharedTermsCache().open(index, path, values) : undefined;
  if (shared === undefined) return yield* mergedTermsCache().open(index, path, columns);
  yield* shared.number(columns);
  return shared;
}

/** Returns the numbers that `numberedTerms` made before. */
export function knownTerms({ index, path, columns }: TermsField): NumberedTerms | undefined {
  return sharedTermsCache().known(index, path, columns) ?? mergedTermsCache().known(index, path, columns);
}
