/** `filter`: the documents of a query, as one bucket. */

import type { AggregationType } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { collectQuery, SingleBucket } from "./single-bucket.ts";

export const filter: AggregationType = {
  name: "filter",
  summary: "The documents of a query, as one bucket.",
  options: {},
  buckets: true,
  parse: (body, { below, queries }) => new SingleBucket("filter", below, collectQuery(queries.parse(body))),
};
