/** `dis_max`: documents of any of several queries, scored by the best one. */

import { bestOf } from "#hub/search/execute/nodes/best-of.ts";
import { anything, number, required } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";

const OPTIONS = {
  queries: required(anything("the queries")),
  tie_breaker: number("share of the other scores that is added", 0),
} as const;

export const disMax: QueryType = {
  name: "dis_max",
  summary: "Documents of any of several queries, scored by the best one.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("dis_max", body, OPTIONS);
    const queries = parser.parseList(options.queries);
    if (queries.length === 0)
      throw new AppError("parsing", "[dis_max] requires 'queries' field with at least one clause");
    return withBoost(bestOf(queries, options.tie_breaker ?? 0), options);
  },
};
