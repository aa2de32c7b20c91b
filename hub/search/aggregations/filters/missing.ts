/** `missing`: the documents without a value of a field, as one bucket. */

import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { requireField } from "#hub/search/aggregations/tree/field-option.ts";
import { BooleanNode } from "#hub/search/execute/nodes/boolean.ts";
import { ExistsNode } from "#hub/search/execute/nodes/documents.ts";
import { anything, text } from "#hub/search/options/options.ts";
import { collectQuery, SingleBucket } from "./single-bucket.ts";

const OPTIONS = { field: text("field", undefined), missing: anything("accepted") } as const;

export const missing: AggregationType = {
  name: "missing",
  summary: "The documents without a value of a field, as one bucket.",
  options: OPTIONS,
  buckets: true,
  parse(body, { name, below }) {
    const options = readAggregation("missing", body, OPTIONS);
    const without = new BooleanNode({ mustNot: [new ExistsNode(requireField(options.field, name))] });
    return new SingleBucket("missing", below, collectQuery(without));
  },
};
