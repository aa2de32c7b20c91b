/** A query whose scores are lowered where another one matches. */

import { describeQuery, printFloat } from "#hub/search/explain/explanation.ts";
import type {
  HighlightSink,
  Query,
  QueryDescription,
  ScoreMode,
  ShardContext,
  Weight,
} from "#hub/search/query/query.ts";
import { membership, RescoredScorer } from "./rescored.ts";
import { prepareAll } from "./set-algebra.ts";

export class BoostingNode implements Query {
  readonly #positive: Query;
  readonly #negative: Query;
  readonly #factor: number;

  constructor(positive: Query, negative: Query, factor: number) {
    this.#positive = positive;
    this.#negative = negative;
    this.#factor = factor;
  }

  weight(shard: ShardContext, mode: ScoreMode): Weight {
    const positive = this.#positive.weight(shard, mode);
    if (!mode.scores) return positive;
    const negative = this.#negative.weight(shard, { scores: false, boost: 1 });
    return {
      scorer: (segment) => {
        const scorer = positive.scorer(segment);
        if (scorer === null) return null;
        const isNegative = membership(negative.scorer(segment));
        return new RescoredScorer(scorer, (doc, score) => (isNegative(doc) ? score * this.#factor : score));
      },
      count: (segment) => positive.count(segment),
      prepare: (segment, control) => prepareAll([positive, negative], segment, control),
    };
  }

  describe(shard: ShardContext): QueryDescription {
    const texts = [this.#positive, this.#negative].map((query) => describeQuery(query, shard).text);
    const children = [this.#positive, this.#negative];
    return { type: "BoostingQuery", text: `${texts.join("/")}^${printFloat(this.#factor)}`, children };
  }

  highlight(sink: HighlightSink, shard: ShardContext): void {
    this.#positive.highlight?.(sink, shard);
  }
}
