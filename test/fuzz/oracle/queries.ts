/** Random queries of all kinds. */

import { dateRange } from "./date-queries.ts";
import { itemsAt, type Json, type Level, NESTED_PATHS } from "./documents.ts";
import { leastClauses, randomLeast } from "./least-clauses.ts";
import { queryString } from "./query-string.ts";
import type { Question, Subject } from "./question.ts";
import { scriptQuery } from "./scripts.ts";
import { queryStringOfFields, simpleQueryString } from "./simple-query-string.ts";
import { textQuery } from "./text-queries.ts";
import { addressBlock, exists, fuzzyKeyword, ids, pattern, range, term, terms } from "./value-queries.ts";

type Maker = (subject: Subject, level: Level) => Question;

const SIMPLE: readonly Maker[] = [
  term,
  term,
  terms,
  range,
  range,
  dateRange,
  dateRange,
  exists,
  pattern,
  pattern,
  fuzzyKeyword,
  textQuery,
  textQuery,
  textQuery,
  () => ({ query: { match_all: {} }, fits: () => true }),
];
/** Parts have neither times nor texts. */
const OF_PARTS: readonly Maker[] = SIMPLE.filter((maker) => maker !== dateRange && maker !== textQuery);
/** Of documents of the index alone. */
const OF_ROOTS: readonly Maker[] = [
  ids,
  addressBlock,
  queryString,
  queryString,
  queryStringOfFields,
  simpleQueryString,
  scriptQuery,
];

/** Returns a random query; `depth`: how many levels of compound queries it may have. */
export function randomQuestion(subject: Subject, depth: number, level: Level = "root"): Question {
  const { dice } = subject;
  if (depth <= 0 || dice.chance(0.3)) {
    const makers = level === "root" ? [...SIMPLE, ...OF_ROOTS] : level === "object" ? SIMPLE : OF_PARTS;
    return dice.pick(makers)(subject, level);
  }
  const makers = [bool, bool, bool, constantScore, disMax, boosting, functionScore];
  return dice.pick(level === "part" ? makers : [...makers, nested])(subject, depth - 1, level);
}

function bool(subject: Subject, depth: number, level: Level): Question {
  const { dice } = subject;
  const some = (probability: number, most: number): Question[] =>
    dice.chance(probability)
      ? dice.times(1 + dice.below(most), () => randomQuestion(subject, depth, level))
      : [];
  const must = some(0.4, 2);
  const filter = some(0.4, 2);
  const mustNot = some(0.3, 2);
  const should = some(0.6, 5);
  const isOptional = must.length + filter.length > 0;
  // Other clauses are needed for should to be optional in any context: 6.5 wants one of it where the bool is in a filter.
  const least =
    should.length > 0 && dice.chance(isOptional ? 1 : 0.5) ? randomLeast(dice, should.length) : undefined;
  const needed = neededShould(should.length, isOptional, least);
  const clauses: Json = {};
  for (const [name, list] of Object.entries({ must, filter, must_not: mustNot, should }))
    if (list.length > 0) clauses[name] = list.map(({ query }) => query);
  if (least !== undefined) clauses["minimum_should_match"] = least;
  return {
    query: { bool: clauses },
    fits: (item) =>
      must.every((each) => each.fits(item)) &&
      filter.every((each) => each.fits(item)) &&
      !mustNot.some((each) => each.fits(item)) &&
      should.filter((each) => each.fits(item)).length >= needed,
  };
}

/** A bool of nothing but should, and must_not, needs one of them: no number of it says that none is enough. */
function neededShould(clauses: number, isOptional: boolean, least: string | number | undefined): number {
  if (clauses === 0) return 0;
  const asked = least === undefined ? 0 : leastClauses(clauses, least);
  return isOptional ? asked : Math.max(1, asked);
}

function constantScore(subject: Subject, depth: number, level: Level): Question {
  const { query, fits } = randomQuestion(subject, depth, level);
  return { query: { constant_score: { filter: query } }, fits };
}

function disMax(subject: Subject, depth: number, level: Level): Question {
  const all = subject.dice.times(2, () => randomQuestion(subject, depth, level));
  return {
    query: { dis_max: { queries: all.map(({ query }) => query) } },
    fits: (item) => all.some((each) => each.fits(item)),
  };
}

function boosting(subject: Subject, depth: number, level: Level): Question {
  const positive = randomQuestion(subject, depth, level);
  const negative = randomQuestion(subject, depth, level);
  return {
    query: { boosting: { positive: positive.query, negative: negative.query, negative_boost: 0.5 } },
    fits: positive.fits,
  };
}

function functionScore(subject: Subject, depth: number, level: Level): Question {
  const { query, fits } = randomQuestion(subject, depth, level);
  return { query: { function_score: { query, weight: 2 } }, fits };
}

function nested(subject: Subject, depth: number, level: Level): Question {
  const below = level === "root" ? subject.dice.pick(["object", "object", "part"] as const) : "part";
  const inner = randomQuestion(subject, depth, below);
  return {
    query: { nested: { path: NESTED_PATHS[below], query: inner.query } },
    fits: (item) => itemsAt(item, below).some(inner.fits),
  };
}
