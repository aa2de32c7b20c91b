/** `match_phrase_prefix`: a phrase whose last word may be a beginning. */

import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { phraseQuery } from "#hub/search/fields/text-query.ts";
import { integer, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  slop: integer("places that words may be moved", 0),
  analyzer: text("analyzer instead of the field's", undefined),
  max_expansions: integer("words that the last one is completed to", 50, 1),
} as const;

export const matchPhrasePrefix: QueryType = {
  name: "match_phrase_prefix",
  summary: "A phrase whose last word may be a beginning.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("match_phrase_prefix", body, OPTIONS, ["query"]);
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
