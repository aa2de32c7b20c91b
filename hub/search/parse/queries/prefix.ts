/** `prefix`: documents with a term that begins so. */

import { patternQuery } from "#hub/search/fields/pattern-query.ts";
import { prefixQuery } from "#hub/search/fields/text-query.ts";
import { scalarText } from "#hub/search/options/json.ts";
import { text } from "#hub/search/options/options.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = { rewrite: text("accepted; all matches score alike", undefined) } as const;

export const prefix: QueryType = {
  name: "prefix",
  summary: "Documents with a term that begins so.",
  options: OPTIONS,
  parse(body) {
    const { field, value, options } = readFieldBody("prefix", body, OPTIONS, ["value", "prefix"]);
    const start = scalarText(value, "prefix");
    return withBoost(
      patternQuery("prefix", field, (path) => prefixQuery(path, start)),
      options,
    );
  },
};
