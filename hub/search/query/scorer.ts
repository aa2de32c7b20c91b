/** Walks the documents of a segment that match a query. */

import { NO_MORE_DOCS } from "#hub/engine/searcher/searcher.ts";

/** Documents that a scorer fills in between two checks of the time, and the time limit, ms. */
const FILLED_A_LOOK = 16;
const FILL_MS = 1;

/** Walks matching documents in ascending order. */
export abstract class Scorer {
  /** Current document; -1 before the first, NO_MORE_DOCS after the last. */
  doc = -1;
  /** Estimate of the documents to walk. */
  abstract readonly cost: number;
  /** Moves to the following document. */
  abstract next(): number;
  /** Moves to the first document at or after `target`, which is above `doc`. */
  abstract advance(target: number): number;
  /** Score of the current document. */
  abstract score(): number;

  /** True if `seek` may stop at documents that don't match. */
  readonly isApproximate: boolean = false;

  /**
   * Like `advance`, but may stop at a document of which only `matches`, at some cost, tells whether it matches.
   * `advance` and `next` may be called afterwards.
   */
  seek(target: number): number {
    return this.advance(target);
  }

  /** True if the document that `seek` moved to matches. */
  matches(): boolean {
    return true;
  }

  /** Returns whether `doc`, at or after the last argument, matches; for scorers that aren't walked otherwise. */
  has(doc: number): boolean {
    return (this.doc < doc ? this.seek(doc) : this.doc) === doc && this.matches();
  }

  /**
   * Copies the next documents (and their scores) and returns how many. Scorers that look long for the next one may give
   * fewer than fit, or none; `doc` is NO_MORE_DOCS at the end.
   */
  fill(docs: Int32Array, scores: Float32Array | null): number {
    if (this.isApproximate) return this.#fillSought(docs, scores);
    let length = 0;
    const startMs = performance.now();
    while (length < docs.length) {
      const doc = this.next();
      if (doc === NO_MORE_DOCS) break;
      if (scores !== null) scores[length] = this.score();
      docs[length++] = doc;
      // A script may take milliseconds for each.
      if (length % FILLED_A_LOOK === 0 && performance.now() - startMs > FILL_MS) break;
    }
    return length;
  }

  /** Looks at the documents that may match, however few do. */
  #fillSought(docs: Int32Array, scores: Float32Array | null): number {
    let length = 0;
    const startMs = performance.now();
    for (let looked = 1; length < docs.length && this.doc !== NO_MORE_DOCS; looked++) {
      const doc = this.seek(this.doc + 1);
      if (doc === NO_MORE_DOCS) break;
      if (this.matches()) {
        if (scores !== null) scores[length] = this.score();
        docs[length++] = doc;
      }
      if (looked % FILLED_A_LOOK === 0 && performance.now() - startMs > FILL_MS) break;
    }
    return length;
  }

  /** Allows the scorer to skip documents that do not score above `score`. */
  setMinScore(_score: number): void {}

  /**
   * Largest score that a document in [target, `impactEnd`] with a norm byte of at least `norm` may have; sets `impactEnd`,
   * which is at or after `target`, and `impactNorm`. Targets ascend.
   */
  maxScoreFrom(_target: number, _norm?: number): number {
    this.impactEnd = NO_MORE_DOCS;
    return Number.POSITIVE_INFINITY;
  }

  /** See `maxScoreFrom`. */
  impactEnd = -1;
  /** Lower bound of the norm bytes in the window, of `norms`. */
  impactNorm = 0;
  /** Norm bytes that scores depend on; null if they depend on others, or none. */
  readonly norms: Uint8Array | null = null;
}
