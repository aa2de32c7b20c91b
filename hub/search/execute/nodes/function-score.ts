/** Combines the scores of a query with functions of the documents. */

import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { describeQuery, explainQuery, match, noMatch } from "#hub/search/explain/explanation.ts";
import {
  type DocumentLocation,
  type Explanation,
  NO_MORE_DOCS,
  type Query,
  type QueryDescription,
  type ScoreMode,
  type ShardContext,
  type Weight,
} from "#hub/search/query/query.ts";
import type { Scorer } from "#hub/search/query/scorer.ts";
import type { ScoreFunction } from "#hub/search/scoring/score-functions.ts";
import { AppError } from "#proto/kit/errors.ts";
import { doubleText } from "#proto/kit/number-text.ts";
import { prepareAll } from "./set-algebra.ts";
import { membership, RescoredScorer, RescoredWeight, WrappedQuery } from "./wrapped-query.ts";

export type ScoreJoin = "multiply" | "sum" | "avg" | "first" | "max" | "min";
export type BoostJoin = "multiply" | "replace" | "sum" | "avg" | "max" | "min";

/** A function with the documents it is for. */
export interface WeightedFunction {
  /** Undefined: all. */
  readonly filter: Query | undefined;
  /** Undefined: 1, so that only the weight counts. */
  readonly score: ScoreFunction | undefined;
  readonly weight: number;
}

export interface FunctionScoreOptions {
  readonly functions: readonly WeightedFunction[];
  readonly scoreMode: ScoreJoin;
  readonly boostMode: BoostJoin;
  /** Largest value of all functions together. */
  readonly maxBoost: number;
  /** Documents below it don't match. */
  readonly minScore: number | undefined;
  /** True: a boost multiplies the result, false: the query's score that the functions see. */
  readonly boostsResult?: boolean;
  /** True: a search throws request_invalid if a score is negative, or no number. */
  readonly refusesNegative?: boolean;
}

interface Term {
  readonly applies: (doc: number) => boolean;
  readonly score: (doc: number, score: number) => number;
  readonly weight: number;
}

export class FunctionScoreNode extends WrappedQuery {
  readonly #inner: Query;
  readonly #options: FunctionScoreOptions;

  constructor(inner: Query, options: FunctionScoreOptions) {
    super();
    this.#inner = inner;
    this.#options = options;
  }

  override weight(shard: ShardContext, mode: ScoreMode): Weight {
    const { minScore } = this.#options;
    if (minScore !== undefined) shard.requireOne(); // scores are by the statistics of each shard
    const scores = mode.scores || minScore !== undefined;
    const { boostsResult = false } = this.#options;
    const inner = this.#inner.weight(shard, { scores, boost: boostsResult ? 1 : mode.boost });
    const functions = this.#options.functions.map(({ filter, score, weight }) => ({
      filter: filter?.weight(shard, { scores: false, boost: 1 }),
      score: score?.bind(shard),
      weight,
    }));
    if (!scores) return inner;
    const rescore = (scorer: Scorer, segment: SegmentReader): Scorer => {
      const terms = functions.map((each): Term => termOf(each, segment));
      const rescored = new RescoredScorer(scorer, (doc, score) =>
        this.#checked(this.#combine(terms, doc, score), doc),
      );
      const kept = minScore === undefined ? rescored : new MinScoreScorer(rescored, minScore);
      return boostsResult ? new RescoredScorer(kept, (_doc, score) => score * mode.boost) : kept;
    };
    const filters = functions.map(({ filter }) => filter).filter((each) => each !== undefined);
    if (minScore === undefined) return new RescoredWeight(inner, rescore, filters);
    return {
      scorer: (segment) => {
        const scorer = inner.scorer(segment);
        return scorer === null ? null : rescore(scorer, segment);
      },
      count: () => -1,
      isDear: true,
      prepare: (segment, control) => prepareAll([inner, ...filters], segment, control),
    };
  }

  override describe(shard: ShardContext): QueryDescription {
    const { text } = describeQuery(this.#inner, shard);
    return { type: "FunctionScoreQuery", text: `function score (${text})`, children: [this.#inner] };
  }

  override explain(place: DocumentLocation): Explanation {
    const inner = explainQuery(this.#inner, place);
    const { shard, segment, doc, boost } = place;
    const scorer = this.weight(shard, { scores: true, boost }).scorer(segment);
    if (scorer === null || scorer.advance(doc) !== doc) return noMatch("no matching clause", [inner]);
    const { boostMode, scoreMode, functions } = this.#options;
    const how = `${functions.length} functions, [score_mode: ${scoreMode}] [boost_mode: ${boostMode}]`;
    return match(scorer.score(), `function score, of the query's score and ${how}:`, [inner]);
  }

  protected inner(): Query {
    return this.#inner;
  }

  #checked(score: number, doc: number): number {
    if (score >= 0 || this.#options.refusesNegative !== true) return score;
    throw new AppError(
      "request_invalid",
      `function score query returned an invalid score: ${doubleText(score)} for doc: ${doc}`,
    );
  }

  #combine(terms: readonly Term[], doc: number, score: number): number {
    const factor = Math.min(this.#options.maxBoost, joinTerms(terms, doc, score, this.#options.scoreMode));
    switch (this.#options.boostMode) {
      case "multiply":
        return score * factor;
      case "replace":
        return factor;
      case "sum":
        return score + factor;
      case "avg":
        return (score + factor) / 2;
      case "max":
        return Math.max(score, factor);
      case "min":
        return Math.min(score, factor);
    }
  }
}

function termOf(
  {
    filter,
    score,
    weight,
  }: {
    filter: Weight | undefined;
    score: ReturnType<ScoreFunction["bind"]> | undefined;
    weight: number;
  },
  segment: SegmentReader,
): Term {
  return {
    applies: filter === undefined ? () => true : membership(filter.scorer(segment)),
    score: score === undefined ? () => 1 : score(segment),
    weight,
  };
}

/** Joins the functions that apply; 1 if none does. */
function joinTerms(terms: readonly Term[], doc: number, before: number, mode: ScoreJoin): number {
  const values: number[] = [];
  let weights = 0;
  for (const { applies, score, weight } of terms) {
    if (!applies(doc)) continue;
    values.push(weight * score(doc, before));
    weights += weight;
    if (mode === "first") break;
  }
  if (values.length === 0) return 1;
  switch (mode) {
    case "first":
      return values[0]!;
    case "max":
      return Math.max(...values);
    case "min":
      return Math.min(...values);
    case "multiply":
      return values.reduce((product, value) => product * value, 1);
    case "sum":
    case "avg": {
      const sum = values.reduce((total, value) => total + value, 0);
      return mode === "sum" ? sum : weights === 0 ? 0 : sum / weights;
    }
  }
}

/** Leaves out documents whose score is too low. */
class MinScoreScorer extends RescoredScorer {
  /** The next document that scores enough may be far away, and a script may compute each score. */
  override readonly isApproximate = true;
  readonly #minimum: number;
  #score = 0;

  constructor(inner: Scorer, minimum: number) {
    super(inner, (_, score) => score);
    this.#minimum = minimum;
  }

  override next(): number {
    return this.#settle(super.next());
  }

  override advance(target: number): number {
    return this.#settle(super.advance(target));
  }

  override matches(): boolean {
    return super.matches() && (this.#score = super.score()) >= this.#minimum;
  }

  override score(): number {
    return this.#score;
  }

  #settle(first: number): number {
    let doc = first;
    while (doc !== NO_MORE_DOCS && (this.#score = super.score()) < this.#minimum) doc = super.next();
    return doc;
  }
}
