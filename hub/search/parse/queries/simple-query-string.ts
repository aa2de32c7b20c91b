/** `simple_query_string`: the text of a search box; nothing in it is a fault. */

import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { readFieldNames } from "#hub/search/fields/field-names.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { anything, flag, integer, oneOf, required, text, texts } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { parseSimple } from "#hub/search/parse/query-string/simple-syntax.ts";
import { leafCount } from "#hub/search/parse/query-string/syntax.ts";
import { stringQuery } from "#hub/search/parse/query-string/to-query.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";

const OPTIONS = {
  query: required(text("the text", undefined)),
  fields: texts("fields, with * and ^boost"),
  default_operator: oneOf("what joins parts without an operator", ["or", "and"], "or"),
  analyzer: text("analyzer instead of the fields'", undefined),
  flags: anything("accepted; all operators are on"),
  lenient: flag("whether values of the wrong kind match nothing instead of failing", undefined),
  minimum_should_match: text("how many optional parts have to match", undefined),
  analyze_wildcard: flag("accepted", false),
  quote_field_suffix: text("accepted", undefined),
  auto_generate_synonyms_phrase_query: flag("accepted", true),
  fuzzy_prefix_length: integer("accepted", 0),
  fuzzy_max_expansions: integer("accepted", 50),
  fuzzy_transpositions: flag("accepted", true),
  all_fields: flag("accepted", undefined),
} as const;

export const simpleQueryString: QueryType = {
  name: "simple_query_string",
  summary: "The text of a search box; nothing in it is a fault.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("simple_query_string", body, OPTIONS);
    const operator = options.default_operator ?? "or";
    const tree = parseSimple(options.query, operator);
    parser.countClauses(leafCount(tree));
    const settings = {
      fields: readFieldNames(options.fields ?? ["*"]),
      defaultOperator: operator,
      analyzer: options.analyzer,
      lenient: options.lenient ?? true,
      phraseSlop: 0,
      allowLeadingWildcard: true,
      minimumShouldMatch: minimumShouldMatch(options.minimum_should_match),
      tieBreaker: 0,
      zone: UTC,
      maxRegexLength: parser.maxRegexLength,
    };
    return withBoost(new MappedNode((shard) => stringQuery(shard, tree, settings)), options);
  },
};
