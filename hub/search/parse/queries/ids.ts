/** `ids`: documents with these ids. */

import { IdsNode } from "#hub/search/execute/nodes/documents.ts";
import { required, texts } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  values: required(texts("ids")),
  type: texts("accepted; an index has one type"),
} as const;

export const ids: QueryType = {
  name: "ids",
  summary: "Documents with these ids.",
  options: OPTIONS,
  parse(body) {
    const options = readBody("ids", body, OPTIONS);
    return withBoost(new IdsNode(options.values), options);
  },
};
