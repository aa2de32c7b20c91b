/** `match_bool_prefix`: words of a text, the last of which may be a beginning. */

import { scalarText } from "../json.ts";
import { minimumShouldMatch } from "../minimum-should-match.ts";
import { BooleanNode } from "../nodes/boolean.ts";
import { ConstantNode, MappedNode } from "../nodes/wrap.ts";
import { oneOf, text } from "../options.ts";
import { type QueryType, readFieldBody, withBoost } from "../query-parser.ts";
import { matchQuery, phraseQuery } from "../text-query.ts";

const OPTIONS = {
  operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  minimum_should_match: text("how many words have to be found", undefined),
  analyzer: text("analyzer instead of the field's", undefined),
} as const;

/** Terms that the last word is completed to. */
const MAX_EXPANSIONS = 1024;

export const matchBoolPrefix: QueryType = {
  name: "match_bool_prefix",
  summary: "Words of a text, the last of which may be a beginning.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_bool_prefix", body, OPTIONS, ["query"]);
    const minimum = minimumShouldMatch(options.minimum_should_match);
    const words = scalarText(value, field).trim().split(/\s+/);
    const last = words.pop() ?? "";
    const query = new MappedNode((shard) => {
      const how = { analyzer: options.analyzer, lenient: false };
      const clauses = [
        ...words.map((word) => matchQuery(shard, field, word, { operator: "or", ...how })),
        new ConstantNode(phraseQuery(shard, field, last, { slop: 0, maxExpansions: MAX_EXPANSIONS, ...how })),
      ];
      if (options.operator === "and") return new BooleanNode({ must: clauses });
      return new BooleanNode({
        should: clauses,
        ...(minimum === undefined ? {} : { minimumShouldMatch: minimum }),
      });
    });
    return withBoost(query, options);
  },
};
