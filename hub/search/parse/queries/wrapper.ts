/** `wrapper`: a query as base64 of its JSON. */

import { parseJson } from "#hub/search/options/json.ts";
import { required, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { AppError } from "#proto/kit/errors.ts";

const OPTIONS = { query: required(text("base64 of the query's JSON", undefined)) } as const;

export const wrapper: QueryType = {
  name: "wrapper",
  summary: "A query as base64 of its JSON.",
  options: OPTIONS,
  parse(body, parser) {
    const options = readBody("wrapper", body, OPTIONS);
    const json = Buffer.from(options.query, "base64").toString();
    if (json === "") throw new AppError("request_invalid", "query text missing");
    return withBoost(parser.parse(parseJson(json)), options);
  },
};
