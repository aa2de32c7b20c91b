/** `term`: documents with exactly this value. */

import { MappedNode } from "#hub/search/execute/nodes/wrapped-query.ts";
import { exactQuery } from "#hub/search/fields/field-terms.ts";
import { boundsQuery, isRangeField } from "#hub/search/fields/range-field.ts";
import { type QueryType, readFieldBody, withBoost } from "#hub/search/parse/query-parser.ts";
import { UTC } from "#proto/kit/dates/time-zone.ts";

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
