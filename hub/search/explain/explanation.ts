/** Describes queries and explains scores in the words of Lucene, those of BM25 among them. */

import { normToLength } from "#hub/engine/searcher/similarity.ts";
import type {
  DocumentLocation,
  Explanation,
  Query,
  QueryDescription,
  ShardContext,
} from "#hub/search/query/query.ts";
import { B, inverseDocumentFrequency, K1 } from "#hub/search/scoring/bm25.ts";
import { type NumberText, shortestFloat, singleFraction } from "#proto/kit/number-text.ts";

/** What was found in the document. */
interface Occurrences {
  readonly field: string;
  readonly terms: readonly (string | Uint8Array)[];
  /** The query as text: "message:post". */
  readonly text: string;
  readonly freq: number;
  /** What `freq` counts: "termFreq", "phraseFreq". */
  readonly counted: string;
  /** The document frequency that the score uses instead of the terms' own. */
  readonly docFreq?: number | undefined;
}

/** An explanation as answers print it. */
export interface PrintedExplanation {
  readonly value: NumberText | number;
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
export function explainQuery(query: Query, place: DocumentLocation): Explanation {
  return query.explain?.(place) ?? explainByScore(query, place);
}

/** Explains a score by what the query is, without what the score is made of. */
export function explainByScore(query: Query, place: DocumentLocation): Explanation {
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
  return { value: singleFraction(value), description, details: details.map(printExplanation) };
}

/** Prints a number as Java prints a float: 2.0. */
export function printFloat(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(shortestFloat(value));
}

/** Returns the explanation of a score, with all that it is made of. */
export function explainBm25(found: Occurrences, place: DocumentLocation): Explanation {
  const { doc, boost } = place;
  const frequency = match(found.freq, `${found.counted}=${printFloat(found.freq)}`);
  const factors = [
    ...(boost === 1 ? [] : [match(boost, "boost")]),
    explainIdf(found, place),
    explainFrequency(found, frequency, place),
  ];
  const value = factors.reduce((product, factor) => product * factor.value, 1);
  const score = match(
    value,
    `score(doc=${doc},freq=${printFloat(found.freq)} = ${frequency.description}\n), product of:`,
    factors,
  );
  return match(value, `weight(${found.text} in ${doc}) [PerFieldSimilarity], result of:`, [score]);
}

function explainIdf({ field, terms, docFreq: given }: Occurrences, { shard }: DocumentLocation): Explanation {
  const { docCount } = shard.fieldStats(field);
  const each = terms.map((term) => {
    const docFreq = given ?? shard.docFreq(field, term);
    return match(
      inverseDocumentFrequency(docFreq, docCount),
      "idf, computed as log(1 + (docCount - docFreq + 0.5) / (docFreq + 0.5)) from:",
      [match(docFreq, "docFreq"), match(docCount, "docCount")],
    );
  });
  if (each.length === 1) return each[0]!;
  return match(
    each.reduce((sum, { value }) => sum + value, 0),
    "idf(), sum of:",
    each,
  );
}

function explainFrequency(
  { field, freq }: Occurrences,
  frequency: Explanation,
  { shard, segment, doc }: DocumentLocation,
): Explanation {
  const norms = segment.norms(field);
  const k1 = match(K1, "parameter k1");
  if (norms === null || shard.mapping.field(field)?.norms !== true) {
    return match(
      (freq * (K1 + 1)) / (freq + K1),
      "tfNorm, computed as (freq * (k1 + 1)) / (freq + k1) from:",
      [frequency, k1, match(0, "parameter b (norms omitted for field)")],
    );
  }
  const stats = shard.fieldStats(field);
  const average = stats.sumTotalTermFreq / stats.docCount;
  const length = normToLength(norms[doc]!);
  return match(
    (freq * (K1 + 1)) / (freq + K1 * (1 - B + (B * length) / average)),
    "tfNorm, computed as (freq * (k1 + 1)) / (freq + k1 * (1 - b + b * fieldLength / avgFieldLength)) from:",
    [frequency, k1, match(B, "parameter b"), match(average, "avgFieldLength"), match(length, "fieldLength")],
  );
}
