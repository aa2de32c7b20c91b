/** `missing`: the documents without a value of a field, as one bucket. */

import { BooleanNode } from "../nodes/boolean.ts";
import { ExistsNode } from "../nodes/documents.ts";
import { anything, text } from "../options.ts";
import { type AggregationType, readAggregation } from "./aggregation-parser.ts";
import { requireField } from "./field-option.ts";
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
