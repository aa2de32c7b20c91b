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

test("ranges below a histogram's bucket without documents have the bounds of those beside them", async () => {
  const days = new IndexFixture({
    mapping: { properties: { at: { type: "date" } } },
    docs: [{ at: "2020-01-01" }, { at: "2020-01-03" }],
    shards: 2,
  });
  const ranges = [{ from: "2020-01-03" }, { from: "2020-01-02", to: "now" }];
  const below = { few: { filter: { match_all: {} }, aggs: { r: { date_range: { field: "at", ranges } } } } };
  const daily = { date_histogram: { field: "at", interval: "day", min_doc_count: 0 }, aggs: below };
  const automatic = { auto_date_histogram: { field: "at", buckets: 3 }, aggs: below };
  const { aggregations } = await days.search({ aggs: { daily, automatic } });
  days.close();
  for (const name of ["daily", "automatic"]) {
    const { buckets } = aggregations![name] as { buckets: { few: { r: { buckets: JsonObject[] } } }[] };
    const bounds = buckets.map(({ few }) => few.r.buckets.map(({ key, from }) => [key, from]));
    assert.equal(bounds.length, 3, name);
    for (const each of bounds) assert.deepEqual(each, bounds[0], name);
    assert.deepEqual(bounds[0]![1], ["2020-01-03T00:00:00.000Z-*", Date.UTC(2020, 0, 3)], name);
  }
});
