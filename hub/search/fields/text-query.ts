/** Turns text into a query for a field: analysed for text fields, an exact value for all others. */

import type { Token } from "#hub/engine/analysis/analysis.ts";
import type { Field } from "#hub/engine/mapping/field.ts";
import { TermsNode } from "#hub/search/execute/nodes/any-term.ts";
import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { anyOf, BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { FuzzyNode, type FuzzyOptions } from "#hub/search/execute/nodes/fuzzy.ts";
import { PhraseNode } from "#hub/search/execute/nodes/phrase.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { ConstantNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { caselessStart, foldCase } from "#hub/search/patterns/ascii-case.ts";
import { automaticEdits } from "#hub/search/patterns/edit-distance.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { checkSearchable, exactQuery, fieldOf, normalizedFor } from "./field-terms.ts";
import { minimumShouldMatch } from "./minimum-should-match.ts";
import { type GraphPart, graphParts, isGraph, type Way } from "./token-graph.ts";

export interface TextOptions {
  readonly operator: "or" | "and";
  readonly minimumShouldMatch?: string | undefined;
  /** Analyzer instead of the field's. */
  readonly analyzer?: string | undefined;
  /** "AUTO", "0", "1", "2"; undefined: exact. */
  readonly fuzziness?: string | undefined;
  /** Leading characters that no edit may change. */
  readonly prefixLength?: number;
  /** Similar terms of a word that are looked for at most. */
  readonly maxExpansions?: number;
  /** Whether two transposed letters are one edit; else two. */
  readonly transpositions?: boolean | undefined;
  /** Whether the words of a synonym of several must follow one another; if not, all must be there. True by default. */
  readonly phraseSynonyms?: boolean | undefined;
  /** Whether values that don't fit the field's type match nothing instead of failing. */
  readonly lenient: boolean;
  /** What text without tokens matches. */
  readonly zeroTerms?: Query;
}

/** Similar terms of a word that are looked for at most by default. */
export const MAX_EXPANSIONS = 50;

/** Returns the documents whose `name` holds the text's terms. */
export function matchQuery(shard: ShardContext, name: string, value: unknown, options: TextOptions): Query {
  return unlessLenient(options.lenient, () => {
    const field = fieldOf(shard, name);
    if (field === undefined || field.type !== "text") return plainQuery(shard, name, field, value, options);
    const clauses = textClauses(shard, field, scalarText(value, name), options);
    return clauses.length === 0 ? (options.zeroTerms ?? new NoneNode()) : joinedClauses(clauses, options);
  });
}

/** Returns a query for each word of a text, or synonym of several words: none for a text without terms. */
export function matchClauses(shard: ShardContext, field: Field, text: string, options: TextOptions): Query[] {
  try {
    return textClauses(shard, field, text, options);
  } catch (error) {
    if (options.lenient && isRequestFault(error)) return [new NoneNode()];
    throw error;
  }
}

function textClauses(shard: ShardContext, field: Field, text: string, options: TextOptions): Query[] {
  checkSearchable(field, shard);
  const parts = textParts(analyze(shard, field, text, options.analyzer));
  return parts.map((part) => partQuery(field, part, options));
}

/** Joins the clauses of a text's words by the operator. */
export function joinedClauses(
  clauses: readonly Query[],
  options: Pick<TextOptions, "operator" | "minimumShouldMatch">,
): Query {
  if (clauses.length === 1) return clauses[0]!;
  if (options.operator === "and") return new BooleanNode({ must: clauses });
  const minimum = minimumShouldMatch(options.minimumShouldMatch);
  return new BooleanNode({
    should: clauses,
    ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
  });
}

/** Returns the documents that have a word, or any of the ways through several. */
function partQuery(field: Field, { ways }: GraphPart, options: TextOptions): Query {
  const word = (terms: readonly string[]): Query =>
    bestOf(terms.map((term) => termOrFuzzy(field.path, term, options)));
  const isPhrase = field.positions && options.phraseSynonyms !== false;
  const queries = ways.map((way) => {
    if (way.length === 1) return word(way[0]!.terms);
    if (isPhrase) return new PhraseNode(field.path, way, 0);
    return new BooleanNode({ must: way.map(({ terms }) => word(terms)) });
  });
  return queries.length === 1 ? queries[0]! : anyOf(queries);
}

/** Returns the documents with a term that begins with `prefix` in any case. */
export function caselessPrefixQuery(path: string, prefix: string): Query {
  const folded = foldCase(prefix);
  return new TermsNode(path, {
    text: `${prefix}*`,
    expensive: "prefix",
    terms: (segment, field) => segment.terms(field)?.prefix(caselessStart(prefix)) ?? null,
    accepts: (text) => foldCase(text.slice(0, prefix.length)) === folded,
  });
}

/** Returns the documents with a term that begins with `prefix`. */
export function prefixQuery(path: string, prefix: string): Query {
  return new TermsNode(path, {
    text: `${prefix}*`,
    expensive: "prefix",
    terms: (segment, field) => segment.terms(field)?.prefix(prefix) ?? null,
    accepts: (text) => text.startsWith(prefix),
  });
}

/**
 * Returns the documents with a term within some edits of `term`; as in Lucene none may be after a prefix that is the
 * term.
 */
export function fuzzyQuery(path: string, term: string, options: FuzzyOptions): Query {
  return options.edits === 0 || options.prefixLength >= term.length
    ? new TermNode(path, term)
    : new FuzzyNode(path, term, options);
}

/** Returns the edits that a fuzziness allows for a term. Throws parsing. */
export function editsOf(fuzziness: string, term: string): number {
  if (/^auto(?::\d+,\d+)?$/i.test(fuzziness)) return automaticEdits(term);
  const edits = Number(fuzziness);
  if (Number.isInteger(edits) && edits >= 0 && edits <= 2) return edits;
  throw new AppError("parsing", `[fuzziness] must be AUTO, 0, 1 or 2, but is ${fuzziness}`);
}

/** Returns the tokens of `text`. Throws request_invalid for an unknown analyzer. */
export function analyze(
  shard: ShardContext,
  field: Field,
  text: string,
  analyzer: string | undefined,
): Token[] {
  if (analyzer !== undefined && !shard.mapping.analysis.has(analyzer)) {
    throw new AppError("query_shard", `[match] analyzer [${analyzer}] not found`);
  }
  return shard.mapping.analysis.analyzer(analyzer ?? field.searchAnalyzer).tokens(text);
}

/** Tokens as positions of a phrase: those at one position are alternatives. */
export function tokenPositions(tokens: readonly Token[]): { terms: string[]; offset: number }[] {
  const places: { terms: string[]; offset: number }[] = [];
  const first = tokens[0]?.position ?? 0;
  for (const { text, position } of tokens) {
    const last = places.at(-1);
    if (last !== undefined && last.offset === position - first) last.terms.push(text);
    else places.push({ terms: [text], offset: position - first });
  }
  return places;
}

/** Tokens as parts of a query: words with their alternatives, or the ways through synonyms of several words. */
export function textParts(tokens: readonly Token[]): GraphPart[] {
  if (isGraph(tokens)) return graphParts(tokens);
  const places = tokenPositions(tokens);
  return places.map(({ terms, offset }, at) => ({
    gap: at === 0 ? 0 : offset - places[at - 1]!.offset - 1,
    ways: [[{ terms, offset: 0 }]],
  }));
}

function plainQuery(
  shard: ShardContext,
  name: string,
  field: Field | undefined,
  value: unknown,
  options: TextOptions,
): Query {
  if (field?.type === "keyword" && options.fuzziness !== undefined) {
    return termOrFuzzy(field.path, normalizedFor(shard, field, scalarText(value, name)), options);
  }
  return exactQuery(shard, name, value);
}

/** Returns the documents with a term, or with one that `options` let differ from it. */
export function termOrFuzzy(
  path: string,
  term: string,
  options: Pick<TextOptions, "fuzziness" | "prefixLength" | "maxExpansions" | "transpositions">,
): Query {
  if (options.fuzziness === undefined) return new TermNode(path, term);
  return fuzzyQuery(path, term, {
    edits: editsOf(options.fuzziness, term),
    prefixLength: options.prefixLength ?? 0,
    maxExpansions: options.maxExpansions ?? MAX_EXPANSIONS,
    transpositions: options.transpositions ?? true,
  });
}

/** Returns what `make` makes; if it fails and `lenient` is set, no documents. */
export function unlessLenient(lenient: boolean, make: () => Query): Query {
  if (!lenient) return make();
  try {
    return make();
  } catch (error) {
    if (isRequestFault(error)) return new NoneNode();
    throw error;
  }
}

function isRequestFault(error: unknown): boolean {
  return error instanceof AppError && error.status < 500;
}

/** Returns the documents whose `name` holds the text's terms, a term that begins with the last one counting as that. */
export function boolPrefixQuery(
  shard: ShardContext,
  name: string,
  value: unknown,
  options: TextOptions,
): Query {
  const field = fieldOf(shard, name);
  if (field?.type !== "text") return matchQuery(shard, name, value, options);
  return unlessLenient(options.lenient, () => {
    checkSearchable(field, shard);
    const parts = textParts(analyze(shard, field, scalarText(value, name), options.analyzer));
    const last = parts.pop();
    if (last === undefined) return options.zeroTerms ?? new NoneNode();
    const [way] = last.ways as [Way];
    // As in Lucene, the last of several words of a synonym isn't a beginning.
    const isWord = last.ways.length === 1 && way.length === 1;
    const clauses = [
      ...parts.map((part) => partQuery(field, part, options)),
      isWord
        ? // All terms with the prefix score alike.
          new ConstantNode(bestOf(way[0]!.terms.map((term) => prefixQuery(field.path, term))))
        : partQuery(field, last, options),
    ];
    return joinedClauses(clauses, options);
  });
}
