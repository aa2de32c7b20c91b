/** Describes queries and explains scores in the words of Lucene. */

import type {
  DocumentPlace,
  Explanation,
  Query,
  QueryDescription,
  ShardContext,
} from "#hub/search/query/query.ts";

/** An explanation as answers print it. */
export interface PrintedExplanation {
  readonly value: number;
  readonly description: string;
  readonly details: readonly PrintedExplanation[];
}

/** Returns what a query is, bound to the mapping of a shard. */
export function describeQuery(query: Query, shard: ShardContext): QueryDescription {
  const named = query.describe?.(shard);
  if (named !== undefined) return named;
  const type = `${query.constructor.name.replace(/Node$/, "")}Query`;
  return { type, text: type };
}

/** Returns how a query scores a document; `boost` is that of everything around it. */
export function explainQuery(query: Query, place: DocumentPlace): Explanation {
  return query.explain?.(place) ?? explainByScore(query, place);
}

/** Explains a score by what the query is, without what the score is made of. */
export function explainByScore(query: Query, place: DocumentPlace): Explanation {
  const { shard, segment, doc, boost } = place;
  const scorer = query.weight(shard, { scores: true, boost }).scorer(segment);
  const { text } = describeQuery(query, shard);
  if (scorer === null || scorer.advance(doc) !== doc) return noMatch(`${text} doesn't match id ${doc}`);
  return match(scorer.score(), boost === 1 ? text : `${text}^${printFloat(boost)}`);
}

export function match(value: number, description: string, details: readonly Explanation[] = []): Explanation {
  return { matches: true, value: Math.fround(value), description, details };
}

export function noMatch(description: string, details: readonly Explanation[] = []): Explanation {
  return { matches: false, value: 0, description, details };
}

/** Returns an explanation as answers have it. */
export function printExplanation({ value, description, details }: Explanation): PrintedExplanation {
  return { value: shortFloat(value), description, details: details.map(printExplanation) };
}

/** Returns a number of the score's precision with no more digits than tell it from others. */
export function shortFloat(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return short;
  }
  return value;
}

/** Prints a number as Java prints a float: 2.0. */
export function printFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(shortFloat(value));
}
