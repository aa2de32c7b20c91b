/** Matches documents with intervals. More and shorter intervals score higher. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import type {
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import { NO_MORE_DOCS } from "#hub/search/query/query.ts";
import { Scorer } from "#hub/search/query/scorer.ts";
import type { SearchControl } from "#hub/search/query/search-control.ts";
import type { Intervals } from "./algebra.ts";
import { markIntervals } from "./marked-tokens.ts";
import type { IntervalReader, IntervalSource } from "./source.ts";

/** Documents between two checks whether the search has to end. */
const LOOKED_A_LOOK = 16;

/** Sum of nearness at which a document has half of the highest score, as in Lucene. */
const PIVOT = 1;

export class IntervalNode implements Query {
  readonly #bind: (shard: ShardContext) => IntervalSource;

  /** `bind`: returns the intervals in a shard. Throws query_shard. */
  constructor(bind: (shard: ShardContext) => IntervalSource) {
    this.#bind = bind;
  }

  weight(shard: ShardContext, { boost }: ScoreMode): Weight {
    const source = this.#bind(shard);
    return new IntervalWeight(source, shard, () => (found) => {
      let nearness = 0;
      for (const { start, end } of found) nearness += 1 / (end - start + 2 - source.minExtent);
      return Math.fround((boost * nearness) / (nearness + PIVOT));
    });
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    markIntervals(this.#bind(shard), sink, shard);
  }

  describe(): QueryDescription {
    return { type: "IntervalQuery", text: "intervals" };
  }
}

/** Returns the score of a document by its intervals. */
export type IntervalScore = (found: Intervals, doc: number) => number;

/** Documents with intervals of a source. */
export class IntervalWeight implements Weight {
  readonly isDear = true;
  readonly #source: IntervalSource;
  readonly #candidates: Weight;
  readonly #scores: (segment: SegmentReader) => IntervalScore;
  #control: SearchControl | undefined;

  constructor(
    source: IntervalSource,
    shard: ShardContext,
    scores: (segment: SegmentReader) => IntervalScore,
  ) {
    this.#source = source;
    this.#candidates = source.candidates.weight(shard, { scores: false, boost: 1 });
    this.#scores = scores;
  }

  scorer(segment: SegmentReader): IntervalScorer | null {
    const scorer = this.#candidates.scorer(segment);
    if (scorer === null) return null;
    const isOver = (): boolean => this.#control?.isOver === true;
    return new IntervalScorer(scorer, this.#source.open(segment), this.#scores(segment), isOver);
  }

  count(): number {
    return -1;
  }

  async prepare(segment: SegmentReader, control: SearchControl): Promise<void> {
    this.#control = control;
    await this.#candidates.prepare?.(segment, control);
    await this.#source.prepare?.(segment, control);
  }
}

export class IntervalScorer extends Scorer {
  readonly cost: number;
  override readonly isApproximate = true;
  readonly #isOver: () => boolean;
  readonly #candidates: Scorer;
  readonly #read: IntervalReader;
  readonly #score: IntervalScore;
  #found: Intervals = [];
  /** The document that they are of. */
  #readDoc = -1;
  /** Documents that were examined. */
  #looked = 0;

  /** `isOver`: whether the search only has to end. */
  constructor(candidates: Scorer, read: IntervalReader, score: IntervalScore, isOver: () => boolean) {
    super();
    this.#isOver = isOver;
    this.#candidates = candidates;
    this.cost = candidates.cost;
    this.#read = read;
    this.#score = score;
  }

  /** Those of the current document. */
  get intervals(): Intervals {
    return this.#found;
  }

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  advance(target: number): number {
    return this.#search(target);
  }

  override seek(target: number): number {
    const candidates = this.#candidates;
    if (candidates.doc < target) candidates.advance(target);
    return (this.doc = candidates.doc);
  }

  override matches(): boolean {
    this.#readAt(this.doc);
    return this.#found.length > 0;
  }

  score(): number {
    return this.#score(this.#found, this.doc);
  }

  /** Moves to the next document with intervals; to the end if the search has to end. */
  #search(target: number): number {
    const candidates = this.#candidates;
    let doc = candidates.doc < target ? candidates.advance(target) : candidates.doc;
    for (; doc !== NO_MORE_DOCS; doc = candidates.next()) {
      this.#readAt(doc);
      if (this.#found.length > 0) return (this.doc = doc);
      if (this.#looked % LOOKED_A_LOOK === 0 && this.#isOver()) break;
    }
    this.#found = [];
    return (this.doc = NO_MORE_DOCS);
  }

  #readAt(doc: number): void {
    if (doc === this.#readDoc) return;
    this.#readDoc = doc;
    this.#looked++;
    this.#found = doc === NO_MORE_DOCS ? [] : this.#read(doc);
  }
}
