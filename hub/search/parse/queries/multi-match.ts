/**
 * `multi_match`: a text searched in several fields. `cross_fields` of `multi_match`: fields with the same analyzer are
 * searched as if they were one. Each term may be in any of them and has the same document frequency in all, so that a
 * field in which a term is rare does not decide the order.
 */

import type { Field } from "#hub/engine/mapping/field.ts";
import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { anyOf, BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { TermNode } from "#hub/search/execute/nodes/term.ts";
import { boosted, MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { expandFields, type FieldName, readFieldNames } from "#hub/search/fields/field-names.ts";
import { checkSearchable, fieldOf } from "#hub/search/fields/field-terms.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import {
  analyze,
  boolPrefixQuery,
  matchQuery,
  phraseQuery,
  tokenPlaces,
  unlessLenient,
} from "#hub/search/fields/text-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  integer,
  number,
  oneOf,
  required,
  text,
  texts,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import type { Query, ShardContext } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

interface CrossFieldsOptions {
  readonly operator: "or" | "and";
  readonly minimumShouldMatch: string | undefined;
  /** Analyzer instead of the fields'. */
  readonly analyzer: string | undefined;
  /** Share of the scores of the other fields. */
  readonly tieBreaker: number;
  readonly lenient: boolean;
}

interface BoostedField {
  readonly field: Field;
  readonly boost: number;
}

const OPTIONS = {
  query: required(anything("the text")),
  fields: texts("names of fields, with * and ^boost"),
  type: oneOf(
    "how fields are combined: the best one, all added up, or as phrases",
    ["best_fields", "most_fields", "cross_fields", "phrase", "phrase_prefix", "bool_prefix"],
    "best_fields",
  ),
  operator: oneOf("whether any or all words have to be found in a field", ["or", "and"], "or"),
  minimum_should_match: text("how many words have to be found", undefined),
  analyzer: text("analyzer instead of the fields'", undefined),
  fuzziness: text("edits that words may differ by", undefined),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer(
    "similar terms of a word, or words that the last one of a phrase prefix is completed to",
    50,
    1,
  ),
  slop: integer("number of positions that words of a phrase may be moved", 0),
  tie_breaker: number("share of the other fields' scores", undefined),
  lenient: flag("whether values of the wrong type match nothing instead of failing", undefined),
  zero_terms_query: withoutEffect(oneOf("a text without words matches nothing", ["none", "all"], "none")),
  cutoff_frequency: withoutEffect(number("all words count alike; rare words score higher anyway", undefined)),
  auto_generate_synonyms_phrase_query: withoutEffect(
    flag("synonyms of several words are always phrases", true),
  ),
} as const;

export const multiMatch: QueryType = {
  name: "multi_match",
  summary: "A text in several fields.",
  options: OPTIONS,
  parse(body) {
    const options = readBody("multi_match", body, OPTIONS);
    if (options.fields?.length === 0) {
      throw new AppError("parsing", "[multi_match] [fields] is empty; name a field or leave it out for all");
    }
    if (options.type === "bool_prefix") refuseForPrefix(body);
    const names = readFieldNames(options.fields ?? ["*"]);
    const lenient = options.lenient ?? options.fields === undefined;
    const one = (shard: ShardContext, field: string): Query => {
      if (options.type === "phrase" || options.type === "phrase_prefix") {
        const expansions = options.type === "phrase" ? {} : { maxExpansions: options.max_expansions ?? 50 };
        return phraseQuery(shard, field, options.query, {
          slop: options.slop ?? 0,
          analyzer: options.analyzer,
          lenient,
          ...expansions,
        });
      }
      const query = options.type === "bool_prefix" ? boolPrefixQuery : matchQuery;
      return query(shard, field, options.query, {
        operator: options.operator ?? "or",
        minimumShouldMatch: options.minimum_should_match,
        analyzer: options.analyzer,
        fuzziness: options.fuzziness,
        prefixLength: options.prefix_length ?? 0,
        maxExpansions: options.max_expansions ?? 50,
        lenient,
      });
    };
    const query = new MappedNode((shard) => {
      if (options.type === "cross_fields") {
        return crossFieldsQuery(shard, expandFields(shard, names), options.query, {
          operator: options.operator ?? "or",
          minimumShouldMatch: options.minimum_should_match,
          analyzer: options.analyzer,
          tieBreaker: options.tie_breaker ?? 0,
          lenient,
        });
      }
      const parts = expandFields(shard, names).map(({ name, boost }) => boosted(one(shard, name), boost));
      if (parts.length === 0) return new NoneNode();
      const adds = options.type === "most_fields" || options.type === "bool_prefix";
      return adds ? anyOf(parts) : bestOf(parts, options.tie_breaker ?? 0);
    });
    return withBoost(query, options);
  },
};

/** Throws request_invalid for options that `bool_prefix` doesn't support. */
function refuseForPrefix(body: unknown): void {
  for (const name of ["slop", "cutoff_frequency"]) {
    if (isObject(body) && body[name] !== undefined)
      throw new AppError("request_invalid", `[${name}] not allowed for type [bool_prefix]`);
  }
}

/** Returns the documents that have the terms of a text, each in any of the fields. */
function crossFieldsQuery(
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
  const places = tokenPlaces(analyze(shard, first, scalarText(value, first.path), options.analyzer));
  if (places.length === 0) return new NoneNode();
  const clauses = places.map(({ terms }) =>
    bestOf(
      terms.flatMap((term) => blended(shard, group, term)),
      options.tieBreaker,
    ),
  );
  if (clauses.length === 1) return clauses[0]!;
  if (options.operator === "and") return new BooleanNode({ must: clauses });
  const minimum = minimumShouldMatch(options.minimumShouldMatch);
  return new BooleanNode({
    should: clauses,
    ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
  });
}

/**
 * One term in several fields with the largest of its document frequencies. As in BlendedTermQuery of Elasticsearch, each field
 * in which it is rarer counts one document more, so that fields in which it is frequent win ties.
 */
function blended(shard: ShardContext, group: readonly BoostedField[], term: string): Query[] {
  const frequencies = group.map(({ field }) => shard.docFreq(field.path, term));
  const tokens = group.map(({ field }) => shard.fieldStats(field.path).sumTotalTermFreq);
  const most = Math.min(...tokens);
  const docFreqs = new Map<number, number>();
  let docFreq = Math.max(...frequencies);
  let before = docFreq;
  for (const at of [...group.keys()].sort((a, b) => frequencies[b]! - frequencies[a]!)) {
    if (frequencies[at]! < before) docFreq++;
    before = frequencies[at]!;
    docFreqs.set(at, Math.min(most, docFreq));
  }
  return group.map(({ field, boost }, at) =>
    boosted(new TermNode(field.path, term, frequencies[at] === 0 ? 0 : docFreqs.get(at)), boost),
  );
}
