import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({ mapping: { properties: { n: { type: "long" } } }, docs: { a: '{"n":1}' } });
after(() => index.close());

for (const [options, key] of [
  [{ format: undefined }, "2020-01-01T00:00:00.000Z-*"],
  [{ format: "yyyy" }, "2020-*"],
] as const) {
  test(`date_range over an unmapped field prints its bounds as times: ${key}`, async () => {
    const ranges = [{ from: options.format === undefined ? "2020-01-01T00:00:00Z" : "2020" }];
    const { aggregations } = await index.search({
      aggs: { r: { date_range: { field: "at", ranges, ...options } } },
    });
    const { buckets } = aggregations!["r"] as { buckets: JsonObject[] };
    assert.deepEqual([buckets[0]!["key"], buckets[0]!["doc_count"]], [key, 0]);
  });
}
