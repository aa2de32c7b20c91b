/** Queries around another one: a constant score, a boost, a choice by the shard's mapping, lowered scores. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainByScore, explainQuery, printFloat } from "#hub/search/explain/explanation.ts";
import {
  type DocumentLocation,
  type Explanation,
  type HighlightSink,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import { prepareAll } from "./set-algebra.ts";

/**
 * A query around another one, to which it delegates unless a method is overridden. `Required` makes the compiler ask
 * for members that `Query` gets later.
 */
export abstract class WrappedQuery implements Required<Query> {
  /** Returns the query inside. */
  protected abstract inner(shard: ShardContext): Query;

  /** Returns the query inside all queries around it. */
  unwrapped(shard: ShardContext): Query {
    const inner = this.inner(shard);
    return inner instanceof WrappedQuery ? inner.unwrapped(shard) : inner;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    return this.inner(shard).weight(shard, mode);
  }

  canMatch(shard: ShardContext): boolean {
    return this.inner(shard).canMatch?.(shard) ?? true;
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    this.inner(shard).highlight?.(sink, shard);
  }

  describe(shard: ShardContext): QueryDescription {
    return describeQuery(this.inner(shard), shard);
  }

  explain(place: DocumentLocation): Explanation {
    return explainQuery(this.inner(place.shard), place);
  }
}

/** Every member of a weight; those that are optional may be undefined. */
type AllOfWeight = { readonly [K in keyof Required<Weight>]: Weight[K] };

/** A weight for the documents of another one. The type makes the compiler ask for members that `Weight` gets later. */
export class WrappedWeight implements AllOfWeight {
  protected readonly inner: Weight;
  /** Undefined if the weight inside has no sets: conditions are planned by that. */
  readonly set: Weight["set"];
  readonly cost: Weight["cost"];

  constructor(inner: Weight) {
    this.inner = inner;
    this.set = inner.set === undefined ? undefined : (segment) => inner.set!(segment);
    this.cost = inner.cost === undefined ? undefined : (segment) => inner.cost!(segment);
  }

  get key(): string | undefined {
    return this.inner.key;
  }

  get isDear(): boolean {
    return this.inner.isDear === true;
  }

  scorer(segment: SegmentReader): Scorer | null {
    return this.inner.scorer(segment);
  }

  count(segment: SegmentReader): number {
    return this.inner.count(segment);
  }

  async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    await this.inner.prepare?.(segment, control);
  }
}

/** The documents of a weight with other scores. */
export class RescoredWeight extends WrappedWeight {
  readonly #rescore: (scorer: Scorer, segment: SegmentReader) => Scorer;
  readonly #others: readonly Weight[];

  /** `others`: weights that `rescore` walks as well. */
  constructor(
    inner: Weight,
    rescore: (scorer: Scorer, segment: SegmentReader) => Scorer,
    others: readonly Weight[] = [],
  ) {
    super(inner);
    this.#rescore = rescore;
    this.#others = others;
  }

  override scorer(segment: SegmentReader): Scorer | null {
    const scorer = this.inner.scorer(segment);
    return scorer === null ? null : this.#rescore(scorer, segment);
  }

  override async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    await super.prepare(segment, control);
    await prepareAll(this.#others, segment, control);
  }
}

/** The documents of a query, each with the score `boost`. */
export class ConstantNode extends WrappedQuery {
  readonly #inner: Query;

  constructor(inner: Query) {
    super();
    this.#inner = inner;
  }

  override weight(shard: ShardContext, { boost }: ScoreMode): Weight {
    const inner = this.#inner.weight(shard, { scores: false, boost: 1 });
    return new RescoredWeight(inner, (scorer) => new ConstantScorer(scorer, boost));
  }

  override describe(shard: ShardContext): QueryDescription {
    const { text } = describeQuery(this.#inner, shard);
    return { type: "ConstantScoreQuery", text: `ConstantScore(${text})`, children: [this.#inner] };
  }

  override explain(place: DocumentLocation): Explanation {
    return explainByScore(this, place);
  }

  protected inner(): Query {
    return this.#inner;
  }
}

/** A query whose scores are multiplied by `boost`. */
export class BoostNode extends WrappedQuery {
  /** The query without its boost. */
  readonly query: Query;
  readonly boost: number;

  constructor(query: Query, boost: number) {
    super();
    this.query = query;
    this.boost = boost;
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    return this.query.weight(shard, { ...mode, boost: mode.boost * this.boost });
  }

  override describe(shard: ShardContext): QueryDescription {
    const { text } = describeQuery(this.query, shard);
    const boost = printFloat(this.boost);
    return { type: "BoostQuery", text: `(${text})^${boost}`, children: [this.query] };
  }

  override explain(place: DocumentLocation): Explanation {
    return explainQuery(this.query, { ...place, boost: place.boost * this.boost });
  }

  protected inner(): Query {
    return this.query;
  }
}

/** A query that depends on the mapping of the shard it runs on. */
export class MappedNode extends WrappedQuery {
  readonly #resolve: (shard: ShardContext) => Query;

  constructor(resolve: (shard: ShardContext) => Query) {
    super();
    this.#resolve = resolve;
  }

  /** Resolving may take long, as with a text that is analysed. */
  override canMatch(_shard: ShardContext): boolean {
    return true;
  }

  protected inner(shard: ShardContext): Query {
    return this.#resolve(shard);
  }
}

/** A range, of which the mapping says what its bounds are. */
export class MappedRangeNode extends MappedNode {
  override canMatch(shard: ShardContext): boolean {
    return this.inner(shard).canMatch?.(shard) ?? true;
  }
}

/** A query whose scores are multiplied by `factor` if another query matches as well. */
export class BoostingNode extends WrappedQuery {
  readonly #positive: Query;
  readonly #negative: Query;
  readonly #factor: number;

  constructor(positive: Query, negative: Query, factor: number) {
    super();
    this.#positive = positive;
    this.#negative = negative;
    this.#factor = factor;
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    const positive = this.#positive.weight(shard, mode);
    if (!mode.scores) return positive;
    const negative = this.#negative.weight(shard, { scores: false, boost: 1 });
    const rescore = (scorer: Scorer, segment: SegmentReader): Scorer => {
      const isNegative = membership(negative.scorer(segment));
      return new RescoredScorer(scorer, (doc, score) => (isNegative(doc) ? score * this.#factor : score));
    };
    return new RescoredWeight(positive, rescore, [negative]);
  }

  override describe(shard: ShardContext): QueryDescription {
    const children = [this.#positive, this.#negative];
    const texts = children.map((query) => describeQuery(query, shard).text);
    return { type: "BoostingQuery", text: `${texts.join("/")}^${printFloat(this.#factor)}`, children };
  }

  override explain(place: DocumentLocation): Explanation {
    return explainByScore(this, place);
  }

  protected inner(): Query {
    return this.#positive;
  }
}

/** Returns `query` with a boost; `query` itself if the boost is 1. */
export function boosted(query: Query, boost: number): Query {
  return boost === 1 ? query : new BoostNode(query, boost);
}

/** The documents of a scorer with scores that are made of the document and its score. */
export class RescoredScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  readonly #inner: Scorer;
  readonly #rescore: (doc: number, score: number) => number;

  /** `rescore` is called with documents in ascending order, at most once for each. */
  constructor(inner: Scorer, rescore: (doc: number, score: number) => number) {
    super();
    this.#inner = inner;
    this.isApproximate = inner.isApproximate;
    this.cost = inner.cost;
    this.#rescore = rescore;
  }

  next(): number {
    return (this.doc = this.#inner.next());
  }

  advance(target: number): number {
    return (this.doc = this.#inner.advance(target));
  }

  override seek(target: number): number {
    return (this.doc = this.#inner.seek(target));
  }

  override matches(): boolean {
    return this.#inner.matches();
  }

  score(): number {
    return Math.fround(this.#rescore(this.doc, this.#inner.score()));
  }
}

/** Returns a test of documents in ascending order; null accepts none. */
export function membership(scorer: Scorer | null): (doc: number) => boolean {
  if (scorer === null) return () => false;
  return (doc) => scorer.has(doc);
}

class ConstantScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate: boolean;
  readonly #inner: Scorer;
  readonly #score: number;

  constructor(inner: Scorer, score: number) {
    super();
    this.#inner = inner;
    this.cost = inner.cost;
    this.isApproximate = inner.isApproximate;
    this.#score = score;
  }

  next(): number {
    return (this.doc = this.#inner.next());
  }

  advance(target: number): number {
    return (this.doc = this.#inner.advance(target));
  }

  override seek(target: number): number {
    return (this.doc = this.#inner.seek(target));
  }

  override matches(): boolean {
    return this.#inner.matches();
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
