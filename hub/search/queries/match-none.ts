/** `match_none`: no document. */

import { NoneNode } from "../nodes/documents.ts";
import { type QueryType, readBody, withBoost } from "../query-parser.ts";

export const matchNone: QueryType = {
  name: "match_none",
  summary: "No document.",
  options: {},
  parse: (body) => withBoost(new NoneNode(), readBody("match_none", body, {})),
};
