/** Random queries with the score of each document: arithmetic on constants, on numbers of fields, and BM25 of single words. */

import { WORDS } from "./corpus.ts";
import { type Item, type Json, numbersOf, tokensOf } from "./documents.ts";
import { randomQuestion } from "./queries.ts";
import type { Subject } from "./question.ts";

export interface ScoredQuestion {
  readonly query: Json;
  /** Score of a document; undefined: it doesn't match. */
  readonly score: (item: Item) => number | undefined;
}

/** Parameters of BM25 (Robertson and Zaragoza, 2009) as Lucene 7 has them. */
const K1 = 1.2;
const B = 0.75;

export function randomScored(subject: Subject, depth: number): ScoredQuestion {
  const { dice } = subject;
  if (depth <= 0 || dice.chance(0.25))
    return dice.pick(hasStatistics(subject) ? [constant, byField, word, word] : [constant, byField])(subject);
  return dice.pick([bool, bool, disMax, boosting, functionScore, functionScore])(subject, depth - 1);
}

function constant(subject: Subject): ScoredQuestion {
  const { query, fits } = randomQuestion(subject, 1);
  const boost = subject.dice.pick([0.5, 1, 2, 3.5]);
  return {
    query: { constant_score: { filter: query, boost } },
    score: (item) => (fits(item) ? boost : undefined),
  };
}

function byField(subject: Subject): ScoredQuestion {
  const { query, fits } = randomQuestion(subject, 0);
  const { dice } = subject;
  const [modifier, compute] = dice.pick<readonly [string, (value: number) => number]>([
    ["none", (value) => value],
    ["log1p", (value) => Math.log10(value + 1)],
    ["ln2p", (value) => Math.log(value + 2)],
    ["sqrt", Math.sqrt],
    ["square", (value) => value * value],
    ["log2p", (value) => Math.log10(value + 2)],
  ]);
  const factor = dice.pick([1, 0.5, 3]);
  const functions = [{ field_value_factor: { field: "m", modifier, factor, missing: 2 } }];
  return {
    query: { function_score: { query, functions, boost_mode: "replace" } },
    score(item) {
      const numbers = numbersOf(item, "m");
      if (!fits(item)) return undefined;
      const value = numbers.length === 0 ? 2 : Math.min(...numbers);
      return compute(value * factor);
    },
  };
}

/** Each shard scores by its own documents, deleted ones included; which documents it has, and had, isn't known here. */
function hasStatistics({ shards, hasDeleted }: Subject): boolean {
  return shards === 1 && !hasDeleted;
}

/** BM25 of a word. */
function word({ dice, items }: Subject): ScoredQuestion {
  const text = dice.pick(WORDS);
  const lists = items.map((item) => tokensOf(item, "t").flat()).filter((tokens) => tokens.length > 0);
  const containing = lists.filter((tokens) => tokens.includes(text)).length;
  const average = lists.reduce((sum, tokens) => sum + tokens.length, 0) / lists.length;
  const idf = Math.log(1 + (lists.length - containing + 0.5) / (containing + 0.5));
  const boost = dice.pick([1, 1, 2.5]);
  return {
    query: { match: { t: { query: text, boost } } },
    score(item) {
      const tokens = tokensOf(item, "t").flat();
      const frequency = tokens.filter((token) => token === text).length;
      if (frequency === 0) return undefined;
      return (
        (boost * idf * frequency * (K1 + 1)) / (frequency + K1 * (1 - B + (B * tokens.length) / average))
      );
    },
  };
}

function sumOf(scores: readonly (number | undefined)[]): number {
  return scores.reduce<number>((sum, each) => sum + (each ?? 0), 0);
}

function bool(subject: Subject, depth: number): ScoredQuestion {
  const { dice } = subject;
  const must = dice.times(dice.below(3), () => randomScored(subject, depth));
  const should = dice.times(dice.between(must.length === 0 ? 1 : 0, 3), () => randomScored(subject, depth));
  const filter = dice.times(dice.below(2), () => randomQuestion(subject, 0));
  const least = dice.between(must.length + filter.length === 0 ? 1 : 0, should.length);
  return {
    query: {
      bool: {
        must: must.map(({ query }) => query),
        should: should.map(({ query }) => query),
        filter: filter.map(({ query }) => query),
        ...(should.length === 0 ? {} : { minimum_should_match: least }),
      },
    },
    score(item) {
      const [needed, further] = [must, should].map((list) => list.map((each) => each.score(item)));
      if (needed!.includes(undefined) || !filter.every((each) => each.fits(item))) return undefined;
      const found = further!.filter((each) => each !== undefined).length;
      return found < (should.length === 0 ? 0 : least) ? undefined : sumOf(needed!) + sumOf(further!);
    },
  };
}

function disMax(subject: Subject, depth: number): ScoredQuestion {
  const queries = subject.dice.times(3, () => randomScored(subject, depth));
  const tie = subject.dice.pick([0, 0.3, 1]);
  return {
    query: { dis_max: { queries: queries.map(({ query }) => query), tie_breaker: tie } },
    score(item) {
      const scores = queries.map((each) => each.score(item)).filter((score) => score !== undefined);
      if (scores.length === 0) return undefined;
      const best = Math.max(...scores);
      return best + tie * (sumOf(scores) - best);
    },
  };
}

function boosting(subject: Subject, depth: number): ScoredQuestion {
  const positive = randomScored(subject, depth);
  const negative = randomQuestion(subject, 1);
  const factor = subject.dice.pick([0.2, 0.5]);
  return {
    query: { boosting: { positive: positive.query, negative: negative.query, negative_boost: factor } },
    score(item) {
      const score = positive.score(item);
      return score === undefined || !negative.fits(item) ? score : score * factor;
    },
  };
}

const MEANS: Readonly<Record<string, (values: readonly number[], weights: readonly number[]) => number>> = {
  multiply: (values) => values.reduce((product, each) => product * each, 1),
  sum: sumOf,
  avg: (values, weights) => sumOf(values) / sumOf(weights),
  first: (values) => values[0]!,
  max: (values) => Math.max(...values),
  min: (values) => Math.min(...values),
};
const MODES: Readonly<Record<string, (score: number, factor: number) => number>> = {
  multiply: (score, factor) => score * factor,
  replace: (_, factor) => factor,
  sum: (score, factor) => score + factor,
  avg: (score, factor) => (score + factor) / 2,
  max: Math.max,
  min: Math.min,
};

interface ScoreFunction {
  readonly body: Json;
  readonly weight: number;
  /** Times the weight; undefined: the function has a filter that the document doesn't match. */
  readonly value: (item: Item) => number | undefined;
}

function functionScore(subject: Subject, depth: number): ScoredQuestion {
  const { dice } = subject;
  const inner = randomScored(subject, depth);
  const functions = dice.times(dice.between(1, 3), () => scoreFunction(subject));
  const [scoreMode, combine] = dice.pick(Object.entries(MEANS));
  const [boostMode, apply] = dice.pick(Object.entries(MODES));
  const most = dice.chance(0.3) ? 3 : Number.MAX_VALUE;
  const body: Json = {
    query: inner.query,
    functions: functions.map((each) => each.body),
    score_mode: scoreMode,
    boost_mode: boostMode,
    ...(most === 3 ? { max_boost: most } : {}),
  };
  return {
    query: { function_score: body },
    score(item) {
      const score = inner.score(item);
      if (score === undefined) return undefined;
      const applied = functions.filter((each) => each.value(item) !== undefined);
      const values = applied.map((each) => each.value(item)!);
      // Without a function that applies the factor is 1.
      const factor =
        values.length === 0
          ? 1
          : combine(
              values,
              applied.map(({ weight }) => weight),
            );
      return apply(score, Math.min(factor, most));
    },
  };
}

function scoreFunction(subject: Subject): ScoreFunction {
  const { dice } = subject;
  const filter = dice.chance(0.6) ? randomQuestion(subject, 0) : undefined;
  const weight = dice.pick([1, 2, 5]);
  const [kind, value] = dice.pick([weightAlone, decay, scripted])(subject);
  return {
    body: { ...kind, weight, ...(filter === undefined ? {} : { filter: filter.query }) },
    weight,
    value: (item) => (filter === undefined || filter.fits(item) ? weight * value(item) : undefined),
  };
}

type NumberOf = (item: Item) => number;

function weightAlone(): readonly [Json, NumberOf] {
  return [{}, () => 1];
}

function scripted(): readonly [Json, NumberOf] {
  return [
    { script_score: { script: { source: "doc['u'].value % 10 + 1" } } },
    (item) => (numbersOf(item, "u")[0]! % 10) + 1,
  ];
}

/** The value of the number nearest to the origin; 1 without a number. */
function decay({ dice }: Subject): readonly [Json, NumberOf] {
  const origin = dice.between(-20, 20);
  const [scale, offset, rest] = [dice.pick([5, 30]), dice.pick([0, 4]), dice.pick([0.3, 0.5])];
  const curves: Readonly<Record<string, (distance: number) => number>> = {
    linear: (distance) => Math.max(0, (scale / (1 - rest) - distance) / (scale / (1 - rest))),
    exp: (distance) => Math.exp((Math.log(rest) / scale) * distance),
    gauss: (distance) => Math.exp((distance * distance * Math.log(rest)) / (scale * scale)),
  };
  const [name, curve] = dice.pick(Object.entries(curves));
  return [
    { [name]: { n: { origin, scale, offset, decay: rest } } },
    (item) => {
      const distances = numbersOf(item, "n").map((number) => Math.max(0, Math.abs(number - origin) - offset));
      return distances.length === 0 ? 1 : curve(Math.min(...distances));
    },
  ];
}
