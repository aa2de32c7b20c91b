/** `match`: documents that hold the words of a text. */

import { AllNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { minimumShouldMatch } from "#hub/search/fields/minimum-should-match.ts";
import { matchQuery } from "#hub/search/fields/text-query.ts";
import { flag, integer, number, oneOf, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

/** Options of queries that analyse text. */
export const MATCH_OPTIONS = {
  operator: oneOf("whether any or all words have to be found", ["or", "and"], "or"),
  minimum_should_match: text("how many words have to be found", undefined),
  analyzer: text("analyzer instead of the field's", undefined),
  fuzziness: text("edits that words may differ by: AUTO, 0, 1 or 2", undefined),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer("accepted; every similar term is found", 50),
  fuzzy_transpositions: flag("accepted; swapped neighbours count one edit", true),
  fuzzy_rewrite: text("accepted; similar terms score alike", undefined),
  lenient: flag("whether values of the wrong kind match nothing instead of failing", false),
  zero_terms_query: oneOf("what a text without words matches", ["none", "all"], "none"),
  cutoff_frequency: number("accepted; all words count alike", undefined),
  auto_generate_synonyms_phrase_query: flag("accepted", true),
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
        lenient: options.lenient ?? false,
        zeroTerms: options.zero_terms_query === "all" ? new AllNode() : new NoneNode(),
      }),
    );
    return withBoost(query, options);
  },
};
