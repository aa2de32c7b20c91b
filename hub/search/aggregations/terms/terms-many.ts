/**
 * Collects `terms` of a keyword with very many values: one counter per ordinal instead of a bucket. Aggregations below get
 * their documents afterwards, only those of the returned buckets. Documents of other owners than the first, and all if an
 * order needs every bucket, are collected as those of few values.
 */

import type { KeywordColumn, SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { BucketCollector, onlyOwner } from "#hub/search/aggregations/buckets/bucket-collector.ts";
import {
  bucketOf,
  handedOn,
  type TermBucket,
  type TermsContext,
  type TermsState,
  textState,
} from "#hub/search/aggregations/buckets/terms-state.ts";
import type { Collector } from "#hub/search/aggregations/tree/aggregation.ts";
import { atOnce, type Steps } from "#hub/search/aggregations/tree/steps.ts";
import { KeywordValues, opensLate } from "#hub/search/columns/column-values.ts";
import type { SegmentRun } from "#hub/search/columns/set-blocks.ts";
import { failingFields } from "#hub/search/query/runtime-reader.ts";
import { LateDocuments } from "./late-documents.ts";
import { knownTerms, numberedTerms } from "./merged-terms.ts";
import { mergeShared, type NumberedTerms } from "./shared-terms.ts";
import { KeywordTermsCollector } from "./terms-keyword.ts";
import { type KeptTerms, type MergeOrder, mergeCounts, mergeOrder } from "./terms-merge.ts";

/** Values of all segments from which on they are many. */
const MANY = 2000;

/** What a count takes of the memory that a bucket is estimated at. */
const COUNT_SHARE = 0.04;

/** Values are numbered for later searches if so large a share of them has documents. */
const SHARE_NUMBERED = 1 / 4;

/** Ordinals between two pauses: below a millisecond. */
const STEP_ORDINALS = 65_536;
/** Terms that are looked up in a segment between two pauses. */
const STEP_TERMS = 128;

/** Ordinals that are read in the time in which a term is looked up. */
const ORDINALS_A_TERM = 2000;

/** Counts of the documents of one segment by ordinal. */
interface SegmentCounts {
  readonly column: KeywordColumn;
  readonly counts: Int32Array;
  /** Undefined if nothing is below. */
  readonly late: LateDocuments | undefined;
}

/** The numbers of the terms to return, which the segments share. */
interface Numbered {
  readonly terms: NumberedTerms;
  readonly numbers: readonly number[];
}

/** The terms to return; `numbered`: if they were counted by number. */
interface Merged {
  readonly kept: KeptTerms;
  readonly numbered?: Numbered;
}

/** Returns the collector of a keyword's terms. `missing`: value of documents without one; `many`: see MANY. */
export function keywordTerms(
  context: TermsContext,
  path: string,
  missing: string | undefined,
  many = MANY,
): Collector<TermsState> {
  const { shape, shard, choose } = context;
  const order = mergeOrder(shape.order);
  const isPlain = choose === undefined && missing === undefined && shape.minDocCount > 0;
  if (isPlain && order !== undefined && !areComputed(shard)) {
    const columns = shard.searcher.segments.map((segment) => segment.keywordColumn(path));
    const values = columns.reduce((total, column) => total + (column?.cardinality ?? 0), 0);
    // Addresses have another order than their texts.
    if (values > many && columns.every((column) => column === null || column.kind === "keyword")) {
      const below = new BucketCollector(shape.below, shard, context.budget);
      if (below.onlyCounts || below.takesLate) return new ManyTermsCollector(context, path, order, below);
    }
  }
  return new KeywordTermsCollector(context, path, missing);
}

/** See the file's comment. */
class ManyTermsCollector implements Collector<TermsState> {
  readonly #context: TermsContext;
  readonly #path: string;
  readonly #order: MergeOrder;
  readonly #below: BucketCollector;
  readonly #values = new KeywordValues();
  readonly #segments: SegmentCounts[] = [];
  #segment: SegmentReader | undefined;
  /** Of the open segment. */
  #open: SegmentCounts | undefined;
  /** Collects for all owners but the first. */
  #few: KeywordTermsCollector | undefined;
  #docs = new Int32Array(0);
  #owners = new Int32Array(0);
  /** Of the first owner: its documents can be given to what is below only once. */
  #made: TermsState | undefined;

  constructor(context: TermsContext, path: string, order: MergeOrder, below: BucketCollector) {
    this.#context = context;
    this.#path = path;
    this.#order = order;
    this.#below = below;
  }

  get takesLate(): boolean {
    return opensLate(this.#context.shard, this.#path);
  }

  segment(segment: SegmentReader): void {
    this.#segment = segment;
    this.#few?.segment(segment);
    const column = segment.keywordColumn(this.#path);
    this.#values.open(column);
    this.#open = undefined;
    if (column === null) return;
    const { budget } = this.#context;
    budget.add(column.cardinality * COUNT_SHARE);
    const late = this.#below.onlyCounts ? undefined : new LateDocuments(segment, column, budget);
    this.#open = { column, counts: new Int32Array(column.cardinality), late };
    this.#segments.push(this.#open);
  }

  collect(docs: Int32Array, owners: Int32Array, length: number): void {
    if (length === 0) return;
    const owner = onlyOwner(owners, length);
    if (owner === 0) this.#count(docs, length);
    else if (owner > 0) this.#fewTerms().collect(docs, owners, length);
    else this.#split(docs, owners, length);
  }

  collectRun(run: SegmentRun, owner: number): boolean {
    if (owner !== 0) return this.#fewTerms().collectRun(run, owner);
    if (this.#open === undefined) return true;
    const { column, counts, late } = this.#open;
    if (!column.count(run, counts, 0)) return false;
    late?.addRun(run);
    return true;
  }

  state(owner: number): TermsState {
    return atOnce(this.steps(owner));
  }

  *steps(owner: number): Steps<TermsState> {
    if (owner !== 0) return yield* this.#fewTerms().steps(owner);
    if (this.#below.onlyCounts) return textState((yield* this.#merge()).kept);
    this.#made ??= textState(yield* this.#withDocuments());
    return this.#made;
  }

  *#withDocuments(): Steps<KeptTerms> {
    const { kept, numbered } = yield* this.#merge();
    const byNumber = numbered === undefined ? undefined : bucketsByNumber(numbered);
    for (const { column, late } of this.#segments) {
      const isFaster = kept.buckets.length * ORDINALS_A_TERM < column.cardinality;
      const byOrdinal =
        byNumber === undefined || isFaster
          ? yield* bucketsByTerm(column, kept)
          : yield* bucketsByOrdinal(numbered!.terms.numbersOf(column), byNumber);
      yield* late!.give(byOrdinal, kept.buckets.length, this.#below);
    }
    return { ...kept, buckets: yield* this.#withBelow(kept.buckets) };
  }

  /** Counts documents of the first owner. */
  #count(docs: Int32Array, length: number): void {
    if (this.#open === undefined) return;
    const { counts, late } = this.#open;
    late?.add(docs, length);
    const count = this.#values.read(docs, length);
    const { ordinals } = this.#values;
    for (let at = 0; at < count; at++) if (ordinals[at]! >= 0) counts[ordinals[at]!]!++;
  }

  /** Gives the documents of several owners to those who collect for them. */
  #split(docs: Int32Array, owners: Int32Array, length: number): void {
    if (this.#docs.length < length) {
      this.#docs = new Int32Array(length);
      this.#owners = new Int32Array(length);
    }
    let count = 0;
    for (let at = 0; at < length; at++) if (owners[at] === 0) this.#docs[count++] = docs[at]!;
    if (count > 0) this.#count(this.#docs, count);
    count = 0;
    for (let at = 0; at < length; at++) {
      if (owners[at] === 0) continue;
      this.#docs[count] = docs[at]!;
      this.#owners[count++] = owners[at]!;
    }
    this.#fewTerms().collect(this.#docs, this.#owners, count);
  }

  #fewTerms(): KeywordTermsCollector {
    if (this.#few === undefined) {
      this.#few = new KeywordTermsCollector(this.#context, this.#path, undefined);
      if (this.#segment !== undefined) this.#few.segment(this.#segment);
    }
    return this.#few;
  }

  /** Adds up the counts of the segments: by number if that suffices, else term by term. */
  *#merge(): Steps<Merged> {
    const { filter, shard } = this.#context;
    const keep = handedOn(this.#context);
    if (this.#order === "frequent" && filter === undefined) {
      const columns = this.#segments.map(({ column }) => column);
      const field = { index: shard.indexUuid, path: this.#path, columns };
      let terms = knownTerms(field);
      if (terms === undefined && (yield* haveDocuments(this.#segments, SHARE_NUMBERED)))
        terms = yield* numberedTerms(field);
      if (terms !== undefined) {
        const { numbers, ...kept } = yield* mergeShared(this.#segments, terms, keep);
        return { kept, numbered: { terms, numbers } };
      }
    }
    return { kept: yield* mergeCounts(this.#segments, { order: this.#order, keep, filter }) };
  }

  /** Adds the states of what is below to buckets, whose positions are those of `#below`. */
  *#withBelow(buckets: readonly TermBucket[]): Steps<TermBucket[]> {
    const terms = {
      length: buckets.length,
      count: (at: number) => buckets[at]!.count,
      key: (at: number) => buckets[at]!.key,
      below: (at: number) => this.#below.below(at),
      belowSteps: (at: number) => this.#below.belowSteps(at),
    };
    const made: TermBucket[] = [];
    for (let at = 0; at < terms.length; at++) made.push(yield* bucketOf(terms, at, this.#context.shape));
    return made;
  }
}

/** Returns whether at least this share of all ordinals has documents. */
function* haveDocuments(segments: readonly SegmentCounts[], share: number): Steps<boolean> {
  let [met, all] = [0, 0];
  for (const { counts } of segments) {
    all += counts.length;
    for (let ordinal = 0; ordinal < counts.length; ordinal++) {
      if (counts[ordinal] !== 0) met++;
      if (ordinal % STEP_ORDINALS === STEP_ORDINALS - 1) yield;
    }
  }
  return met >= share * all;
}

/** Returns the position of the bucket of each ordinal of a column, -1 for none; each term is looked up. */
function* bucketsByTerm(column: KeywordColumn, { buckets }: KeptTerms): Steps<Int32Array> {
  const byOrdinal = new Int32Array(column.cardinality).fill(-1);
  for (const [at, { key }] of buckets.entries()) {
    const ordinal = column.ordOf(String(key));
    if (ordinal >= 0) byOrdinal[ordinal] = at;
    if (at % STEP_TERMS === STEP_TERMS - 1) yield;
  }
  return byOrdinal;
}

/** Returns the position of the bucket of each number, -1 for none. */
function bucketsByNumber({ terms, numbers }: Numbered): Int32Array {
  const byNumber = new Int32Array(terms.size).fill(-1);
  for (const [at, number] of numbers.entries()) byNumber[number] = at;
  return byNumber;
}

/** Like `bucketsByTerm`, of a column whose ordinals have these numbers. */
function* bucketsByOrdinal(numbers: Int32Array, byNumber: Int32Array): Steps<Int32Array> {
  const byOrdinal = new Int32Array(numbers.length);
  for (let ordinal = 0; ordinal < numbers.length; ordinal++) {
    byOrdinal[ordinal] = byNumber[numbers[ordinal]!]!;
    if (ordinal % STEP_ORDINALS === STEP_ORDINALS - 1) yield;
  }
  return byOrdinal;
}

/** True if a computed field failed for some documents: its readers must be known while its segment is searched. */
function areComputed({ searcher }: TermsContext["shard"]): boolean {
  return searcher.segments.some((segment) => failingFields(segment).length > 0);
}
