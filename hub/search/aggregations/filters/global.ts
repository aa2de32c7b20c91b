/** `global`: all documents of the indices, whatever the query; only at the top. */

import { FixedCollector, type Sorter } from "#hub/search/aggregations/buckets/fixed-buckets.ts";
import type { AggregationTree, NamedAggregation } from "#hub/search/aggregations/tree/aggregation.ts";
import { type AggregationType, readAggregation } from "#hub/search/aggregations/tree/aggregation-parser.ts";
import { SingleBucket } from "./single-bucket.ts";

export const global: AggregationType = {
  name: "global",
  summary: "All documents of the indices, whatever the query.",
  options: {},
  buckets: true,
  parse(body, { below }) {
    readAggregation("global", body, {});
    return new Global(below);
  },
};

const EVERYTHING: Sorter = {
  segment: () => undefined,
  sort(_docs, length, put) {
    for (let place = 0; place < length; place++) put(place, 0);
  },
};

/** Collected apart from the other aggregations: its collector is to be given every live document. */
class Global extends SingleBucket {
  constructor(below: AggregationTree) {
    super("global", below, (shard, budget, tree) => new FixedCollector(1, EVERYTHING, tree, shard, budget));
  }
}

/** Parts a tree into what collects the documents of the query, and what collects all. */
export function splitGlobal(tree: AggregationTree): [inner: AggregationTree, global: AggregationTree] {
  const isGlobal = ([, { aggregation }]: [string, NamedAggregation]): boolean =>
    aggregation instanceof Global;
  const all = [...tree];
  return [new Map(all.filter((each) => !isGlobal(each))), new Map(all.filter(isGlobal))];
}
