/** Scores of single documents, which are mostly requested in ascending order. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { Weight } from "./query.ts";
import type { Scorer } from "./scorer.ts";

export class DocumentScores {
  readonly #weight: Weight;
  #segment: SegmentReader | undefined;
  /** Undefined until the first score of the open segment is needed: the weight is prepared by then. */
  #scorer: Scorer | null | undefined;

  constructor(weight: Weight) {
    this.#weight = weight;
  }

  /** Opens a segment. */
  segment(segment: SegmentReader): void {
    this.#segment = segment;
    this.#scorer = undefined;
  }

  /** Returns the score of a document of the open segment; 0 if the query does not match it. */
  of(doc: number): number {
    let scorer = this.#scorer;
    // A scorer does not go back: if buckets bring earlier documents, a new one begins at the start.
    if (scorer === undefined || (scorer !== null && scorer.doc > doc))
      this.#scorer = scorer = this.#weight.scorer(this.#segment!);
    if (scorer === null) return 0;
    return (scorer.doc < doc ? scorer.advance(doc) : scorer.doc) === doc ? scorer.score() : 0;
  }
}
