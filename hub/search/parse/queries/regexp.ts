/** `regexp`: documents with a term that a regular expression matches. */

import { patternQuery, regexpQuery } from "#hub/search/fields/pattern-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { integer, text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  flags: text("accepted; the optional operators of Lucene aren't offered", undefined),
  flags_value: integer("accepted", undefined),
  max_determinized_states: integer("accepted; states are bounded anyway", 10_000),
  rewrite: text("accepted; all matches score alike", undefined),
} as const;

export const regexp: QueryType = {
  name: "regexp",
  summary: "Documents with a term that a regular expression matches as a whole.",
  options: OPTIONS,
  parse(body, { maxRegexLength }) {
    const { field, value, options } = readFieldBody("regexp", body, OPTIONS, ["value", "regexp"]);
    const make = regexpQuery(scalarText(value, "regexp"), maxRegexLength);
    return withBoost(patternQuery("regexp", field, make), options);
  },
};
