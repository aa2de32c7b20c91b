/** `boosting`: the documents of a query, those that fit another one scored lower. */

import { BoostingNode } from "#hub/search/execute/nodes/boosting.ts";
import { anything, number, required } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

const OPTIONS = {
  positive: required(anything("the query")),
  negative: required(anything("documents of it are scored lower")),
  negative_boost: required(number("factor of their scores, 0..1", undefined)),
} as const;

export const boosting: QueryType = {
  name: "boosting",
  summary: "The documents of a query, those that fit another one scored lower.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("boosting", body, OPTIONS);
    const positive = parser.parse(options.positive);
    return withBoost(
      new BoostingNode(positive, parser.parse(options.negative), options.negative_boost),
      options,
    );
  },
};
