/**
 * Merges the ordinal counts of segments into the first terms of a shard. Segments are merged in term order and only
 * returned terms are decoded. Memory: one number per term of a segment and the returned buckets.
 */

import type { KeywordColumn, TermReader } from "#hub/engine/searcher/searcher.ts";
import type { TermBucket, TermsState } from "#hub/search/aggregations/buckets/terms-state.ts";
import type { BucketOrder } from "#hub/search/aggregations/tree/bucket-order.ts";
import type { Steps } from "#hub/search/aggregations/tree/steps.ts";

/** Terms between two pauses: about a millisecond. */
const STEP_TERMS = 1024;

/** Documents of a segment by the ordinals of its column. */
export interface OrdinalCounts {
  readonly column: KeywordColumn;
  readonly counts: Int32Array;
}

/** Result of joining terms. */
export type KeptTerms = Pick<TermsState, "buckets" | "others" | "errorBound">;

/** Orders that can be had without knowing all buckets: the most frequent terms, or the first ones. */
export type MergeOrder = "frequent" | "first";

/** Returns the order in which terms can be joined; undefined if all buckets have to be there. */
export function mergeOrder([first, second, ...more]: readonly BucketOrder[]): MergeOrder | undefined {
  if (first === undefined || more.length > 0) return undefined;
  if (first.by === "key" && !first.descending && second === undefined) return "first";
  if (first.by !== "count" || !first.descending) return undefined;
  return second === undefined || (second.by === "key" && !second.descending) ? "frequent" : undefined;
}

export interface MergeOptions {
  readonly order: MergeOrder;
  /** Buckets to return. */
  readonly keep: number;
  /** False leaves a term out. */
  readonly filter: ((text: string) => boolean) | undefined;
}

/** Joins the counts of segments, which are those of keywords. Pauses may be made at each step. */
export function* mergeCounts(
  segments: readonly OrdinalCounts[],
  { order, keep, filter }: MergeOptions,
): Steps<KeptTerms> {
  const terms = new JoinedTerms(segments);
  const kept = order === "frequent" ? new MostFrequent(keep) : new FirstTerms(keep);
  let all = 0;
  for (let joined = 1; terms.next(); joined++) {
    if (joined % STEP_TERMS === 0) yield;
    const { count } = terms;
    if (filter?.(terms.text()) === false) continue;
    all += count;
    if (kept.wants(count)) kept.add(terms.text(), count);
  }
  const buckets = kept.buckets();
  const others = all - buckets.reduce((total, { count }) => total + count, 0);
  const isCut = order === "frequent" && others > 0;
  const least = buckets.reduce((a, { count }) => Math.min(a, count), Number.POSITIVE_INFINITY);
  return { buckets, others, errorBound: isCut ? least : 0 };
}

/** A column; with counts if only terms that have documents are joined. */
type JoinedColumn = Pick<OrdinalCounts, "column"> & Partial<OrdinalCounts>;

/** One segment's terms in their order: all, or those that have documents. */
class SegmentTerms {
  /** Position among the segments. */
  readonly segment: number;
  readonly #counts: Int32Array | undefined;
  readonly #reader: TermReader;
  readonly #length: number;
  ordinal = -1;
  bytes: Uint8Array = new Uint8Array(0);

  constructor({ column, counts }: JoinedColumn, segment: number) {
    this.segment = segment;
    this.#counts = counts;
    this.#length = counts?.length ?? column.cardinality;
    this.#reader = column.reader();
  }

  get count(): number {
    return this.#counts?.[this.ordinal] ?? 0;
  }

  text(): string {
    return this.#reader.text(this.ordinal);
  }

  /** Moves on; false after the last. */
  next(): boolean {
    const counts = this.#counts;
    do this.ordinal++;
    while (counts !== undefined && this.ordinal < counts.length && counts[this.ordinal] === 0);
    if (this.ordinal >= this.#length) return false;
    this.bytes = this.#reader.bytes(this.ordinal);
    return true;
  }
}

/** The terms of all segments, in their order. */
export class JoinedTerms {
  /** By their current terms. */
  readonly #open: SegmentTerms[] = [];
  /** Number of the first segments that are at the current term. */
  #same = 0;

  constructor(segments: readonly JoinedColumn[]) {
    for (const [at, each] of segments.entries()) {
      const terms = new SegmentTerms(each, at);
      if (terms.next()) this.#insert(terms);
    }
  }

  /** Moves on; false after the last term. */
  next(): boolean {
    for (const passed of this.#open.splice(0, this.#same)) if (passed.next()) this.#insert(passed);
    const [first] = this.#open;
    if (first === undefined) return false;
    this.#same = 1;
    while (this.#same < this.#open.length && compare(this.#open[this.#same]!, first) === 0) this.#same++;
    return true;
  }

  /** The segments that have the current term, with its ordinals there. */
  current(): readonly { readonly segment: number; readonly ordinal: number }[] {
    return this.#open.slice(0, this.#same);
  }

  get count(): number {
    let total = 0;
    for (let at = 0; at < this.#same; at++) total += this.#open[at]!.count;
    return total;
  }

  text(): string {
    return this.#open[0]!.text();
  }

  #insert(terms: SegmentTerms): void {
    let [low, high] = [0, this.#open.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (compare(this.#open[middle]!, terms) < 0) low = middle + 1;
      else high = middle;
    }
    this.#open.splice(low, 0, terms);
  }
}

function compare({ bytes: a }: SegmentTerms, { bytes: b }: SegmentTerms): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) if (a[at] !== b[at]) return a[at]! - b[at]!;
  return a.length - b.length;
}

/** Keeps the first terms. */
class FirstTerms {
  readonly #keep: number;
  readonly #buckets: TermBucket[] = [];

  constructor(keep: number) {
    this.#keep = keep;
  }

  wants(_count: number): boolean {
    return this.#buckets.length < this.#keep;
  }

  add(key: string, count: number): void {
    this.#buckets.push({ key, count, below: {} });
  }

  buckets(): TermBucket[] {
    return this.#buckets;
  }
}

/**
 * Keeps the terms with the most documents; of equal ones those that came first. What may be one of them is gathered up to
 * twice as many, then those that aren't go.
 */
class MostFrequent {
  readonly #keep: number;
  #buckets: TermBucket[] = [];
  /** Terms of this many documents or fewer can't be among the returned ones. */
  #passed = 0;

  constructor(keep: number) {
    this.#keep = keep;
  }

  wants(count: number): boolean {
    return count > this.#passed;
  }

  add(key: string, count: number): void {
    this.#buckets.push({ key, count, below: {} });
    if (this.#buckets.length >= 2 * this.#keep) this.#shrink();
  }

  buckets(): TermBucket[] {
    this.#shrink();
    return this.#buckets;
  }

  #shrink(): void {
    if (this.#buckets.length <= this.#keep) return;
    const counts = Float64Array.from(this.#buckets, ({ count }) => count).sort();
    const least = counts[counts.length - this.#keep]!;
    let equal = this.#keep - this.#buckets.filter(({ count }) => count > least).length;
    this.#buckets = this.#buckets.filter(({ count }) => count > least || (count === least && equal-- > 0));
    this.#passed = least;
  }
}
