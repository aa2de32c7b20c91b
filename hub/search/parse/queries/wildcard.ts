/** `wildcard`: documents with a term that fits a pattern with * and ?. */

import { patternQuery, wildcardQuery } from "#hub/search/fields/pattern-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = { rewrite: text("accepted; all matches score alike", undefined) } as const;

export const wildcard: QueryType = {
  name: "wildcard",
  summary: "Documents with a term that fits a pattern with * and ?.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("wildcard", body, OPTIONS, ["value", "wildcard"]);
    const pattern = scalarText(value, "wildcard");
    return withBoost(
      patternQuery("wildcard", field, (path) => wildcardQuery(path, pattern)),
      options,
    );
  },
};
