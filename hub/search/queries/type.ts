/** `type`: documents of indices with this type name. */

import { exactQuery } from "../field-terms.ts";
import { MappedNode } from "../nodes/wrap.ts";
import { required, text } from "../options.ts";
import { type QueryType, readBody, withBoost } from "../query-parser.ts";

const OPTIONS = { value: required(text("name of the type", undefined)) } as const;

export const type: QueryType = {
  name: "type",
  summary: "Documents of indices with this type name.",
  options: OPTIONS,
  parse(body) {
    const options = readBody("type", body, OPTIONS);
    return withBoost(new MappedNode((shard) => exactQuery(shard, "_type", options.value)), options);
  },
};
