/** `type`: documents of indices with this type name. */

import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { exactQuery } from "#hub/search/fields/field-terms.ts";
import { required, text } from "#hub/search/options/options.ts";
import { type QueryType, readBody, withBoost } from "#hub/search/parse/query-parser.ts";

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
