/**
 * Fields with the same analyzer searched as if they were one. Each term may be in any of them and has the same document
 * frequency in all, so that a field in which a term is rare does not decide the order.
 */

import type { Field } from "#hub/engine/mapping/field.ts";
import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { anyOf, BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { PhraseNode } from "#hub/search/execute/nodes/phrase.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { boosted } from "#hub/search/execute/nodes/wrapped-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import type { FieldName } from "./field-names.ts";
import { checkSearchable, fieldOf } from "./field-terms.ts";
import { analyze, joinedClauses, matchQuery, textParts, unlessLenient } from "./text-query.ts";

export interface CrossFieldsOptions {
  readonly operator: "or" | "and";
  readonly minimumShouldMatch: string | undefined;
  /** Analyzer instead of the fields'. */
  readonly analyzer: string | undefined;
  /** Share of the scores of the other fields. */
  readonly tieBreaker: number;
  readonly lenient: boolean;
  /** Whether the words of a synonym of several must follow one another in a field. True by default. */
  readonly phraseSynonyms?: boolean | undefined;
  /** What text without tokens matches. */
  readonly zeroTerms?: Query;
}

interface BoostedField {
  readonly field: Field;
  readonly boost: number;
}

/** Returns the documents that have the terms of a text, each in any of the fields. */
export function crossFieldsQuery(
  shard: ShardContext,
  names: readonly FieldName[],
  value: unknown,
  options: CrossFieldsOptions,
): Query {
  const groups = new Map<string, BoostedField[]>();
  const parts: Query[] = [];
  for (const { name, boost } of names) {
    const field = fieldOf(shard, name);
    if (field?.type !== "text") {
      parts.push(boosted(matchQuery(shard, name, value, options), boost));
      continue;
    }
    const analyzer = options.analyzer ?? field.searchAnalyzer;
    const group = groups.get(analyzer);
    if (group === undefined) groups.set(analyzer, [{ field, boost }]);
    else group.push({ field, boost });
  }
  for (const group of groups.values())
    parts.push(unlessLenient(options.lenient, () => groupQuery(shard, group, value, options)));
  const { zeroTerms } = options;
  if (zeroTerms !== undefined && parts.length > 0 && parts.every((part) => part === zeroTerms))
    return zeroTerms;
  return parts.length === 0 ? new NoneNode() : bestOf(parts, options.tieBreaker);
}

/** The query of fields with one analyzer: a clause for each word, which any of the fields may have. */
function groupQuery(
  shard: ShardContext,
  group: readonly BoostedField[],
  value: unknown,
  options: CrossFieldsOptions,
): Query {
  const [{ field: first }] = group as [BoostedField];
  for (const { field } of group) checkSearchable(field, shard);
  const parts = textParts(analyze(shard, first, scalarText(value, first.path), options.analyzer));
  if (parts.length === 0) return options.zeroTerms ?? new NoneNode();
  const word = (terms: readonly string[]): Query =>
    bestOf(
      terms.flatMap((term) => blended(shard, group, term)),
      options.tieBreaker,
    );
  const isPhrase = group.every(({ field }) => field.positions) && options.phraseSynonyms !== false;
  const clauses = parts.map(({ ways }) => {
    const queries = ways.map((way) => {
      if (way.length === 1) return word(way[0]!.terms);
      if (!isPhrase) return new BooleanNode({ must: way.map(({ terms }) => word(terms)) });
      const phrases = group.map(({ field, boost }) => boosted(new PhraseNode(field.path, way, 0), boost));
      return bestOf(phrases, options.tieBreaker);
    });
    return queries.length === 1 ? queries[0]! : anyOf(queries);
  });
  return joinedClauses(clauses, options);
}

/** One term in several fields, scored by the same document frequency; searches without scores don't ask for it. */
function blended(shard: ShardContext, group: readonly BoostedField[], term: string): Query[] {
  let docFreqs: readonly number[] | undefined;
  return group.map(({ field, boost }, at) => {
    const docFreq = (): number => (docFreqs ??= blendedFrequencies(shard, group, term))[at]!;
    return boosted(new TermNode(field.path, term, docFreq), boost);
  });
}

/**
 * Returns for each field the largest of the term's document frequencies, 0 where it isn't. As in BlendedTermQuery of
 * Elasticsearch, each field in which it is rarer counts one document more, so that fields in which it is frequent win ties.
 */
function blendedFrequencies(shard: ShardContext, group: readonly BoostedField[], term: string): number[] {
  const frequencies = group.map(({ field }) => shard.docFreq(field.path, term));
  const tokens = group.map(({ field }) => shard.fieldStats(field.path).sumTotalTermFreq);
  const most = Math.min(...tokens);
  const docFreqs = frequencies.map(() => 0);
  let docFreq = Math.max(...frequencies);
  let before = docFreq;
  for (const at of [...group.keys()].sort((a, b) => frequencies[b]! - frequencies[a]!)) {
    if (frequencies[at]! < before) docFreq++;
    before = frequencies[at]!;
    if (frequencies[at]! > 0) docFreqs[at] = Math.min(most, docFreq);
  }
  return docFreqs;
}
