/** Scorers for the intersection of several scorers. */

import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";
import { SkippingScorer } from "./skipping-scorer.ts";

/** Steps towards a document that all have, between two pauses: some ms. */
const MAX_STEPS = 32_768;
/** Cost of testing one document where that is expensive, in steps of a scorer. */
const MATCH_STEPS = 1024;

export interface Part {
  readonly scorer: Scorer;
  /** False: the score isn't added. */
  readonly scores: boolean;
}

/** Returns a scorer of the documents that match all parts. `parts` has at least one. */
export function conjunction(parts: readonly Part[]): Scorer {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only.scores ? only.scorer : new Unscored(only.scorer);
  return new ConjunctionScorer(parts);
}

/** Walks the rarest part and tests its documents with the others. */
class ConjunctionScorer extends SkippingScorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  readonly #lead: Scorer;
  readonly #others: readonly Scorer[];
  readonly #approximate: readonly Scorer[];
  readonly #scoring: readonly Scorer[];
  /** True if all scores are of one field. */
  readonly #shareNorms: boolean;
  /** Steps of the last move. */
  #taken = 0;
  /** Whether all parts have the current document. */
  #isAgreed = false;

  constructor(parts: readonly Part[]) {
    super();
    const sorted = [...parts].sort((a, b) => a.scorer.cost - b.scorer.cost).map((part) => part.scorer);
    this.#lead = sorted[0]!;
    this.#others = sorted.slice(1);
    this.#approximate = sorted.filter(({ isApproximate }) => isApproximate);
    this.isApproximate = this.#approximate.length > 0;
    this.#scoring = parts.filter((part) => part.scores).map((part) => part.scorer);
    this.cost = this.#lead.cost;
    const [first] = this.#scoring;
    this.#shareNorms = this.#scoring.every(({ norms }) => norms !== null && norms === first?.norms);
  }

  next(): number {
    return this.#align(this.#leadFrom(this.doc + 1), Number.POSITIVE_INFINITY);
  }

  advance(target: number): number {
    return this.#align(this.#leadFrom(target), Number.POSITIVE_INFINITY);
  }

  override seek(target: number): number {
    if (!this.isApproximate) return this.advance(target);
    return this.#align(this.#leadFrom(target), MATCH_STEPS);
  }

  override matches(): boolean {
    return this.#isAgreed;
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    let length = 0;
    let steps = MAX_STEPS;
    while (length < docs.length && steps > 0) {
      const doc = this.#align(this.#leadFrom(this.doc + 1), steps);
      steps -= this.#taken;
      if (doc === NO_MORE_DOCS || steps <= 0) break;
      if (scores !== null) scores[length] = this.score();
      docs[length++] = doc;
    }
    return length;
  }

  score(): number {
    let total = 0;
    for (const scorer of this.#scoring) total += scorer.score();
    return Math.fround(total);
  }

  override maxScoreFrom(target: number): number {
    let end = NO_MORE_DOCS;
    let norm = 0;
    for (const scorer of this.#scoring) {
      scorer.maxScoreFrom(target);
      end = Math.min(end, scorer.impactEnd);
      norm = Math.max(norm, scorer.impactNorm);
    }
    // A document that all have is as long as the shortest one of each.
    if (!this.#shareNorms) norm = 0;
    let total = 0;
    for (const scorer of this.#scoring) total += scorer.maxScoreFrom(target, norm);
    this.impactEnd = end;
    return Math.fround(total);
  }

  /** The lead may have been left before a document that wasn't agreed on yet. */
  #leadFrom(target: number): number {
    if (target > NO_MORE_DOCS) return NO_MORE_DOCS;
    const { doc } = this.#lead;
    if (doc >= target) return doc;
    return target === doc + 1 && !this.#lead.isApproximate ? this.#lead.next() : this.#lead.seek(target);
  }

  /** True if the document at which all parts are positioned matches each. */
  #match(): boolean {
    for (const each of this.#approximate) if (!each.matches()) return false;
    return true;
  }

  /**
   * Moves to the first document from `first`, the lead's, that all parts have; after `steps`, stops before the next one to be
   * examined.
   */
  #align(first: number, steps: number): number {
    let doc = first;
    this.#taken = 0;
    this.#isAgreed = false;
    search: while (doc !== NO_MORE_DOCS) {
      if (++this.#taken >= steps) return (this.doc = doc - 1);
      if (this.minScore > 0 && doc > this.usefulUntil) {
        const useful = this.firstUseful(doc);
        if (useful !== doc) {
          doc = useful === NO_MORE_DOCS ? NO_MORE_DOCS : this.#lead.seek(useful);
          continue;
        }
      }
      for (const other of this.#others) {
        const found = other.doc < doc ? other.seek(doc) : other.doc;
        if (found === doc) continue;
        doc = found === NO_MORE_DOCS ? NO_MORE_DOCS : this.#lead.seek(found);
        continue search;
      }
      if (this.#match()) {
        this.#isAgreed = true;
        break;
      }
      this.#taken += MATCH_STEPS;
      doc = this.#lead.seek(doc + 1);
    }
    return (this.doc = doc);
  }
}

/** A filter on its own: its documents score 0. */
class Unscored extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  readonly #inner: Scorer;
  /** No document scores enough. */
  #isUseless = false;

  constructor(inner: Scorer) {
    super();
    this.#inner = inner;
    this.cost = inner.cost;
    this.isApproximate = inner.isApproximate;
  }

  next(): number {
    return (this.doc = this.#isUseless ? NO_MORE_DOCS : this.#inner.next());
  }

  advance(target: number): number {
    return (this.doc = this.#isUseless ? NO_MORE_DOCS : this.#inner.advance(target));
  }

  override seek(target: number): number {
    return (this.doc = this.#isUseless ? NO_MORE_DOCS : this.#inner.seek(target));
  }

  override matches(): boolean {
    return this.#inner.matches();
  }

  score(): number {
    return 0;
  }

  override setMinScore(score: number): void {
    this.#isUseless = score >= 0;
  }

  override maxScoreFrom(): number {
    this.impactEnd = NO_MORE_DOCS;
    return 0;
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    if (this.#isUseless) {
      this.doc = NO_MORE_DOCS;
      return 0;
    }
    const length = this.#inner.fill(docs, null);
    this.doc = this.#inner.doc;
    scores?.fill(0, 0, length);
    return length;
  }
}
