/**
 * Queries that analyse text: `match`, `match_phrase`, `match_phrase_prefix`, `match_bool_prefix`, `common`.
 */

import { AllNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { phraseQuery } from "#hub/search/fields/phrase-query.ts";
import { boolPrefixQuery, MAX_EXPANSIONS, matchQuery } from "#hub/search/fields/text-query.ts";
import { anything, flag, integer, number, oneOf, text, withoutEffect } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";
import { isObject } from "#proto/kit/json.ts";

/** Options of queries that analyse text. */
export const MATCH_OPTIONS = {
  operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  minimum_should_match: text("how many words have to be found", undefined),
  analyzer: text("analyzer instead of the field's", undefined),
  fuzziness: text("edits that words may differ by: AUTO, 0, 1 or 2", undefined),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer("maximum number of similar terms of a word", MAX_EXPANSIONS, 1),
  fuzzy_transpositions: flag("whether two transposed letters are one edit", true),
  fuzzy_rewrite: withoutEffect(text("similar terms score alike", undefined)),
  lenient: flag("whether values of the wrong type match nothing instead of failing", false),
  zero_terms_query: oneOf("documents that a text without words matches", ["none", "all"], "none"),
  cutoff_frequency: withoutEffect(number("all words count alike; rare words score higher anyway", undefined)),
  auto_generate_synonyms_phrase_query: flag(
    "whether the words of a synonym of several must follow one another",
    true,
  ),
} as const;

export const match: QueryType = {
  name: "match",
  summary: "Documents that hold words of a text.",
  options: MATCH_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match", body, MATCH_OPTIONS, ["query"]);
    minimumShouldMatch(options.minimum_should_match);
    const query = new MappedNode((shard) =>
      matchQuery(shard, field, value, {
        operator: options.operator ?? "or",
        minimumShouldMatch: options.minimum_should_match,
        analyzer: options.analyzer,
        fuzziness: options.fuzziness,
        prefixLength: options.prefix_length ?? 0,
        maxExpansions: options.max_expansions ?? MAX_EXPANSIONS,
        transpositions: options.fuzzy_transpositions,
        phraseSynonyms: options.auto_generate_synonyms_phrase_query,
        lenient: options.lenient ?? false,
        zeroTerms: options.zero_terms_query === "all" ? new AllNode() : new NoneNode(),
      }),
    );
    return withBoost(query, options);
  },
};

const PHRASE_OPTIONS = {
  slop: integer("number of positions that words may be moved", 0),
  analyzer: text("analyzer instead of the field's", undefined),
  zero_terms_query: oneOf("documents that a text without words matches", ["none", "all"], "none"),
} as const;

export const matchPhrase: QueryType = {
  name: "match_phrase",
  summary: "Documents in which the words of a text follow one another.",
  options: PHRASE_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_phrase", body, PHRASE_OPTIONS, ["query"]);
    const query = new MappedNode((shard) =>
      phraseQuery(shard, field, value, {
        slop: options.slop ?? 0,
        analyzer: options.analyzer,
        lenient: false,
        zeroTerms: options.zero_terms_query === "all" ? new AllNode() : new NoneNode(),
      }),
    );
    return withBoost(query, options);
  },
};

const PHRASE_PREFIX_OPTIONS = {
  slop: integer("number of positions that words may be moved", 0),
  analyzer: text("analyzer instead of the field's", undefined),
  max_expansions: integer("words that the last one is completed to", 50, 1),
} as const;

export const matchPhrasePrefix: QueryType = {
  name: "match_phrase_prefix",
  summary: "A phrase whose last word may be a beginning.",
  options: PHRASE_PREFIX_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_phrase_prefix", body, PHRASE_PREFIX_OPTIONS, [
      "query",
    ]);
    const query = new MappedNode((shard) =>
      phraseQuery(shard, field, value, {
        slop: options.slop ?? 0,
        analyzer: options.analyzer,
        lenient: false,
        maxExpansions: options.max_expansions ?? 50,
        zeroTerms: new NoneNode(),
      }),
    );
    return withBoost(query, options);
  },
};

const BOOL_PREFIX_OPTIONS = {
  operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  minimum_should_match: text("how many words have to be found", undefined),
  analyzer: text("analyzer instead of the field's", undefined),
  fuzziness: text("edits that words but the last may differ by", undefined),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer("maximum number of similar terms of a word", undefined, 1),
  fuzzy_transpositions: flag("whether two transposed letters are one edit", true),
  fuzzy_rewrite: withoutEffect(text("similar terms score alike", undefined)),
} as const;

export const matchBoolPrefix: QueryType = {
  name: "match_bool_prefix",
  summary: "Words of a text, the last of which may be a beginning.",
  options: BOOL_PREFIX_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_bool_prefix", body, BOOL_PREFIX_OPTIONS, [
      "query",
    ]);
    const query = new MappedNode((shard) =>
      boolPrefixQuery(shard, field, value, {
        operator: options.operator ?? "or",
        minimumShouldMatch: options.minimum_should_match,
        analyzer: options.analyzer,
        fuzziness: options.fuzziness,
        prefixLength: options.prefix_length ?? 0,
        maxExpansions: options.max_expansions ?? MAX_EXPANSIONS,
        transpositions: options.fuzzy_transpositions,
        lenient: false,
      }),
    );
    return withBoost(query, options);
  },
};

const COMMON_TERMS_OPTIONS = {
  cutoff_frequency: withoutEffect(number("all words count alike; rare words score higher anyway", undefined)),
  low_freq_operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  high_freq_operator: withoutEffect(
    oneOf("all words count alike; use low_freq_operator", ["or", "and"], "or"),
  ),
  minimum_should_match: anything("how many words have to be found, or {low_freq, high_freq}"),
  analyzer: text("analyzer instead of the field's", undefined),
} as const;

export const common: QueryType = {
  name: "common",
  summary: "Documents that hold words of a text.",
  options: COMMON_TERMS_OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("common", body, COMMON_TERMS_OPTIONS, ["query"]);
    const given = options.minimum_should_match;
    const minimum: unknown = isObject(given) ? given["low_freq"] : given;
    if (minimum !== undefined && typeof minimum !== "string" && typeof minimum !== "number")
      throw new AppError(
        "parsing",
        "[common] [minimum_should_match] must be a number or a text such as 2<75%",
      );
    const wanted = minimum === undefined ? undefined : String(minimum);
    minimumShouldMatch(wanted);
    const query = new MappedNode((shard) =>
      matchQuery(shard, field, value, {
        operator: options.low_freq_operator ?? "or",
        minimumShouldMatch: wanted,
        analyzer: options.analyzer,
        lenient: false,
        zeroTerms: new NoneNode(),
      }),
    );
    return withBoost(query, options);
  },
};
