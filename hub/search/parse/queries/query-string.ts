/**
 * Queries written as text: `query_string` in the language of Lucene, `simple_query_string` for search boxes.
 */

import { timeZone } from "#hub/search/dates/date-math.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { readFieldNames } from "#hub/search/fields/field-names.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { scalarText } from "#hub/search/options/json.ts";
import {
  anything,
  flag,
  hint,
  integer,
  number,
  oneOf,
  required,
  text,
  texts,
  withoutEffect,
} from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { parseLucene } from "#hub/search/parse/query-string/lucene-syntax.ts";
import { parseSimple, SIMPLE_FLAGS, type SimpleFlag } from "#hub/search/parse/query-string/simple-syntax.ts";
import { leafCount } from "#hub/search/parse/query-string/syntax.ts";
import { STRING_TYPES, stringQuery } from "#hub/search/parse/query-string/to-query.ts";
import { checkRewrite } from "#hub/search/parse/rewrite-method.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";

const QUERY_STRING_OPTIONS = {
  query: required(text("the query", undefined)),
  default_field: text("field of parts without a field name", undefined),
  fields: texts("fields of parts without a field name, with * and ^boost"),
  default_operator: oneOf("what joins parts without an operator", ["or", "and"], "or"),
  analyzer: text("analyzer instead of the fields'", undefined),
  quote_analyzer: text("analyzer of phrases instead of the fields'", undefined),
  quote_field_suffix: text("ending of the fields in which phrases are looked for", undefined),
  allow_leading_wildcard: flag("whether patterns may begin with * or ?", true),
  analyze_wildcard: hint(
    flag("patterns are lower-cased where the analyzer does so, and never stemmed", false),
  ),
  enable_position_increments: withoutEffect(flag("removed words always leave a gap", true)),
  lenient: flag("whether values of the wrong type match nothing instead of failing", undefined),
  fuzziness: withoutEffect(text("write the edits into the query: term~1", undefined)),
  fuzzy_prefix_length: integer("leading characters of fuzzy words without edits", 0),
  fuzzy_max_expansions: integer("maximum number of similar terms of a fuzzy word", 50, 1),
  fuzzy_transpositions: flag("whether two transposed letters are one edit", true),
  fuzzy_rewrite: withoutEffect(text("similar terms score alike", undefined)),
  phrase_slop: integer("number of positions that words of phrases may be moved", 0),
  minimum_should_match: text("how many optional parts have to match", undefined),
  max_determinized_states: hint(integer("the size of an automaton is bounded in any case", 10_000)),
  auto_generate_synonyms_phrase_query: flag(
    "whether the words of a synonym of several must follow one another",
    true,
  ),
  auto_generate_phrase_queries: withoutEffect(flag("6.x ignores it as well", false)),
  split_on_whitespace: withoutEffect(flag("6.x ignores it as well", true)),
  use_dis_max: withoutEffect(flag("6.x ignores it as well", true)),
  use_all_fields: withoutEffect(flag("without fields all are searched", undefined)),
  all_fields: withoutEffect(flag("without fields all are searched", undefined)),
  lowercase_expanded_terms: withoutEffect(flag("patterns are lower-cased where the analyzer does so", true)),
  locale: withoutEffect(text("6.x ignores it as well", undefined)),
  escape: withoutEffect(flag("write a backslash before operators", false)),
  rewrite: withoutEffect(text("all matches score alike", undefined)),
  tie_breaker: number("share of the scores of other fields", 0),
  type: oneOf("how fields are combined, as in multi_match", STRING_TYPES, "best_fields"),
  time_zone: text("time zone of dates without one", undefined),
} as const;

export const queryString: QueryType = {
  name: "query_string",
  summary: "A query written as text in Lucene's language.",
  options: QUERY_STRING_OPTIONS,
  parse(body, parser) {
    const options = readBody("query_string", body, QUERY_STRING_OPTIONS);
    checkRewrite(options.rewrite);
    if (options.default_field !== undefined && options.fields !== undefined) {
      throw new AppError(
        "parsing",
        "[query_string] cannot use [fields] parameter in conjunction with [default_field]",
      );
    }
    const names =
      options.fields ?? (options.default_field === undefined ? undefined : [options.default_field]);
    const operator = options.default_operator ?? "or";
    const tree = parseLucene(options.query, operator);
    parser.countClauses(leafCount(tree));
    const settings = {
      fields: readFieldNames(names ?? ["*"]),
      defaultOperator: operator,
      type: options.type ?? "best_fields",
      quoteFieldSuffix: options.quote_field_suffix,
      analyzer: options.analyzer,
      quoteAnalyzer: options.quote_analyzer,
      lenient: options.lenient ?? readsAllFields(names),
      phraseSlop: options.phrase_slop ?? 0,
      allowLeadingWildcard: options.allow_leading_wildcard ?? true,
      minimumShouldMatch: minimumShouldMatch(options.minimum_should_match),
      tieBreaker: options.tie_breaker ?? 0,
      zone: timeZone(options.time_zone),
      fuzzyPrefixLength: options.fuzzy_prefix_length,
      fuzzyMaxExpansions: options.fuzzy_max_expansions,
      fuzzyTranspositions: options.fuzzy_transpositions,
      phraseSynonyms: options.auto_generate_synonyms_phrase_query,
      maxRegexLength: parser.maxRegexLength,
    };
    return withBoost(new MappedNode((shard) => stringQuery(shard, tree, settings)), options);
  },
};

const SIMPLE_OPTIONS = {
  query: required(text("the text", undefined)),
  fields: texts("fields, with * and ^boost"),
  default_operator: oneOf("what joins parts without an operator", ["or", "and"], "or"),
  analyzer: text("analyzer instead of the fields'", undefined),
  flags: anything("operators that are on: ALL, NONE or names joined by |, or their sum as a number"),
  lenient: flag("whether values of the wrong type match nothing instead of failing", undefined),
  minimum_should_match: text("how many optional parts have to match", undefined),
  analyze_wildcard: hint(
    flag("patterns are lower-cased where the analyzer does so, and never stemmed", false),
  ),
  quote_field_suffix: text("ending of the fields in which phrases are looked for", undefined),
  auto_generate_synonyms_phrase_query: flag(
    "whether the words of a synonym of several must follow one another",
    true,
  ),
  fuzzy_prefix_length: integer("leading characters of fuzzy words without edits", 0),
  fuzzy_max_expansions: integer("maximum number of similar terms of a fuzzy word", 50, 1),
  fuzzy_transpositions: flag("whether two transposed letters are one edit", true),
  all_fields: withoutEffect(flag("without fields all are searched", undefined)),
} as const;

export const simpleQueryString: QueryType = {
  name: "simple_query_string",
  summary: "The text of a search box; nothing in it is a fault.",
  options: SIMPLE_OPTIONS,
  parse(body, parser) {
    const options = readBody("simple_query_string", body, SIMPLE_OPTIONS);
    const operator = options.default_operator ?? "or";
    const tree = parseSimple(options.query, operator, readFlags(options.flags));
    parser.countClauses(leafCount(tree));
    const settings = {
      fields: readFieldNames(options.fields ?? ["*"]),
      defaultOperator: operator,
      // Scores of all fields are added, except those of phrases.
      type: "most_fields" as const,
      quoteFieldSuffix: options.quote_field_suffix,
      analyzer: options.analyzer,
      lenient: options.lenient ?? true,
      phraseSlop: 0,
      allowLeadingWildcard: true,
      minimumShouldMatch: minimumShouldMatch(options.minimum_should_match),
      tieBreaker: 0,
      zone: UTC,
      fuzzyPrefixLength: options.fuzzy_prefix_length,
      fuzzyMaxExpansions: options.fuzzy_max_expansions,
      fuzzyTranspositions: options.fuzzy_transpositions,
      phraseSynonyms: options.auto_generate_synonyms_phrase_query,
      maxRegexLength: parser.maxRegexLength,
    };
    return withBoost(new MappedNode((shard) => stringQuery(shard, tree, settings)), options);
  },
};

/** Without fields, or with `*`, a value that doesn't fit a field finds nothing there, also if the query names that field. */
function readsAllFields(names: readonly string[] | undefined): boolean {
  return names === undefined || names.includes("*");
}

/** Bits of the flags in the order of SIMPLE_FLAGS; SLOP is also called NEAR. */
const FLAG_BITS = SIMPLE_FLAGS.map((_, at) => 1 << at);

/** Reads `flags`. Throws request_invalid for an unknown name. */
function readFlags(given: unknown): ReadonlySet<SimpleFlag> | undefined {
  if (given === undefined || given === null || given === "" || given === -1) return undefined;
  if (typeof given === "number")
    return new Set(SIMPLE_FLAGS.filter((_, at) => (given & FLAG_BITS[at]!) !== 0));
  const flags = new Set<SimpleFlag>();
  for (const part of scalarText(given, "flags").split("|")) {
    const name = part.trim().toUpperCase();
    if (name === "ALL") return undefined;
    const flag = SIMPLE_FLAGS.find((each) => each === (name === "NEAR" ? "SLOP" : name));
    if (flag !== undefined) flags.add(flag);
    else if (name !== "NONE" && name !== "")
      throw new AppError("request_invalid", `Unknown simple_query_string flag [${part}]`);
  }
  return flags;
}
