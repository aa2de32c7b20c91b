/** `term`: documents with exactly this value. */

import { UTC } from "#proto/kit/time-zone.ts";
import { exactQuery } from "../field-terms.ts";
import { MappedNode } from "../nodes/wrap.ts";
import { type QueryType, readFieldBody, withBoost } from "../query-parser.ts";
import { boundsQuery, isRangeField } from "../range-field.ts";

export const term: QueryType = {
  name: "term",
  summary: "Documents with exactly this value.",
  options: {},
  parse(body) {
    const { field, value, options } = readFieldBody("term", body, {}, ["value", "term"]);
    const query = new MappedNode((shard) => {
      if (!isRangeField(shard, field)) return exactQuery(shard, field, value);
      const point = { value, inclusive: true };
      return boundsQuery(shard, field, { from: point, to: point, zone: UTC });
    });
    return withBoost(query, options);
  },
};
