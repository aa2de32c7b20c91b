/** `wrapper`: a query as base64 of its JSON. */

import { AppError } from "#proto/kit/errors.ts";
import { parseJson } from "../json.ts";
import { required, text } from "../options.ts";
import { type QueryType, readBody, withBoost } from "../query-parser.ts";

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
