/** Matches documents with intervals. More and shorter intervals score higher. */

import type {
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import { NO_MORE_DOCS, Scorer } from "#hub/search/query/query.ts";
import type { Intervals } from "./algebra.ts";
import type { IntervalReader, IntervalSource } from "./source.ts";

/** Documents without intervals between two pauses. */
const MAX_LOOKED = 4096;

/** Sum of nearness at which a document has half of the highest score, as in Lucene. */
const PIVOT = 1;

export class IntervalNode implements Query {
  readonly #source: IntervalSource;

  /** `source`: bound to the shard that the node is for. */
  constructor(source: IntervalSource) {
    this.#source = source;
  }

  weight(shard: ShardContext, { boost }: ScoreMode): Weight {
    const candidates = this.#source.candidates.weight(shard, { scores: false, boost: 1 });
    return {
      scorer: (segment) => {
        const scorer = candidates.scorer(segment);
        if (scorer === null) return null;
        return new IntervalScorer(scorer, this.#source.open(segment), this.#source.minExtent, boost);
      },
      count: () => -1,
      prepare: async (segment, control) => {
        await candidates.prepare?.(segment, control);
        await this.#source.prepare?.(segment, control);
      },
    };
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    this.#source.candidates.highlight?.(sink, shard);
  }

  describe(): QueryDescription {
    return { type: "IntervalQuery", text: "intervals" };
  }
}

class IntervalScorer extends Scorer {
  readonly cost: number;
  readonly #candidates: Scorer;
  readonly #read: IntervalReader;
  readonly #minExtent: number;
  readonly #boost: number;
  #found: Intervals = [];
  /** Documents without intervals that were looked at. */
  #looked = 0;

  constructor(candidates: Scorer, read: IntervalReader, minExtent: number, boost: number) {
    super();
    this.#candidates = candidates;
    this.cost = candidates.cost;
    this.#read = read;
    this.#minExtent = minExtent;
    this.#boost = boost;
  }

  next(): number {
    return this.doc === NO_MORE_DOCS ? NO_MORE_DOCS : this.advance(this.doc + 1);
  }

  advance(target: number): number {
    return this.#search(target, Number.POSITIVE_INFINITY);
  }

  override fill(docs: Int32Array, scores: Float32Array | null): number {
    const last = this.#looked + MAX_LOOKED;
    let length = 0;
    while (length < docs.length && this.#looked < last && this.doc !== NO_MORE_DOCS) {
      const doc = this.#search(this.doc + 1, last);
      if (doc === NO_MORE_DOCS) break;
      if (this.#found.length === 0) continue;
      if (scores !== null) scores[length] = this.score();
      docs[length++] = doc;
    }
    return length;
  }

  score(): number {
    let nearness = 0;
    for (const { start, end } of this.#found) nearness += 1 / (end - start + 2 - this.#minExtent);
    return Math.fround((this.#boost * nearness) / (nearness + PIVOT));
  }

  /** Moves to the next document with intervals, or, where `last` have been looked at by then, to one without. */
  #search(target: number, last: number): number {
    const candidates = this.#candidates;
    let doc = candidates.doc < target ? candidates.advance(target) : candidates.doc;
    for (; doc !== NO_MORE_DOCS; doc = candidates.next()) {
      this.#found = this.#read(doc);
      if (this.#found.length > 0 || ++this.#looked >= last) break;
    }
    return (this.doc = doc);
  }
}
