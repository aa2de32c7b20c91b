/** Queries around another one: a constant score, a boost, a choice by the shard's mapping. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainQuery, printFloat } from "#hub/search/explain/explanation.ts";
import {
  type DocumentPlace,
  type Explanation,
  type HighlightSink,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  Scorer,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";

/** The documents of a query, each with the score `boost`. */
export class ConstantNode implements Query {
  readonly #inner: Query;

  constructor(inner: Query) {
    this.#inner = inner;
  }

  weight(shard: ShardContext, { boost }: ScoreMode): Weight {
    const inner = this.#inner.weight(shard, { scores: false, boost: 1 });
    return {
      scorer: (segment) => {
        const scorer = inner.scorer(segment);
        return scorer === null ? null : new ConstantScorer(scorer, boost);
      },
      count: (segment) => inner.count(segment),
      ...(inner.set === undefined ? {} : { set: (segment: SegmentReader) => inner.set!(segment) }),
      prepare: async (segment, control) => inner.prepare?.(segment, control),
      key: inner.key,
    };
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    this.#inner.highlight?.(sink, shard);
  }

  describe(shard: ShardContext): QueryDescription {
    const { text } = describeQuery(this.#inner, shard);
    return { type: "ConstantScoreQuery", text: `ConstantScore(${text})`, children: [this.#inner] };
  }
}

/** A query whose scores are multiplied by `boost`. */
export class BoostNode implements Query {
  readonly #inner: Query;
  readonly #boost: number;

  constructor(inner: Query, boost: number) {
    this.#inner = inner;
    this.#boost = boost;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    return this.#inner.weight(shard, { ...mode, boost: mode.boost * this.#boost });
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    this.#inner.highlight?.(sink, shard);
  }

  describe(shard: ShardContext): QueryDescription {
    const { text } = describeQuery(this.#inner, shard);
    const boost = printFloat(this.#boost);
    return { type: "BoostQuery", text: `(${text})^${boost}`, children: [this.#inner] };
  }

  explain(place: DocumentPlace): Explanation {
    return explainQuery(this.#inner, { ...place, boost: place.boost * this.#boost });
  }
}

/** A query that depends on the mapping of the shard it runs on. */
export class MappedNode implements Query {
  readonly #resolve: (shard: ShardContext) => Query;

  constructor(resolve: (shard: ShardContext) => Query) {
    this.#resolve = resolve;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    return this.#resolve(shard).weight(shard, mode);
  }

  describe(shard: ShardContext): QueryDescription {
    return describeQuery(this.#resolve(shard), shard);
  }

  explain(place: DocumentPlace): Explanation {
    return explainQuery(this.#resolve(place.shard), place);
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    this.#resolve(shard).highlight?.(sink, shard);
  }
}

/** Returns `query` with a boost; itself where it is 1. */
export function boosted(query: Query, boost: number): Query {
  return boost === 1 ? query : new BoostNode(query, boost);
}

class ConstantScorer extends Scorer {
  readonly cost: number;
  readonly #inner: Scorer;
  readonly #score: number;

  constructor(inner: Scorer, score: number) {
    super();
    this.#inner = inner;
    this.cost = inner.cost;
    this.#score = score;
  }

  next(): number {
    return (this.doc = this.#inner.next());
  }

  advance(target: number): number {
    return (this.doc = this.#inner.advance(target));
  }

  score(): number {
    return this.#score;
  }

  override maxScoreFrom(): number {
    this.impactEnd = NO_MORE_DOCS;
    return this.#score;
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    const length = this.#inner.fill(docs, null);
    this.doc = this.#inner.doc;
    if (scores !== null) scores.fill(this.#score, 0, length);
    return length;
  }
}
