/** `match_none`: no document. */

import { NoneNode } from "#hub/search/execute/nodes/documents.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

export const matchNone: QueryType = {
  name: "match_none",
  summary: "No document.",
  options: {},
  parse: (body) => withBoost(new NoneNode(), readBody("match_none", body, {})),
};
