/** Matches documents of any of several queries and scores them by the best one (dis_max). */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainQuery, match, noMatch } from "#hub/search/explain/explanation.ts";
import type {
  DocumentLocation,
  Explanation,
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import { DisjunctionScorer } from "./disjunction.ts";
import { prepareAll } from "./set-algebra.ts";

export class BestOfNode implements Query {
  readonly #queries: readonly Query[];
  readonly #tieBreaker: number;

  /** `tieBreaker`, 0..1: share of the other scores that is added to the best. */
  constructor(queries: readonly Query[], tieBreaker: number) {
    this.#queries = queries;
    this.#tieBreaker = tieBreaker;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const weights = this.#queries.map((query) => query.weight(shard, mode));
    return {
      scorer: (segment: SegmentReader): Scorer | null => {
        const found = weights.map((weight) => weight.scorer(segment)).filter((each) => each !== null);
        if (found.length < 2) return found[0] ?? null;
        return new DisjunctionScorer(found, 1, segment.docCount, mode.scores, this.#tieBreaker);
      },
      count: () => -1,
      isDear: weights.some((weight) => weight.isDear === true),
      prepare: (segment, control) => prepareAll(weights, segment, control),
    };
  }

  describe(shard: ShardContext): QueryDescription {
    const texts = this.#queries.map((query) => describeQuery(query, shard).text);
    const tie = this.#tieBreaker === 0 ? "" : `~${this.#tieBreaker}`;
    return { type: "DisjunctionMaxQuery", text: `(${texts.join(" | ")})${tie}`, children: this.#queries };
  }

  explain(place: DocumentLocation): Explanation {
    const all = this.#queries.map((query) => explainQuery(query, place)).filter(({ matches }) => matches);
    if (all.length === 0) return noMatch("No matching clause");
    const best = Math.max(...all.map(({ value }) => value));
    const sum = all.reduce((total, { value }) => total + value, 0);
    const name = this.#tieBreaker === 0 ? "max of:" : `max plus ${this.#tieBreaker} times others of:`;
    return match(best + this.#tieBreaker * (sum - best), name, all);
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    for (const query of this.#queries) query.highlight?.(sink, shard);
  }
}

/** Returns a query that scores by the best of `queries`; a single query is returned unchanged. */
export function bestOf(queries: readonly Query[], tieBreaker = 0): Query {
  return queries.length === 1 ? queries[0]! : new BestOfNode(queries, tieBreaker);
}
