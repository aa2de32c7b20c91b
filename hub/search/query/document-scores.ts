/**
 * Scores of single documents, which are mostly requested in ascending order. Nested objects have the scores of their
 * documents, as in 6.5.
 */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type { ParentSegment } from "./nested-scope.ts";
import type { ShardContext, Weight } from "./query.ts";
import type { Scorer } from "./scorer.ts";

export class DocumentScores {
  readonly #weight: Weight;
  readonly #documentsOf: ((objects: SegmentReader) => ParentSegment) | undefined;
  /** Document of each object of the open segment; undefined if it is one of documents. */
  #parents: Int32Array | undefined;
  #segment: SegmentReader | undefined;
  /** Undefined until the first score of the open segment is needed: the weight is prepared by then. */
  #scorer: Scorer | null | undefined;

  /** `documentsOf`: the documents of a segment's objects, if it is objects whose scores are requested. */
  constructor(weight: Weight, documentsOf?: (objects: SegmentReader) => ParentSegment) {
    this.#weight = weight;
    this.#documentsOf = documentsOf;
  }

  /** Opens a segment. */
  segment(segment: SegmentReader): void {
    const above = this.#documentsOf?.(segment);
    this.#parents = above?.parents;
    this.#segment = above?.segment ?? segment;
    this.#scorer = undefined;
  }

  /** Returns the score of a document or object of the open segment; 0 if the query does not match it. */
  of(at: number): number {
    const doc = this.#parents?.[at] ?? at;
    let scorer = this.#scorer;
    // A scorer does not go back: if buckets bring earlier documents, a new one begins at the start.
    if (scorer === undefined || (scorer !== null && scorer.doc > doc))
      this.#scorer = scorer = this.#weight.scorer(this.#segment!);
    if (scorer === null) return 0;
    return (scorer.doc < doc ? scorer.advance(doc) : scorer.doc) === doc ? scorer.score() : 0;
  }
}

/** Returns the scores of what a shard collects; undefined outside of a collection. */
export function scoresOn({ origin, scope }: ShardContext): DocumentScores | undefined {
  if (origin === undefined) return undefined;
  const whole = scope.climb("")!;
  const documentsOf =
    scope === whole ? undefined : (objects: SegmentReader) => scope.parentsIn(whole, objects);
  return new DocumentScores(origin.scored(), documentsOf);
}
