/** `term`: documents with exactly this value. */

import { exactQuery } from "../field-terms.ts";
import { MappedNode } from "../nodes/wrap.ts";
import { type QueryType, readFieldBody, withBoost } from "../query-parser.ts";

export const term: QueryType = {
  name: "term",
  summary: "Documents with exactly this value.",
  options: {},
  parse(body) {
    const { field, value, options } = readFieldBody("term", body, {}, ["value", "term"]);
    return withBoost(new MappedNode((shard) => exactQuery(shard, field, value)), options);
  },
};
