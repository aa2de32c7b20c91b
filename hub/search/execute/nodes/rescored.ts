/** The documents of a scorer with scores that are made anew from the document and its score. */

import { Scorer } from "#hub/search/query/query.ts";

export class RescoredScorer extends Scorer {
  readonly cost: number;
  readonly #inner: Scorer;
  readonly #rescore: (doc: number, score: number) => number;

  /** `rescore` is called with documents in ascending order, at most once for each. */
  constructor(inner: Scorer, rescore: (doc: number, score: number) => number) {
    super();
    this.#inner = inner;
    this.cost = inner.cost;
    this.#rescore = rescore;
  }

  next(): number {
    return (this.doc = this.#inner.next());
  }

  advance(target: number): number {
    return (this.doc = this.#inner.advance(target));
  }

  score(): number {
    return Math.fround(this.#rescore(this.doc, this.#inner.score()));
  }
}

/** Returns a test of documents in ascending order; null accepts none. */
export function membership(scorer: Scorer | null): (doc: number) => boolean {
  if (scorer === null) return () => false;
  return (doc) => (scorer.doc < doc ? scorer.advance(doc) : scorer.doc) === doc;
}
