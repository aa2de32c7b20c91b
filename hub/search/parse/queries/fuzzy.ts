/** `fuzzy`: documents with a term that differs by few edits. */

import { patternQuery } from "#hub/search/fields/pattern-query.ts";
import { editsOf, fuzzyQuery } from "#hub/search/fields/text-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { flag, integer, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  fuzziness: text("edits: AUTO, 0, 1 or 2", "AUTO"),
  prefix_length: integer("leading characters without edits", 0),
  max_expansions: integer("accepted; every similar term is found", 50),
  transpositions: flag("accepted; swapped neighbours count one edit", true),
  rewrite: text("accepted; all matches score alike", undefined),
} as const;

export const fuzzy: QueryType = {
  name: "fuzzy",
  summary: "Documents with a term that differs by few edits.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("fuzzy", body, OPTIONS, ["value"]);
    const term = scalarText(value, "fuzzy");
    const edits = editsOf(options.fuzziness ?? "AUTO", term);
    return withBoost(
      patternQuery("fuzzy", field, (path) => fuzzyQuery(path, term, edits, options.prefix_length ?? 0)),
      options,
    );
  },
};
