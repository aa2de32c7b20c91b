import assert from "node:assert/strict";
import { after, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  docs: Array.from({ length: 30 }, (_, n) => ({ n, message: n % 3 === 0 ? "quick fox" : "lazy dog" })),
  segmentDocs: 8,
  shards: 2,
});
after(() => fixture.close());

test("a profile names each part of the query with its documents, what gathered the hits, and each aggregation", async () => {
  const body = {
    profile: true,
    query: { bool: { must: { match: { message: "quick" } }, filter: { range: { n: { gte: 0, lt: 15 } } } } },
    aggs: { sum: { sum: { field: "n" } } },
  };
  const { total, hits, aggregations, profile } = await fixture.search(body, { nodeId: "node-1" });
  const plain = await fixture.search({ ...body, profile: false });
  assert.deepEqual([total, aggregations], [plain.total, plain.aggregations]);
  assert.deepEqual(hits, plain.hits);
  assert.equal(plain.profile, undefined);
  assert.deepEqual(
    profile!.map((shard) => shard["id"]),
    ["[node-1][logs][0]", "[node-1][logs][1]"],
  );
  let met = 0;
  for (const shard of profile!) {
    const [search] = shard["searches"] as { query: Part[]; collector: JsonObject[] }[];
    const [root] = search!.query;
    assert.equal(root!.type, "BooleanQuery");
    assert.equal(root!.description, "+message:quick #n:[0 TO 14]");
    assert.deepEqual(
      root!.children!.map(({ type }) => type),
      ["TermQuery", "IndexOrDocValuesQuery"],
    );
    assert.ok(root!.time_in_nanos > 0 && root!.breakdown["create_weight_count"] === 1);
    met += root!.breakdown["next_doc_count"]!;
    assert.equal(search!.collector[0]!["reason"], "search_cancelled");
    const [aggregation] = shard["aggregations"] as JsonObject[];
    assert.equal(aggregation!["description"], "sum");
  }
  assert.equal(met, total);
});

interface Part {
  readonly type: string;
  readonly description: string;
  readonly time_in_nanos: number;
  readonly breakdown: Readonly<Record<string, number>>;
  readonly children?: readonly Part[];
}

/** [aggregation, class of 6.5, class of 7.10, buckets] */
const AGGREGATORS: readonly (readonly [JsonObject, string, string, number | undefined])[] = [
  [{ max: { field: "n" } }, "MaxAggregator", "MaxAggregator", undefined],
  [{ value_count: { field: "n" } }, "ValueCountAggregator", "ValueCountAggregator", undefined],
  [
    { percentiles: { field: "n" } },
    "TDigestPercentilesAggregator",
    "TDigestPercentilesAggregator",
    undefined,
  ],
  [{ histogram: { field: "n", interval: 10 } }, "HistogramAggregator", "NumericHistogramAggregator", 3],
  [
    { date_histogram: { field: "at", interval: "1d" } },
    "DateHistogramAggregator",
    "DateHistogramAggregator",
    2,
  ],
];

for (const [aggregation, before, since79, buckets] of AGGREGATORS)
  test(`a profile names the class of ${JSON.stringify(aggregation)}, with its documents and buckets`, async () => {
    const dated = new IndexFixture({
      mapping: { properties: { at: { type: "date" } } },
      docs: [0, 1, 15, 25].map((n) => ({ n, at: n < 5 ? "2020-01-01" : "2020-01-03" })),
    });
    for (const [version, type] of [
      [605, before],
      [710, since79],
    ] as const) {
      const { profile } = await gatherWarnings(new Set(), version, () =>
        dated.search({ profile: true, size: 0, aggs: { x: aggregation } }),
      );
      const [found] = profile![0]!["aggregations"] as (Part & { debug?: JsonObject })[];
      assert.deepEqual([found!.type, found!.breakdown["collect_count"]], [type, 4]);
      assert.equal(found!.debug?.["total_buckets"], version === 605 ? undefined : buckets);
    }
    dated.close();
  });
