/**
 * Returns the terms of a document by field, with positions and frequencies. The document is analysed again; frequencies
 * are those of the given shard.
 */

import type { Field } from "#hub/engine/mapping/field.ts";
import { compileWildcard } from "#hub/search/patterns/wildcard.ts";
import type { ShardContext } from "#hub/search/query/query.ts";
import { sourcePath, valuesAt } from "#hub/search/source/source-values.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export interface TermVectorOptions {
  /** Names or patterns; undefined: fields mapped with `term_vector`. */
  readonly fields: readonly string[] | undefined;
  readonly positions: boolean;
  readonly offsets: boolean;
  readonly fieldStatistics: boolean;
  readonly termStatistics: boolean;
  /** Analyzers instead of those of the mapping, by field. */
  readonly analyzers: ReadonlyMap<string, string>;
  /** Undefined: all terms, without scores. */
  readonly filter: TermVectorFilter | undefined;
}

/** Which terms of a field are returned, with scores; see `best`. */
export interface TermVectorFilter {
  /** Terms of a field at most. */
  readonly maxTerms: number;
  /** Inclusive bounds of occurrences in the document, of documents with the term and of characters. */
  readonly termFreq: Bounds;
  readonly docFreq: Bounds;
  readonly length: Bounds;
}

type Bounds = readonly [least: number, most: number];

/** Maximum UTF-16 units of a value that are analysed. */
const MAX_ANALYZED = 1_000_000;

interface Occurrence {
  readonly position: number;
  readonly start: number;
  readonly end: number;
}

/** Returns `term_vectors` of a document. Throws request_invalid for an unknown analyzer. */
export function termVectors(shard: ShardContext, source: JsonObject, options: TermVectorOptions): JsonObject {
  const vectors: JsonObject = {};
  for (const field of wantedFields(shard, options.fields)) {
    const all = termsOf(shard, field, source, options.analyzers.get(field.path));
    if (all.size === 0) continue;
    const terms = options.filter === undefined ? unscored(all) : best(shard, field, all, options.filter);
    vectors[field.path] = {
      ...(options.fieldStatistics && { field_statistics: fieldStatistics(shard, field) }),
      terms: Object.fromEntries(
        terms
          .sort(({ term: a }, { term: b }) => (a < b ? -1 : 1))
          .map((each) => [each.term, termBody(shard, field, each, options)]),
      ),
    };
  }
  return vectors;
}

/** A term of a document. */
interface FoundTerm {
  readonly term: string;
  readonly found: readonly Occurrence[];
  readonly score?: number;
}

function termBody(
  shard: ShardContext,
  field: Field,
  { term, found, score }: FoundTerm,
  { positions, offsets, termStatistics }: TermVectorOptions,
): JsonObject {
  return {
    ...(termStatistics && statisticsOf(shard, field, term)),
    term_freq: found.length,
    ...((positions || offsets) && {
      tokens: found.map(({ position, start, end }) => ({
        ...(positions && { position }),
        ...(offsets && { start_offset: start, end_offset: end }),
      })),
    }),
    ...(score !== undefined && { score }),
  };
}

function unscored(terms: ReadonlyMap<string, Occurrence[]>): FoundTerm[] {
  return [...terms].map(([term, found]) => ({ term, found }));
}

/** Returns the terms within the bounds with the greatest tf-idf (Lucene's ClassicSimilarity), the first by name among equals. */
function best(
  shard: ShardContext,
  field: Field,
  terms: ReadonlyMap<string, readonly Occurrence[]>,
  filter: TermVectorFilter,
): FoundTerm[] {
  const documents = shard.fieldStats(field.path).docCount;
  const scored = [...terms].flatMap(([term, found]) => {
    if (!isWithin(found.length, filter.termFreq) || !isWithin(term.length, filter.length)) return [];
    const docFreq = frequencies(shard, field, term)?.docFreq ?? 0;
    if (!isWithin(docFreq, filter.docFreq)) return [];
    const idf = Math.fround(Math.log((documents + 1) / (docFreq + 1)) + 1);
    return { term, found, score: Math.fround(found.length * idf) };
  });
  return scored.sort((a, b) => b.score - a.score || (a.term < b.term ? -1 : 1)).slice(0, filter.maxTerms);
}

function isWithin(value: number, [least, most]: Bounds): boolean {
  return value >= least && value <= most;
}

/** Text and keyword fields have terms. */
function wantedFields(shard: ShardContext, names: readonly string[] | undefined): Field[] {
  const tests = names?.map((name) => compileWildcard(name));
  return [...shard.mapping.fields()].filter((field) => {
    if (field.type !== "text" && field.type !== "keyword") return false;
    if (tests !== undefined) return tests.some((test) => test.matches(field.path));
    const vectors = field.given["term_vector"];
    return vectors !== undefined && vectors !== "no";
  });
}

function termsOf(
  shard: ShardContext,
  field: Field,
  source: JsonObject,
  analyzer: string | undefined,
): Map<string, Occurrence[]> {
  const { analysis } = shard.mapping;
  if (analyzer !== undefined && !analysis.has(analyzer))
    throw new AppError("request_invalid", `failed to find analyzer [${analyzer}] of [${field.path}]`);
  const terms = new Map<string, Occurrence[]>();
  const add = (term: string, found: Occurrence): void => {
    const known = terms.get(term);
    if (known === undefined) terms.set(term, [found]);
    else known.push(found);
  };
  let firstPosition = 0;
  let firstOffset = 0;
  for (const value of valuesAt(source, sourcePath(field, shard))) {
    const text = String(value).slice(0, MAX_ANALYZED);
    if (field.type === "keyword" && analyzer === undefined) {
      const term = field.normalizer === undefined ? text : analysis.normalize(field.normalizer, text);
      add(term, { position: firstPosition++, start: firstOffset, end: firstOffset + text.length });
    } else {
      let last = firstPosition;
      for (const token of analysis.analyzer(analyzer ?? field.analyzer).tokens(text)) {
        last = firstPosition + token.position;
        add(token.text, {
          position: last,
          start: firstOffset + token.startOffset,
          end: firstOffset + token.endOffset,
        });
      }
      firstPosition = last + 1 + field.positionIncrementGap;
    }
    firstOffset += text.length + 1;
  }
  return terms;
}

function fieldStatistics(shard: ShardContext, field: Field): JsonObject {
  const each = shard.searcher.segments.flatMap((segment) => segment.fieldStats(field.path) ?? []);
  return {
    sum_doc_freq: each.reduce((sum, { sumDocFreq }) => sum + sumDocFreq, 0),
    doc_count: shard.fieldStats(field.path).docCount,
    sum_ttf: each.reduce((sum, { sumTotalTermFreq }) => sum + sumTotalTermFreq, 0),
  };
}

/** Nothing if the shard doesn't have the term as of the last refresh. */
function statisticsOf(shard: ShardContext, field: Field, term: string): JsonObject {
  const known = frequencies(shard, field, term);
  return known === undefined ? {} : { doc_freq: known.docFreq, ttf: known.total };
}

/** Documents with a term and its occurrences in them; undefined without any. */
function frequencies(
  shard: ShardContext,
  field: Field,
  term: string,
): { readonly docFreq: number; readonly total: number } | undefined {
  const each = shard.searcher.segments.flatMap((segment) => segment.terms(field.path)?.find(term) ?? []);
  if (each.length === 0) return undefined;
  return {
    docFreq: each.reduce((sum, { docFreq }) => sum + docFreq, 0),
    total: each.reduce((sum, { totalTermFreq }) => sum + totalTermFreq, 0),
  };
}
