/** `match_all`: every document, with the score 1. */

import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

export const matchAll: QueryType = {
  name: "match_all",
  summary: "Every document.",
  options: {},
  parse: (body) => withBoost(new AllNode(), readBody("match_all", body, {})),
};
