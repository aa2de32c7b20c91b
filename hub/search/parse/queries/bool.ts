/** `bool`: required, optional, filtering and forbidden queries together. */

import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { anything, flag, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  must: anything("queries that all have to match; their scores are added"),
  filter: anything("queries that all have to match and don't score"),
  should: anything("queries of which some have to match; their scores are added"),
  must_not: anything("queries that mustn't match"),
  mustNot: anything("must_not"),
  minimum_should_match: text("how many of [should] have to match", undefined),
  adjust_pure_negative: flag("accepted", true),
} as const;

export const bool: QueryType = {
  name: "bool",
  summary: "Required, optional, filtering and forbidden queries together.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("bool", body, OPTIONS);
    const minimum = minimumShouldMatch(options.minimum_should_match);
    const query = new BooleanNode({
      must: parser.parseList(options.must),
      filter: parser.parseList(options.filter),
      should: parser.parseList(options.should),
      mustNot: parser.parseList(options.must_not ?? options.mustNot),
      ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
    });
    return withBoost(query, options);
  },
};
