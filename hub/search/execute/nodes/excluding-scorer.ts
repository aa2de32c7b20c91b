/** The scorer of must_not: the documents of one query that others lack. */

import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";

/** A scorer without the documents of others. */
export class ExcludingScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  readonly #inner: Scorer;
  readonly #forbidden: readonly Scorer[];

  constructor(inner: Scorer, forbidden: readonly Scorer[]) {
    super();
    this.#inner = inner;
    this.#forbidden = forbidden;
    this.cost = inner.cost;
    this.isApproximate = [inner, ...forbidden].some((each) => each.isApproximate);
  }

  next(): number {
    return this.#skip(this.#inner.next());
  }

  advance(target: number): number {
    return this.#skip(this.#inner.advance(target));
  }

  override seek(target: number): number {
    if (!this.isApproximate) return this.advance(target);
    return (this.doc = this.#inner.seek(target));
  }

  override matches(): boolean {
    return !this.isApproximate || (this.#inner.matches() && !this.#isForbidden(this.doc));
  }

  score(): number {
    return this.#inner.score();
  }

  /** The inner scorer's documents without the forbidden ones; nearly all may be forbidden. */
  override fill(docs: Int32Array, scores: Float32Array | null): number {
    if (this.isApproximate) return super.fill(docs, scores);
    const found = this.#inner.fill(docs, scores);
    this.doc = this.#inner.doc;
    let kept = 0;
    for (let at = 0; at < found; at++) {
      const doc = docs[at]!;
      if (this.#isForbidden(doc)) continue;
      if (scores !== null) scores[kept] = scores[at]!;
      docs[kept++] = doc;
    }
    return kept;
  }

  override setMinScore(score: number): void {
    this.#inner.setMinScore(score);
  }

  override maxScoreFrom(target: number): number {
    const best = this.#inner.maxScoreFrom(target);
    this.impactEnd = this.#inner.impactEnd;
    return best;
  }

  #skip(first: number): number {
    let doc = first;
    while (doc !== NO_MORE_DOCS && this.#isForbidden(doc)) doc = this.#inner.next();
    return (this.doc = doc);
  }

  #isForbidden(doc: number): boolean {
    for (const each of this.#forbidden) if (each.has(doc)) return true;
    return false;
  }
}
