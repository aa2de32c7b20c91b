/** `prefix`: documents with a term that begins so. */

import { scalarText } from "../json.ts";
import { text } from "../options.ts";
import { patternQuery } from "../pattern-query.ts";
import { type QueryType, readFieldBody, withBoost } from "../query-parser.ts";
import { prefixQuery } from "../text-query.ts";

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
