/** `constant_score`: the documents of a query, all with the same score. */

import { ConstantNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { anything, required } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = { filter: required(anything("the query")) } as const;

export const constantScore: QueryType = {
  name: "constant_score",
  summary: "The documents of a query, all with the same score.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("constant_score", body, OPTIONS);
    return withBoost(new ConstantNode(parser.parse(options.filter)), options);
  },
};
