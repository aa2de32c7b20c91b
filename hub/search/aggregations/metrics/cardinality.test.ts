import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      d: { type: "double" },
      at: { type: "date" },
      ip: { type: "ip" },
      b: { type: "boolean" },
      k: { type: "keyword" },
    },
  },
  docs: [{ n: 1, d: 1.5, at: "2020-01-01", ip: "10.0.0.1", b: true, k: "a" }, {}],
  shards: 2,
});
after(() => index.close());

for (const [field, same, other] of [
  ["n", "1", 2],
  ["d", "1.5", "1.25"],
  ["at", "2020-01-01T00:00:00Z", "2020-01-02"],
  ["at", Date.UTC(2020, 0, 1), 0],
  ["ip", "10.0.0.1", "10.0.0.2"],
  ["b", true, false],
  ["b", "true", "false"],
  ["k", "a", "b"],
] as const) {
  test(`cardinality counts ${JSON.stringify(same)} for missing values of ${field} as the value that it is`, async () => {
    for (const [missing, expected] of [
      [same, 1],
      [other, 2],
    ]) {
      const { aggregations } = await index.search({ aggs: { c: { cardinality: { field, missing } } } });
      assert.equal((aggregations!["c"] as JsonObject)["value"], expected, String(missing));
    }
  });
}
