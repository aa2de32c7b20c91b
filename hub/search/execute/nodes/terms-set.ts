/** Documents that match at least a number of several queries, which is given by a field of the document. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery } from "#hub/search/explain/explanation.ts";
import {
  type HighlightSink,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";
import { prepareAll } from "./set-algebra.ts";

/** Number of queries that a document has to fit, at least one; NaN: it can't. */
export type Needed = (segment: SegmentReader) => (doc: number) => number;

export class TermsSetNode implements Query {
  readonly #queries: readonly Query[];
  readonly #needed: Needed;

  constructor(queries: readonly Query[], needed: Needed) {
    this.#queries = queries;
    this.#needed = needed;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const weights = this.#queries.map((query) => query.weight(shard, mode));
    return {
      isDear: true,
      scorer: (segment) => {
        const scorers = weights.map((weight) => weight.scorer(segment)).filter((each) => each !== null);
        return scorers.length === 0 ? null : new TermsSetScorer(scorers, this.#needed(segment));
      },
      count: () => -1,
      prepare: (segment, control) => prepareAll(weights, segment, control),
    };
  }

  describe(shard: ShardContext): QueryDescription {
    const texts = this.#queries.map((query) => describeQuery(query, shard).text);
    return { type: "CoveringQuery", text: `(${texts.join(" ")})`, children: this.#queries };
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    for (const query of this.#queries) query.highlight?.(sink, shard);
  }
}

/** Approximate: a script may decide how many queries a document needs. */
class TermsSetScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate = true;
  readonly #scorers: readonly Scorer[];
  readonly #needed: (doc: number) => number;
  /** The last document that was tested, and the result. */
  #tested = -1;
  #isMatch = false;

  constructor(scorers: readonly Scorer[], needed: (doc: number) => number) {
    super();
    this.#scorers = scorers;
    this.#needed = needed;
    this.cost = scorers.reduce((total, scorer) => total + scorer.cost, 0);
  }

  next(): number {
    return this.advance(this.doc + 1);
  }

  advance(target: number): number {
    let doc = this.seek(target);
    while (doc !== NO_MORE_DOCS && !this.matches()) doc = this.seek(doc + 1);
    return doc;
  }

  /** Moves to the next document that fits one of the queries. */
  override seek(target: number): number {
    let nearest = NO_MORE_DOCS;
    for (const scorer of this.#scorers) {
      const found = scorer.doc < target ? scorer.advance(target) : scorer.doc;
      if (found < nearest) nearest = found;
    }
    return (this.doc = nearest);
  }

  override matches(): boolean {
    const { doc } = this;
    if (this.#tested === doc) return this.#isMatch;
    let matches = 0;
    for (const scorer of this.#scorers) if (scorer.doc === doc) matches++;
    this.#tested = doc;
    return (this.#isMatch = doc !== NO_MORE_DOCS && matches >= this.#needed(doc));
  }

  score(): number {
    let total = 0;
    for (const scorer of this.#scorers) if (scorer.doc === this.doc) total += scorer.score();
    return Math.fround(total);
  }
}
