/** Turns the syntax tree of a query string into queries on the fields of a shard. */

import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { AllNode, ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { boosted } from "#hub/search/execute/nodes/wrapped-query.ts";
import { crossFieldsQuery } from "#hub/search/fields/cross-fields.ts";
import { expandFields, type FieldName } from "#hub/search/fields/field-names.ts";
import { boundsQuery } from "#hub/search/fields/field-range.ts";
import { exactQuery, fieldOf, normalizedFor } from "#hub/search/fields/field-terms.ts";
import { INDEX_FIELD, regexpQuery, wildcardQuery } from "#hub/search/fields/pattern-query.ts";
import { phraseQuery } from "#hub/search/fields/phrase-query.ts";
import {
  analyze,
  MAX_EXPANSIONS,
  matchClauses,
  matchQuery,
  type TextOptions,
} from "#hub/search/fields/text-query.ts";
import { isGraph } from "#hub/search/fields/token-graph.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { StringClause, StringNode } from "./syntax.ts";

export const STRING_TYPES = [
  "best_fields",
  "most_fields",
  "cross_fields",
  "phrase",
  "phrase_prefix",
] as const;

export type StringType = (typeof STRING_TYPES)[number];

export interface StringOptions {
  /** Fields of parts that name none. */
  readonly fields: readonly FieldName[];
  readonly defaultOperator: "or" | "and";
  /** How the fields of a text are combined; see `multi_match`. */
  readonly type: StringType;
  /** Ending of the names of fields in which phrases are looked for instead, where such a field exists. */
  readonly quoteFieldSuffix: string | undefined;
  readonly analyzer: string | undefined;
  /** Analyzer of phrases; `analyzer` without it. */
  readonly quoteAnalyzer?: string | undefined;
  readonly lenient: boolean;
  readonly phraseSlop: number;
  readonly allowLeadingWildcard: boolean;
  readonly minimumShouldMatch: ((clauses: number) => number) | undefined;
  readonly tieBreaker: number;
  readonly zone: TimeZone;
  /** Leading characters of fuzzy words that no edit may change. */
  readonly fuzzyPrefixLength: number;
  /** Similar terms of a fuzzy word that are looked for at most. */
  readonly fuzzyMaxExpansions: number;
  readonly fuzzyTranspositions: boolean | undefined;
  /** Whether the words of a synonym of several must follow one another. */
  readonly phraseSynonyms: boolean | undefined;
  /** Characters of a regular expression. */
  readonly maxRegexLength: number;
}

/** What a text without terms matches, such as one of stop words alone: it is left out. */
const NO_TERMS = new NoneNode();
/** Patterns that Lucene makes into a query for a prefix. */
const PREFIX = /^(?:[^*?\\]|\\.)+\*$/s;

/** Returns the query of a tree. Throws query_shard or request_invalid. */
export function stringQuery(shard: ShardContext, root: StringNode, options: StringOptions): Query {
  const { minimumShouldMatch } = options;
  const query =
    root.kind !== "group" || minimumShouldMatch === undefined
      ? nodeQuery(shard, root, options)
      : groupQuery(shard, root.clauses, options, minimumShouldMatch);
  return query ?? new NoneNode();
}

/** Returns undefined for a text without terms. */
function nodeQuery(shard: ShardContext, node: StringNode, options: StringOptions): Query | undefined {
  const query = unboosted(shard, node, options);
  return query === undefined ? undefined : boosted(query, node.boost ?? 1);
}

function unboosted(shard: ShardContext, node: StringNode, options: StringOptions): Query | undefined {
  if (node.kind === "group") return groupQuery(shard, node.clauses, options, undefined);
  if (node.kind === "all") return new AllNode();
  if (node.kind === "exists") return new ExistsNode(node.field ?? "*");
  if (node.kind === "wildcard" && node.field === undefined && node.pattern === "*") return new AllNode();
  const names = node.field === undefined ? options.fields : [{ name: node.field, boost: 1 }];
  const fields = expandFields(shard, names);
  // A part that names no field looks in all of them, and not every value fits every one.
  const lenient = options.lenient || names.some(({ name }) => name.includes("*"));
  if (options.type === "cross_fields" && node.kind === "text" && node.fuzziness === undefined) {
    const query = crossFieldsQuery(shard, fields, node.text, {
      operator: options.defaultOperator,
      minimumShouldMatch: undefined,
      analyzer: options.analyzer,
      tieBreaker: options.tieBreaker,
      phraseSynonyms: options.phraseSynonyms,
      zeroTerms: NO_TERMS,
      lenient,
    });
    return query === NO_TERMS ? undefined : query;
  }
  const parts: Query[] = [];
  for (const { name, boost } of fields) {
    const part = fieldQuery(shard, name, node, { ...options, lenient });
    if (part !== NO_TERMS) parts.push(boosted(part, boost));
  }
  if (parts.length === 0) return fields.length === 0 ? new NoneNode() : undefined;
  // Phrases of the language itself are those of the best field.
  const adds = options.type === "most_fields" && node.kind !== "phrase";
  return bestOf(parts, adds ? 1 : options.tieBreaker);
}

/** Returns undefined for a group without terms. */
function groupQuery(
  shard: ShardContext,
  clauses: readonly StringClause[],
  options: StringOptions,
  minimum: ((clauses: number) => number) | undefined,
): Query | undefined {
  const parts = clauses.flatMap(({ occur, node }) =>
    clauseQueries(shard, node, options).map((query) => ({ occur, query })),
  );
  if (parts.length === 0) return undefined;
  const of = (occur: StringClause["occur"]): Query[] =>
    parts.filter((part) => part.occur === occur).map(({ query }) => query);
  return new BooleanNode({
    must: of("must"),
    should: of("should"),
    mustNot: of("mustNot"),
    ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
  });
}

/**
 * Adjacent words are one text for each field, as in Lucene since 7: several fields are searched for all of it, a keyword must
 * equal it. In a single text field each word, or synonym of several, is a clause of its own, unless they are to be a phrase.
 */
function clauseQueries(shard: ShardContext, node: StringNode, options: StringOptions): Query[] {
  const whole = (): Query[] => {
    const query = nodeQuery(shard, node, options);
    return query === undefined ? [] : [query];
  };
  if (node.kind !== "text" || node.words === undefined || isPhrase(options)) return whole();
  const names = node.field === undefined ? options.fields : [{ name: node.field, boost: 1 }];
  const fields = expandFields(shard, names);
  if (options.type === "cross_fields") return crossedWords(shard, node, fields, options) ?? whole();
  const [only] = fields;
  const field = fields.length === 1 ? fieldOf(shard, only!.name) : undefined;
  if (field?.type !== "text") return whole();
  const words = matchClauses(shard, field, node.text, matchOptions(node, options));
  return words.map((query) => boosted(query, only!.boost * (node.boost ?? 1)));
}

/**
 * With `cross_fields` adjacent words are clauses of their own, so that they may be in fields of any kind (6.5: in those with the
 * same analyzer). Returns undefined if some are a synonym of several words.
 */
function crossedWords(
  shard: ShardContext,
  node: Extract<StringNode, { kind: "text" }>,
  fields: readonly FieldName[],
  options: StringOptions,
): Query[] | undefined {
  for (const { name } of fields) {
    const field = fieldOf(shard, name);
    if (field?.type === "text" && isGraph(analyze(shard, field, node.text, options.analyzer)))
      return undefined;
  }
  const { words, ...rest } = node;
  return words!.flatMap((text) => nodeQuery(shard, { ...rest, text }, options) ?? []);
}

function isPhrase({ type }: StringOptions): boolean {
  return type === "phrase" || type === "phrase_prefix";
}

function fieldQuery(shard: ShardContext, name: string, node: StringNode, options: StringOptions): Query {
  switch (node.kind) {
    case "text":
      if (isPhrase(options) && node.fuzziness === undefined) {
        const { phraseSlop: slop, analyzer, lenient } = options;
        const expansions = options.type === "phrase" ? {} : { maxExpansions: MAX_EXPANSIONS };
        return phraseQuery(shard, name, node.text, {
          slop,
          analyzer,
          lenient,
          zeroTerms: NO_TERMS,
          ...expansions,
        });
      }
      return matchQuery(shard, name, node.text, matchOptions(node, options));
    case "phrase":
      return phraseQuery(shard, quotedField(shard, name, options), node.text, {
        slop: node.slop || options.phraseSlop,
        analyzer: options.quoteAnalyzer ?? options.analyzer,
        lenient: options.lenient,
        zeroTerms: NO_TERMS,
      });
    case "range":
      return lenientRange(shard, name, node, options);
    case "wildcard":
      if (!options.allowLeadingWildcard && /^[*?]/.test(node.pattern)) {
        throw new AppError("query_shard", `'*' or '?' not allowed as first character in [${node.pattern}]`);
      }
      if (name === INDEX_FIELD) return exactQuery(shard, name, node.pattern);
      return patternOf(shard, name, options, (path, text) =>
        wildcardQuery(path, text(node.pattern), false, PREFIX.test(node.pattern) ? "prefix" : "wildcard"),
      );
    case "regexp":
      return patternOf(shard, name, options, (path, text) =>
        regexpQuery(path, text(node.source), options.maxRegexLength),
      );
    default:
      return new NoneNode();
  }
}

function matchOptions(
  { fuzziness }: Extract<StringNode, { kind: "text" }>,
  options: StringOptions,
): TextOptions {
  return {
    operator: options.defaultOperator,
    analyzer: options.analyzer,
    fuzziness,
    prefixLength: options.fuzzyPrefixLength,
    maxExpansions: options.fuzzyMaxExpansions,
    transpositions: options.fuzzyTranspositions,
    phraseSynonyms: options.phraseSynonyms,
    lenient: options.lenient,
    zeroTerms: NO_TERMS,
  };
}

/** Returns the field in which a phrase is looked for. */
function quotedField(shard: ShardContext, name: string, { quoteFieldSuffix }: StringOptions): string {
  if (quoteFieldSuffix === undefined) return name;
  const quoted = name + quoteFieldSuffix;
  return fieldOf(shard, quoted) === undefined ? name : quoted;
}

function lenientRange(
  shard: ShardContext,
  name: string,
  node: Extract<StringNode, { kind: "range" }>,
  { lenient, zone }: StringOptions,
): Query {
  try {
    return boundsQuery(shard, name, { from: node.from, to: node.to, zone });
  } catch (error) {
    if (lenient && error instanceof AppError && error.status < 500) return new NoneNode();
    throw error;
  }
}

/** Patterns on analysed text are lower-cased if its analyzer does so; other kinds of fields match nothing. */
function patternOf(
  shard: ShardContext,
  name: string,
  options: StringOptions,
  make: (path: string, text: (pattern: string) => string) => Query,
): Query {
  const field = fieldOf(shard, name);
  if (field === undefined) return new NoneNode();
  if (field.type === "keyword") return make(field.path, (pattern) => normalizedFor(shard, field, pattern));
  if (field.type === "text") {
    const lowers = shard.mapping.analysis.analyzer(field.searchAnalyzer).tokens("A")[0]?.text === "a";
    return make(field.path, (pattern) => (lowers ? pattern.toLowerCase() : pattern));
  }
  if (options.lenient) return new NoneNode();
  throw new AppError(
    "query_shard",
    `Can only use wildcard queries on keyword and text fields - not on [${name}] which is of type [${field.type}]`,
  );
}
