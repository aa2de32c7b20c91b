/**
 * A scorer for documents that at least a given number of scorers match, found one window of documents at a time.
 */

import type { Bitset } from "#hub/engine/bytes/bitset.ts";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";

/** Documents of a window: its arrays stay in the processor's cache. */
const WINDOW = 2048;
/** The same if a scorer needs long to test a document. */
const DEAR_WINDOW = 64;

/** Scorers up to which bounds by length are reckoned: it takes the square of their number. */
const MAX_LENGTHS = 8;

/** Scorers from which on a batch ends with its window: opening one takes about a microsecond for each of them. */
const MANY_SCORERS = 64;

interface Part {
  readonly scorer: Scorer;
  /** Maximum score: at the last target of `maxScoreFrom`, and in the current window. */
  now: number;
  most: number;
  /** Its documents as a set, if that is worth making. */
  readonly members: () => Bitset | null | undefined;
}

/** Returns the documents of the scorer number `at`, null for none; undefined if walking them is cheaper. */
export type Members = (at: number) => Bitset | null | undefined;

/**
 * Adds up the scores of the matching parts, or takes the best with a share of the others. If only documents above a score
 * are useful, windows that can't have one are skipped unread. In other windows, parts that can't reach that score together
 * are only tested at documents that the other parts found (MaxScore, Turtle & Flood 1995).
 */
export class DisjunctionScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  /** Documents of a window at most. */
  readonly #window: number;
  readonly #parts: readonly Part[];
  readonly #minimum: number;
  readonly #docCount: number;
  readonly #scores: boolean;
  /** Share of the scores below the best one; undefined: all are added. */
  readonly #tieBreaker: number | undefined;
  readonly #sum: Float64Array;
  readonly #best: Float64Array;
  readonly #matches: Uint16Array;
  #base = 0;
  #end = 0;
  /** Whether the current document matches. */
  #isFound = false;
  #minScore = 0;
  /** #parts by what they give at most, of which the first `#helpers` can't reach #minScore together. */
  readonly #byMost: Part[];
  /** True if all scores are of one field. */
  readonly #shareNorms: boolean;
  #helpers = 0;
  #helpersMost = 0;

  constructor(
    scorers: readonly Scorer[],
    minimum: number,
    docCount: number,
    scores: boolean,
    tieBreaker?: number,
    members?: Members,
  ) {
    super();
    this.#parts = scorers.map((scorer, at) => ({
      scorer,
      now: 0,
      most: 0,
      members: remembering(() => members?.(at)),
    }));
    this.#byMost = [...this.#parts];
    this.#shareNorms =
      scorers.length <= MAX_LENGTHS &&
      scorers.every(({ norms }) => norms !== null && norms === scorers[0]!.norms);
    this.#minimum = minimum;
    this.#docCount = docCount;
    this.isApproximate = scorers.some((scorer) => scorer.isApproximate);
    const window = Math.min(this.isApproximate ? DEAR_WINDOW : WINDOW, docCount);
    this.#window = window;
    this.#sum = new Float64Array(window);
    this.#best = new Float64Array(window);
    this.#matches = new Uint16Array(window);
    this.#scores = scores;
    this.#tieBreaker = tieBreaker;
    this.cost = scorers.reduce((total, scorer) => total + scorer.cost, 0);
  }

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    if (this.isApproximate || this.#parts.length < MANY_SCORERS) return super.fill(docs, scores);
    const end = this.#end;
    let length = 0;
    while (length < docs.length && this.next() !== NO_MORE_DOCS) {
      if (scores !== null) scores[length] = this.score();
      docs[length++] = this.doc;
      if (this.#end !== end) break;
    }
    return length;
  }

  advance(target: number): number {
    let doc = this.#within(target);
    while (doc !== NO_MORE_DOCS && !this.#isFound) doc = this.#within(doc + 1);
    return (this.doc = doc);
  }

  /** Stops at the end of a window at the latest. */
  override seek(target: number): number {
    return this.isApproximate ? (this.doc = this.#within(target)) : this.advance(target);
  }

  override matches(): boolean {
    return this.#isFound;
  }

  /** Returns the first match from `target` on in its window, or the window's last document; the end after the last. */
  #within(target: number): number {
    this.#isFound = false;
    if (target >= this.#docCount || (target >= this.#end && !this.#open(target))) return NO_MORE_DOCS;
    const size = this.#end - this.#base;
    for (let slot = Math.max(0, target - this.#base); slot < size; slot++) {
      if (this.#matches[slot]! < this.#minimum) continue;
      if (this.#helpers > 0 && !this.#complete(slot)) continue;
      this.#isFound = true;
      return this.#base + slot;
    }
    return this.#end - 1;
  }

  score(): number {
    return this.#scoreAt(this.doc - this.#base);
  }

  override setMinScore(score: number): void {
    this.#minScore = score;
  }

  override maxScoreFrom(target: number): number {
    let end = NO_MORE_DOCS;
    let total = 0;
    for (const part of this.#parts) {
      part.now = part.scorer.maxScoreFrom(target);
      total += part.now;
      end = Math.min(end, part.scorer.impactEnd);
    }
    this.impactEnd = end;
    return Math.fround(this.#shareNorms ? this.#mostOfOneLength(target) : total);
  }

  /** If all scores are of one field: its document has one length, and only terms of documents as short can be in it. */
  #mostOfOneLength(target: number): number {
    let most = 0;
    for (const { scorer } of this.#parts) {
      const norm = scorer.impactNorm;
      let total = 0;
      for (const part of this.#parts) {
        if (part.scorer.impactNorm <= norm) total += part.scorer.maxScoreFrom(target, norm);
      }
      most = Math.max(most, total);
    }
    return most;
  }

  #scoreAt(slot: number): number {
    const sum = this.#sum[slot]!;
    if (this.#tieBreaker === undefined) return Math.fround(sum);
    const best = this.#best[slot]!;
    return Math.fround(best + this.#tieBreaker * (sum - best));
  }

  /** Gathers the window that begins with the first useful document at or after `from`; false if there is none. */
  #open(from: number): boolean {
    this.#helpers = 0;
    // Helpers are no help if a document needs several matches: all of them have to be known.
    if (this.#minScore > 0 && this.#minimum === 1) {
      if (!this.#findUseful(from)) return false;
      this.#chooseHelpers();
    } else {
      this.#base = from;
      this.#end = 0;
    }
    let first = NO_MORE_DOCS;
    for (const { scorer } of this.#leading) {
      const doc = scorer.doc < this.#base ? scorer.seek(this.#base) : scorer.doc;
      if (doc < first) first = doc;
    }
    if (this.#end === 0) {
      if (first === NO_MORE_DOCS) return false;
      this.#base = first;
      this.#end = Math.min(first + this.#window, this.#docCount);
    }
    this.#matches.fill(0, 0, this.#end - this.#base);
    this.#sum.fill(0, 0, this.#end - this.#base);
    this.#best.fill(0, 0, this.#end - this.#base);
    for (const { scorer } of this.#leading) this.#gather(scorer);
    return true;
  }

  /** The scorers that the window is gathered from. */
  get #leading(): readonly Part[] {
    return this.#helpers === 0 ? this.#parts : this.#byMost.slice(this.#helpers);
  }

  /**
   * Sets the window from the first document at or after `from` that may score above #minScore to the end of such
   * documents, and the maximum scores of the parts in it. Returns false if there is no such document.
   */
  #findUseful(from: number): boolean {
    let start = from;
    while (start < this.#docCount && this.maxScoreFrom(start) <= this.#minScore) start = this.impactEnd + 1;
    if (start >= this.#docCount) return false;
    const limit = Math.min(start + this.#window, this.#docCount);
    for (const part of this.#parts) part.most = 0;
    let end = start;
    while (end < limit && this.maxScoreFrom(end) > this.#minScore) {
      for (const part of this.#parts) part.most = Math.max(part.most, part.now);
      end = this.impactEnd + 1;
    }
    this.#base = start;
    this.#end = Math.min(end, limit);
    return true;
  }

  #chooseHelpers(): void {
    this.#byMost.sort((a, b) => a.most - b.most);
    this.#helpersMost = 0;
    while (this.#helpers < this.#byMost.length - 1) {
      const most = this.#helpersMost + this.#byMost[this.#helpers]!.most;
      if (Math.fround(most) > this.#minScore) break;
      this.#helpersMost = most;
      this.#helpers++;
    }
  }

  /** Adds the helpers' scores of a document; false if it isn't of use. */
  #complete(slot: number): boolean {
    if (Math.fround(this.#sum[slot]! + this.#helpersMost) <= this.#minScore) return false;
    const doc = this.#base + slot;
    let most = this.#sum[slot]!;
    for (let helper = 0; helper < this.#helpers; helper++) {
      const part = this.#byMost[helper]!;
      if (mayHave(part, doc)) most += part.most;
    }
    if (Math.fround(most) <= this.#minScore) return false;
    for (let helper = 0; helper < this.#helpers; helper++) {
      const part = this.#byMost[helper]!;
      if (!mayHave(part, doc)) continue;
      const { scorer } = part;
      if (scorer.has(doc)) this.#add(slot, scorer.score());
    }
    return this.#scoreAt(slot) > this.#minScore;
  }

  #gather(scorer: Scorer): void {
    const base = this.#base;
    const end = this.#end;
    const isApproximate = scorer.isApproximate;
    for (let doc = scorer.doc; doc < end; doc = isApproximate ? scorer.seek(doc + 1) : scorer.next()) {
      if (isApproximate && !scorer.matches()) continue;
      const slot = doc - base;
      this.#matches[slot]!++;
      if (this.#scores) this.#add(slot, scorer.score());
    }
  }

  #add(slot: number, score: number): void {
    this.#sum[slot]! += score;
    if (score > this.#best[slot]!) this.#best[slot] = score;
  }
}

function mayHave({ members }: Part, doc: number): boolean {
  const set = members();
  return set === undefined || (set?.has(doc) ?? false);
}

/** Calls `find` on first use. */
function remembering<T>(find: () => T): () => T {
  let found: { readonly value: T } | undefined;
  return () => (found ??= { value: find() }).value;
}
