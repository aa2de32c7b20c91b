/**
 * Global numbers for the terms of a field across segments: counts by ordinal are added up by number, without comparing
 * terms. A segment's terms are numbered once, when they are first counted. The most recently used ones of a thread are
 * cached.
 */

import type { KeywordColumn } from "#hub/engine/searcher/searcher.ts";
import type { TermBucket } from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import { TermTable } from "./term-table.ts";
import type { KeptTerms, OrdinalCounts } from "./terms-merge.ts";

/** Memory of all tables. */
const LIMIT_BYTES = 96 * 1024 * 1024;
/** One table must not push out all others. */
const LARGEST_SHARE = 1 / 2;
/** Memory of a term: its bytes, their end, its hash, its slots, its number in some segments. */
const TERM_BYTES = 64;
/** A table with this many times the terms of the segments is made again: most of its terms are gone. */
const STALE_FACTOR = 2;
/** Terms that a table may have whatever the segments have. */
const FEW_TERMS = 10_000;
/** Terms between two pauses: well below a millisecond. */
const STEP_TERMS = 1024;
/** Numbers between two pauses: below a millisecond. */
const STEP_NUMBERS = 65_536;
/** Terms between two pauses. */
const STEP_COUNTED = 512;
/** Counts from this value on are not distinguished when the smallest count is determined. */
const MOST_BINS = 65_536;

/** Terms of a field by numbers 0..size - 1, which segments share. */
export interface NumberedTerms {
  readonly size: number;
  /** Returns the number of each ordinal of a column. The column must be one that was numbered. */
  numbersOf(column: KeywordColumn): Int32Array;
  text(number: number): string;
  /** Negative, 0 or positive as one term sorts before, with or after another by their bytes. */
  compare(a: number, b: number): number;
}

/** The terms of one field. */
export class SharedTerms implements NumberedTerms {
  readonly #table = new TermTable({ add: () => undefined });
  readonly #numbers = new WeakMap<KeywordColumn, Int32Array>();

  get size(): number {
    return this.#table.size;
  }

  text(number: number): string {
    return this.#table.text(number);
  }

  compare(a: number, b: number): number {
    return this.#table.compare(a, b);
  }

  numbersOf(column: KeywordColumn): Int32Array {
    return this.#numbers.get(column)!;
  }

  /** True if all these columns were numbered. */
  covers(columns: readonly KeywordColumn[]): boolean {
    return columns.every((column) => this.#numbers.has(column));
  }

  /** Numbers the terms of columns that are new, in steps. */
  *number(columns: readonly KeywordColumn[]): Steps<void> {
    for (const column of columns) if (!this.#numbers.has(column)) yield* this.#number(column);
  }

  *#number(column: KeywordColumn): Steps<void> {
    const numbers = new Int32Array(column.cardinality);
    const reader = column.reader();
    for (let ordinal = 0; ordinal < numbers.length; ordinal++) {
      if (ordinal % STEP_TERMS === STEP_TERMS - 1) yield;
      numbers[ordinal] = this.#table.number(reader.bytes(ordinal));
    }
    this.#numbers.set(column, numbers);
  }
}

/** Keeps the terms of the fields used last. */
export class SharedTermsCache {
  readonly #limitBytes: number;
  /** In the order of their use, the oldest first. */
  readonly #fields = new Map<string, SharedTerms>();

  constructor(limitBytes = LIMIT_BYTES) {
    this.#limitBytes = limitBytes;
  }

  /**
   * Returns the terms of a field of an index (by UUID); undefined if they would take too much memory. `values`: terms
   * of all segments, those of several segments several times.
   */
  open(index: string, path: string, values: number): SharedTerms | undefined {
    if (values * TERM_BYTES > this.#limitBytes * LARGEST_SHARE) return undefined;
    const key = `${index}\u0000${path}`;
    let terms = this.#fields.get(key);
    this.#fields.delete(key);
    if (terms === undefined || terms.size > FEW_TERMS + STALE_FACTOR * values) terms = new SharedTerms();
    this.#fields.set(key, terms);
    this.#shrink();
    return terms;
  }

  /** Returns the terms of a field if the terms of all these columns are numbered. */
  known(index: string, path: string, columns: readonly KeywordColumn[]): NumberedTerms | undefined {
    const terms = this.#fields.get(`${index}\u0000${path}`);
    return terms?.covers(columns) === true ? terms : undefined;
  }

  get sizeBytes(): number {
    let bytes = 0;
    for (const { size } of this.#fields.values()) bytes += size * TERM_BYTES;
    return bytes;
  }

  /** Drops the least recently used fields. */
  #shrink(): void {
    let bytes = this.sizeBytes;
    for (const [key, { size }] of this.#fields) {
      if (bytes <= this.#limitBytes || this.#fields.size === 1) return;
      this.#fields.delete(key);
      bytes -= size * TERM_BYTES;
    }
  }
}

let ofThread: SharedTermsCache | undefined;

/** Returns the terms that this thread keeps. */
export function sharedTermsCache(): SharedTermsCache {
  return (ofThread ??= new SharedTermsCache());
}

/**
 * Adds up the counts of segments by the numbers that their terms share, and keeps the most frequent terms.
 * Joins the counts of segments like `mergeCounts` with the order "frequent" and no filter. `numbers`: those of the buckets.
 */
export function* mergeShared(
  segments: readonly OrdinalCounts[],
  terms: NumberedTerms,
  keep: number,
): Steps<KeptTerms & { readonly numbers: readonly number[] }> {
  const totals = new Int32Array(terms.size);
  let all = 0;
  for (const { column, counts } of segments) {
    const numbers = terms.numbersOf(column);
    for (let ordinal = 0; ordinal < counts.length; ordinal++) {
      const count = counts[ordinal]!;
      totals[numbers[ordinal]!]! += count;
      all += count;
      if (ordinal % STEP_NUMBERS === STEP_NUMBERS - 1) yield;
    }
  }
  const least = leastKept(totals, keep);
  const kept = yield* mostFrequent(totals, least, keep, terms);
  const buckets: TermBucket[] = [];
  let inKept = 0;
  for (const number of kept) {
    if (buckets.length % STEP_COUNTED === STEP_COUNTED - 1) yield;
    buckets.push({ key: terms.text(number), count: totals[number]!, below: {} });
    inKept += totals[number]!;
  }
  const others = all - inKept;
  return { buckets, others, errorBound: others > 0 ? least : 0, numbers: kept };
}

/** The least count of the `keep` largest ones, 1 if there are fewer. */
function leastKept(totals: Int32Array, keep: number): number {
  const bins = new Int32Array(MOST_BINS);
  for (let number = 0; number < totals.length; number++) bins[Math.min(totals[number]!, MOST_BINS - 1)]!++;
  let left = keep - bins[MOST_BINS - 1]!;
  if (left <= 0) {
    const frequent = totals.filter((count) => count >= MOST_BINS - 1).sort();
    return frequent[frequent.length - keep]!;
  }
  for (let count = MOST_BINS - 2; count > 0; count--) {
    left -= bins[count]!;
    if (left <= 0) return count;
  }
  return 1;
}

/** Numbers of the terms with more than the smallest count, and of the first terms with this count. */
function* mostFrequent(
  totals: Int32Array,
  least: number,
  keep: number,
  terms: NumberedTerms,
): Steps<number[]> {
  const kept: number[] = [];
  let equal: number[] = [];
  for (let number = 0; number < totals.length; number++) {
    if (totals[number]! > least) kept.push(number);
    else if (totals[number] === least) equal.push(number);
    if (number % STEP_NUMBERS === STEP_NUMBERS - 1) yield;
  }
  const wanted = keep - kept.length;
  if (equal.length > wanted) equal = yield* firstOf(equal, wanted, terms);
  return kept.concat(equal);
}

/** The first `wanted` of terms in the order of their bytes: gathered up to twice as many, of which the first stay. */
function* firstOf(numbers: readonly number[], wanted: number, terms: NumberedTerms): Steps<number[]> {
  const compare = (a: number, b: number): number => terms.compare(a, b);
  let first: number[] = [];
  let last: number | undefined;
  for (let at = 0; at < numbers.length; at++) {
    if (at % STEP_COUNTED === STEP_COUNTED - 1) yield;
    if (last !== undefined && terms.compare(numbers[at]!, last) > 0) continue;
    first.push(numbers[at]!);
    if (first.length < 2 * wanted + 1) continue;
    first = first.sort(compare).slice(0, wanted);
    last = first.at(-1);
  }
  return first.sort(compare).slice(0, wanted);
}
