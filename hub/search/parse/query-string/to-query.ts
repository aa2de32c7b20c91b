/** Turns the syntax tree of a query string into queries on the fields of a shard. */

import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { AllNode, ExistsNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { boosted } from "#hub/search/execute/nodes/wrapped-query.ts";
import { crossFieldsQuery } from "#hub/search/fields/cross-fields.ts";
import { expandFields, type FieldName } from "#hub/search/fields/field-names.ts";
import { boundsQuery } from "#hub/search/fields/field-range.ts";
import { fieldOf, normalizedFor } from "#hub/search/fields/field-terms.ts";
import { regexpQuery, wildcardQuery } from "#hub/search/fields/pattern-query.ts";
import { phraseQuery } from "#hub/search/fields/phrase-query.ts";
import { MAX_EXPANSIONS, matchQuery } from "#hub/search/fields/text-query.ts";
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

/** Returns the query of a tree. Throws query_shard or request_invalid. */
export function stringQuery(shard: ShardContext, root: StringNode, options: StringOptions): Query {
  const query = nodeQuery(shard, root, options);
  const { minimumShouldMatch } = options;
  if (root.kind !== "group" || minimumShouldMatch === undefined) return query;
  return groupQuery(shard, root.clauses, options, minimumShouldMatch);
}

function nodeQuery(shard: ShardContext, node: StringNode, options: StringOptions): Query {
  return boosted(unboosted(shard, node, options), node.boost ?? 1);
}

function unboosted(shard: ShardContext, node: StringNode, options: StringOptions): Query {
  if (node.kind === "group") return groupQuery(shard, node.clauses, options, undefined);
  if (node.kind === "all") return new AllNode();
  if (node.kind === "exists") return new ExistsNode(node.field ?? "*");
  if (node.kind === "wildcard" && node.field === undefined && node.pattern === "*") return new AllNode();
  const names = node.field === undefined ? options.fields : [{ name: node.field, boost: 1 }];
  const fields = expandFields(shard, names);
  // A part that names no field looks in all of them, and not every value fits every one.
  const lenient = options.lenient || names.some(({ name }) => name.includes("*"));
  if (options.type === "cross_fields" && node.kind === "text" && node.fuzziness === undefined)
    return crossFieldsQuery(shard, fields, node.text, {
      operator: options.defaultOperator,
      minimumShouldMatch: undefined,
      analyzer: options.analyzer,
      tieBreaker: options.tieBreaker,
      phraseSynonyms: options.phraseSynonyms,
      lenient,
    });
  const parts = fields.map(({ name, boost }) =>
    boosted(fieldQuery(shard, name, node, { ...options, lenient }), boost),
  );
  // Phrases of the language itself are those of the best field.
  const adds = options.type === "most_fields" && node.kind !== "phrase";
  return parts.length === 0 ? new NoneNode() : bestOf(parts, adds ? 1 : options.tieBreaker);
}

function groupQuery(
  shard: ShardContext,
  clauses: readonly StringClause[],
  options: StringOptions,
  minimum: ((clauses: number) => number) | undefined,
): Query {
  if (clauses.length === 0) return new NoneNode();
  const parts = clauses.flatMap((clause) => separated(shard, clause, options));
  const of = (occur: StringClause["occur"]): Query[] =>
    parts.filter((clause) => clause.occur === occur).map((clause) => nodeQuery(shard, clause.node, options));
  return new BooleanNode({
    must: of("must"),
    should: of("should"),
    mustNot: of("mustNot"),
    ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
  });
}

/**
 * Adjacent words are one text for each field, as in Lucene since 7: several fields are searched for all of it, a keyword must
 * equal it. In a single text field each is a clause of its own, unless they are to be a phrase; with `cross_fields` as well, so
 * that words may be in fields of any kind (6.5: in those with the same analyzer).
 */
function separated(shard: ShardContext, clause: StringClause, options: StringOptions): StringClause[] {
  const { node, occur } = clause;
  if (node.kind !== "text" || node.words === undefined || isPhrase(options)) return [clause];
  const names = node.field === undefined ? options.fields : [{ name: node.field, boost: 1 }];
  const isWordByWord = options.type === "cross_fields";
  const fields = isWordByWord ? [] : expandFields(shard, names);
  const [only] = fields;
  const isText = fields.length === 1 && fieldOf(shard, only!.name)?.type === "text";
  if (!isWordByWord && !isText) return [clause];
  const { words, ...rest } = node;
  return words.map((text) => ({ occur, node: { ...rest, text } }));
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
        return phraseQuery(shard, name, node.text, { slop, analyzer, lenient, ...expansions });
      }
      return matchQuery(shard, name, node.text, {
        operator: options.defaultOperator,
        analyzer: options.analyzer,
        fuzziness: node.fuzziness,
        prefixLength: options.fuzzyPrefixLength,
        maxExpansions: options.fuzzyMaxExpansions,
        transpositions: options.fuzzyTranspositions,
        phraseSynonyms: options.phraseSynonyms,
        lenient: options.lenient,
      });
    case "phrase":
      return phraseQuery(shard, quotedField(shard, name, options), node.text, {
        slop: node.slop || options.phraseSlop,
        analyzer: options.analyzer,
        lenient: options.lenient,
      });
    case "range":
      return lenientRange(shard, name, node, options);
    case "wildcard":
      if (!options.allowLeadingWildcard && /^[*?]/.test(node.pattern)) {
        throw new AppError("query_shard", `'*' or '?' not allowed as first character in [${node.pattern}]`);
      }
      return patternOf(shard, name, options, (path, text) => wildcardQuery(path, text(node.pattern)));
    case "regexp":
      return patternOf(shard, name, options, (path, text) =>
        regexpQuery(path, text(node.source), options.maxRegexLength),
      );
    default:
      return new NoneNode();
  }
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
