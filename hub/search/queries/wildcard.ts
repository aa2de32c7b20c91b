/** `wildcard`: documents with a term that fits a pattern with * and ?. */

import { scalarText } from "../json.ts";
import { text } from "../options.ts";
import { patternQuery, wildcardQuery } from "../pattern-query.ts";
import { type QueryType, readFieldBody, withBoost } from "../query-parser.ts";

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
