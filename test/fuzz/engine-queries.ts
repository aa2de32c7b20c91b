/** Random queries, each with the test that says of a document's JSON whether it fits. */

import { HOUR_MS } from "#proto/kit/units.ts";
import type { Random } from "#test/support/engine/random.ts";
import {
  type Json,
  KEYWORD_FIELDS,
  keywords,
  NUMBER_FIELDS,
  numbers,
  rawValues,
  START_MS,
  TEXT_FIELDS,
  tokenLists,
  tokensOf,
  WORDS,
} from "./engine-model.ts";

export interface Question {
  readonly query: Json;
  readonly fits: (document: Json, id: string) => boolean;
}

const KEYS = ["alpha", "beta", "Gamma", "größe", "日本", "a b", "alphabet", "nothing"];

/** Returns a random query; `depth`: how many more levels of bool it may have. */
export function randomQuestion(random: Random, depth = 2): Question {
  if (depth > 0 && random.oneIn(3)) return bool(random, depth - 1);
  return random.pick(SIMPLE)(random);
}

type Maker = (random: Random) => Question;

const SIMPLE: readonly Maker[] = [
  () => ({ query: { match_all: {} }, fits: () => true }),
  term,
  terms,
  match,
  match,
  phrase,
  range,
  range,
  timeRange,
  exists,
  prefix,
  wildcard,
  tokenWildcard,
  ids,
  constant,
];

function term(random: Random): Question {
  if (random.oneIn(3)) {
    const field = random.pick(["n", "body.code", "parts.size"]);
    const value = random.below(40) - 15;
    return { query: { term: { [field]: value } }, fits: (doc) => numbers(doc, field).includes(value) };
  }
  if (random.oneIn(4)) {
    const value = `10.0.${random.below(3)}.${random.below(9)}`;
    return { query: { term: { ip: value } }, fits: (doc) => keywords(doc, "ip").includes(value) };
  }
  if (random.oneIn(4)) {
    const value = random.oneIn(2);
    return { query: { term: { ok: value } }, fits: (doc) => numbers(doc, "ok").includes(value ? 1 : 0) };
  }
  const field = random.pick(KEYWORD_FIELDS);
  const value = random.pick(KEYS);
  return { query: { term: { [field]: value } }, fits: (doc) => keywords(doc, field).includes(value) };
}

function terms(random: Random): Question {
  const field = random.pick(KEYWORD_FIELDS);
  const values = Array.from({ length: 1 + random.below(4) }, () => random.pick(KEYS));
  return {
    query: { terms: { [field]: values } },
    fits: (doc) => keywords(doc, field).some((value) => values.includes(value)),
  };
}

function words(random: Random, count: number): string {
  return Array.from({ length: count }, () =>
    random.oneIn(5) ? `id${random.below(400)}` : random.pick(WORDS)[0],
  ).join(" ");
}

function match(random: Random): Question {
  const field = random.pick(TEXT_FIELDS);
  const text = words(random, 1 + random.below(3));
  const all = random.oneIn(2);
  const wanted = tokensOf(text);
  return {
    query: { match: { [field]: { query: text, operator: all ? "and" : "or" } } },
    fits(doc) {
      const tokens = new Set(tokenLists(doc, field).flat());
      return all ? wanted.every((token) => tokens.has(token)) : wanted.some((token) => tokens.has(token));
    },
  };
}

function phrase(random: Random): Question {
  const field = random.pick(TEXT_FIELDS);
  const text = words(random, 2 + random.below(2));
  const wanted = tokensOf(text);
  return {
    query: { match_phrase: { [field]: text } },
    fits: (doc) =>
      tokenLists(doc, field).some((tokens) =>
        tokens.some((_, from) => wanted.every((token, at) => tokens[from + at] === token)),
      ),
  };
}

function range(random: Random): Question {
  const field = random.pick(NUMBER_FIELDS);
  const low = random.below(70) - 25;
  const high = random.oneIn(5) ? Number.POSITIVE_INFINITY : low + random.below(30);
  const open = random.oneIn(2);
  const bounds = { [open ? "gt" : "gte"]: low, ...(high === Number.POSITIVE_INFINITY ? {} : { lte: high }) };
  return {
    query: { range: { [field]: bounds } },
    fits: (doc) => numbers(doc, field).some((value) => (open ? value > low : value >= low) && value <= high),
  };
}

function timeRange(random: Random): Question {
  const from = START_MS + random.below(72) * HOUR_MS;
  const to = from + random.below(48) * HOUR_MS;
  return {
    query: { range: { t: { gte: new Date(from).toISOString(), lt: new Date(to).toISOString() } } },
    fits: (doc) => numbers(doc, "t").some((value) => value >= from && value < to),
  };
}

function exists(random: Random): Question {
  const field = random.pick([...KEYWORD_FIELDS, ...NUMBER_FIELDS, "t", "ok", "ip", "g"]);
  const isNumber = (NUMBER_FIELDS as readonly string[]).includes(field) || field === "t" || field === "ok";
  return {
    query: { exists: { field } },
    fits: (doc) => (isNumber ? numbers(doc, field) : rawValues(doc, field)).length > 0,
  };
}

function prefix(random: Random): Question {
  const field = random.pick(KEYWORD_FIELDS);
  const value = random.pick(["a", "alpha", "gr", "日", "z", "x*"]);
  return {
    query: { prefix: { [field]: value } },
    fits: (doc) => keywords(doc, field).some((each) => each.startsWith(value)),
  };
}

function wildcard(random: Random): Question {
  const field = random.pick(KEYWORD_FIELDS);
  const [pattern, expression] = random.pick([
    ["*a*", /^.*a.*$/u],
    ["al?ha*", /^al.ha.*$/u],
    ["*ph*t", /^.*ph.*t$/u],
    ["gr??e", /^gr..e$/u],
    ["*本", /^.*本$/u],
    ["x\\*y", /^x\*y$/u],
  ] as const);
  return {
    query: { wildcard: { [field]: pattern } },
    fits: (doc) => keywords(doc, field).some((each) => expression.test(each)),
  };
}

function tokenWildcard(random: Random): Question {
  const field = random.pick(TEXT_FIELDS);
  const part = random.pick(["rro", "0.0", "r_", "ет", "d1", "d39", "öß", "京", "qq"]);
  return {
    query: { wildcard: { [field]: `*${part}*` } },
    fits: (doc) =>
      tokenLists(doc, field)
        .flat()
        .some((token) => token.includes(part)),
  };
}

function ids(random: Random): Question {
  const values = Array.from({ length: 1 + random.below(5) }, () => `d${random.below(300)}`);
  return { query: { ids: { values } }, fits: (_, id) => values.includes(id) };
}

function constant(random: Random): Question {
  const inner = random.pick([term, range, match])(random);
  return { query: { constant_score: { filter: inner.query } }, fits: inner.fits };
}

function bool(random: Random, depth: number): Question {
  const clauses = (most: number): Question[] =>
    Array.from({ length: random.below(most + 1) }, () => randomQuestion(random, depth));
  const [must, filter, should, mustNot] = [clauses(2), clauses(2), clauses(3), clauses(1)];
  const least = random.oneIn(3) && should.length > 0 ? 1 + random.below(2) : undefined;
  const implied = must.length + filter.length === 0 && should.length > 0 ? 1 : 0;
  // Where more are needed than there are, no document fits.
  const needed = least ?? implied;
  const queries = (questions: readonly Question[]): Json[] => questions.map(({ query }) => query);
  return {
    query: {
      bool: {
        must: queries(must),
        filter: queries(filter),
        should: queries(should),
        must_not: queries(mustNot),
        ...(least === undefined ? {} : { minimum_should_match: least }),
      },
    },
    fits: (doc, id) =>
      [...must, ...filter].every((each) => each.fits(doc, id)) &&
      !mustNot.some((each) => each.fits(doc, id)) &&
      should.filter((each) => each.fits(doc, id)).length >= needed,
  };
}
