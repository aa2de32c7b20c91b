/** `multi_match`: a text searched in several fields. */

import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { anyOf } from "#hub/search/execute/nodes/boolean.ts";
import { AllNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { boosted, MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { type CrossFieldsOptions, crossFieldsQuery } from "#hub/search/fields/cross-fields.ts";
import { expandFields, readFieldNames } from "#hub/search/fields/field-names.ts";
import { phraseQuery } from "#hub/search/fields/phrase-query.ts";
import { boolPrefixQuery, matchQuery } from "#hub/search/fields/text-query.ts";
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
  fuzzy_transpositions: flag("whether two transposed letters are one edit", true),
  slop: integer("number of positions that words of a phrase may be moved", 0),
  tie_breaker: number("share of the other fields' scores", undefined),
  lenient: flag("whether values of the wrong type match nothing instead of failing", undefined),
  zero_terms_query: oneOf("documents that a text without words matches", ["none", "all"], "none"),
  cutoff_frequency: withoutEffect(number("all words count alike; rare words score higher anyway", undefined)),
  auto_generate_synonyms_phrase_query: flag(
    "whether the words of a synonym of several must follow one another",
    true,
  ),
} as const;

export const multiMatch: QueryType = {
  name: "multi_match",
  summary: "A text in several fields.",
  options: OPTIONS,
  parse(body) {
    const options = read(body);
    if (options.fields?.length === 0) {
      throw new AppError("parsing", "[multi_match] [fields] is empty; name a field or leave it out for all");
    }
    if (options.type === "bool_prefix") refuseForPrefix(body);
    const names = readFieldNames(options.fields ?? ["*"]);
    const words = {
      operator: options.operator ?? "or",
      minimumShouldMatch: options.minimum_should_match,
      analyzer: options.analyzer,
      phraseSynonyms: options.auto_generate_synonyms_phrase_query,
      lenient: options.lenient ?? options.fields === undefined,
      zeroTerms: options.zero_terms_query === "all" ? new AllNode() : new NoneNode(),
    };
    const one = fieldQuery(options, words);
    const query = new MappedNode((shard) => {
      if (options.type === "cross_fields") {
        const tieBreaker = options.tie_breaker ?? 0;
        return crossFieldsQuery(shard, expandFields(shard, names), options.query, { ...words, tieBreaker });
      }
      const parts = expandFields(shard, names).map(({ name, boost }) => boosted(one(shard, name), boost));
      if (parts.length === 0) return new NoneNode();
      const adds = options.type === "most_fields" || options.type === "bool_prefix";
      return adds ? anyOf(parts) : bestOf(parts, options.tie_breaker ?? 0);
    });
    return withBoost(query, options);
  },
};

function read(body: unknown) {
  return readBody("multi_match", body, OPTIONS);
}

/** What queries of words and of phrases share, of the fields alone and of all as one. */
type WordOptions = Omit<CrossFieldsOptions, "tieBreaker"> & { readonly zeroTerms: Query };

/** Returns what makes the query of one field. */
function fieldQuery(
  options: ReturnType<typeof read>,
  words: WordOptions,
): (shard: ShardContext, field: string) => Query {
  const { type, query } = options;
  const maxExpansions = options.max_expansions ?? 50;
  if (type === "phrase" || type === "phrase_prefix") {
    const { analyzer, lenient, zeroTerms } = words;
    const phrase = {
      slop: options.slop ?? 0,
      analyzer,
      lenient,
      zeroTerms,
      ...(type === "phrase_prefix" && { maxExpansions }),
    };
    return (shard, field) => phraseQuery(shard, field, query, phrase);
  }
  const match = {
    ...words,
    fuzziness: options.fuzziness,
    prefixLength: options.prefix_length ?? 0,
    maxExpansions,
    transpositions: options.fuzzy_transpositions,
  };
  const make = type === "bool_prefix" ? boolPrefixQuery : matchQuery;
  return (shard, field) => make(shard, field, query, match);
}

/** Throws request_invalid for options that `bool_prefix` doesn't support. */
function refuseForPrefix(body: unknown): void {
  for (const name of ["slop", "cutoff_frequency"]) {
    if (isObject(body) && body[name] !== undefined)
      throw new AppError("request_invalid", `[${name}] not allowed for type [bool_prefix]`);
  }
}
