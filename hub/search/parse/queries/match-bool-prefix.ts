/** `match_bool_prefix`: words of a text, the last of which may be a beginning. */

import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { boolPrefixQuery } from "#hub/search/fields/bool-prefix.ts";
import { flag, integer, oneOf, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  minimum_should_match: text("how many words have to be found", undefined),
  analyzer: text("analyzer instead of the field's", undefined),
  fuzziness: text("edits that words but the last may differ by", undefined),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer("accepted; every term that fits counts", undefined, 1),
  fuzzy_transpositions: flag("accepted", true),
  fuzzy_rewrite: text("accepted", undefined),
} as const;

export const matchBoolPrefix: QueryType = {
  name: "match_bool_prefix",
  summary: "Words of a text, the last of which may be a beginning.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_bool_prefix", body, OPTIONS, ["query"]);
    const query = new MappedNode((shard) =>
      boolPrefixQuery(shard, field, value, {
        operator: options.operator ?? "or",
        minimumShouldMatch: options.minimum_should_match,
        analyzer: options.analyzer,
        fuzziness: options.fuzziness,
        prefixLength: options.prefix_length ?? 0,
        lenient: false,
      }),
    );
    return withBoost(query, options);
  },
};
