/** `match_phrase`: documents in which the words of a text follow one another. */

import { AllNode, NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { phraseQuery } from "#hub/search/fields/text-query.ts";
import { integer, oneOf, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  slop: integer("places that words may be moved", 0),
  analyzer: text("analyzer instead of the field's", undefined),
  zero_terms_query: oneOf("what a text without words matches", ["none", "all"], "none"),
} as const;

export const matchPhrase: QueryType = {
  name: "match_phrase",
  summary: "Documents in which the words of a text follow one another.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_phrase", body, OPTIONS, ["query"]);
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
