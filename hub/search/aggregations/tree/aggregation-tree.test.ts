import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS, ShardContext } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { CollectBudget } from "./aggregation.ts";
import { TreeCollector } from "./aggregation-tree.ts";

const index = new IndexFixture({
  mapping: { properties: { n: { type: "long" }, other: { type: "long" } } },
  docs: [{ n: 3, other: 1 }, { n: 5 }, { other: 8 }],
});
after(() => index.close());

test("metrics of the same numbers are collected once; those of others are not", () => {
  const aggs = {
    mean: { avg: { field: "n" } },
    most: { max: { field: "n" } },
    other: { max: { field: "other" } },
    filled: { max: { field: "n", missing: 9 } },
    printed: { max: { field: "n", format: "0.00" } },
  };
  const [shard] = index.shards;
  const { searcher } = shard!;
  const collector = new TreeCollector(
    parseSearchRequest({ aggs }, DEFAULT_LIMITS).aggregations,
    new ShardContext(shard!.index, 0, searcher, 0),
    new CollectBudget(),
  );
  for (const segment of searcher.segments) {
    collector.segment(segment);
    const docs = Int32Array.from({ length: segment.docCount }, (_, doc) => doc);
    collector.collect(docs, new Int32Array(docs.length), docs.length);
  }
  const state = collector.state(0) as Record<string, { count: number; max: number }>;
  assert.deepEqual(Object.keys(state), Object.keys(aggs));
  assert.equal(state["most"], state["mean"]);
  assert.deepEqual(
    Object.values(state).map(({ count, max }) => [count, max]),
    [
      [2, 5],
      [2, 5],
      [2, 8],
      [3, 9],
      [2, 5],
    ],
  );
  assert.notEqual(state["printed"], state["most"]);
});
