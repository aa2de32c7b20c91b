import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const DAYS = ["2024-01-01", "2024-01-02", "2024-01-04", "2024-01-09"];
const docs = Object.fromEntries(DAYS.map((at, n) => [String(n), JSON.stringify({ at, n: n * 10 })]));
const mapping = { properties: { at: { type: "date" }, n: { type: "long" } } };
const index = new IndexFixture({ mapping, docs });
after(() => index.close());

async function keys(aggregation: JsonObject): Promise<unknown[]> {
  const { aggregations } = await index.search({ size: 0, aggs: { h: aggregation } });
  const { buckets } = aggregations!["h"] as { buckets: JsonObject[] };
  return buckets.map((bucket) => [bucket["key_as_string"] ?? bucket["key"], bucket["doc_count"]]);
}

test("hard_bounds of a date_histogram leave out what is before and behind them", async () => {
  const days = { field: "at", interval: "1d", format: "yyyy-MM-dd" };
  const limited = { ...days, hard_bounds: { min: "2024-01-02", max: "2024-01-05" } };
  assert.deepEqual(await keys({ date_histogram: limited }), [
    ["2024-01-02", 1],
    ["2024-01-03", 0],
    ["2024-01-04", 1],
  ]);
});

test("hard_bounds of a histogram leave out what is before and behind them", async () => {
  const limited = { field: "n", interval: 10, hard_bounds: { min: 10, max: 20 } };
  assert.deepEqual(await keys({ histogram: limited }), [
    [10, 1],
    [20, 1],
  ]);
});

test("extended_bounds outside of hard_bounds are refused", async () => {
  const both = { field: "n", interval: 10, hard_bounds: { max: 20 }, extended_bounds: { max: 30 } };
  await assert.rejects(keys({ histogram: both }), /Extended bounds have to be inside hard bounds/);
});

test("missing with a value for documents without the field has no document", async () => {
  const { aggregations } = await index.search({ aggs: { m: { missing: { field: "none", missing: 1 } } } });
  assert.equal((aggregations!["m"] as JsonObject)["doc_count"], 0);
});

for (const [path, below, reason] of [
  [
    "days>more>top",
    { more: { terms: { field: "n" }, aggs: { top: { max: { field: "n" } } } } },
    /\[Object\[\]\] at aggregation \[more\]/,
  ],
  ["days>more", { more: { terms: { field: "n" } } }, /got: \[LongTerms\] at aggregation \[more\]/],
  ["days>p", { p: { percentiles: { field: "n" } } }, /\[p\] contains multiple values/],
] as const) {
  test(`buckets_path ${path}, which leads to no number, is refused`, async () => {
    const days = { date_histogram: { field: "at", interval: "1d" }, aggs: below };
    const request = { aggs: { days, best: { max_bucket: { buckets_path: path } } } };
    await assert.rejects(index.search(request), reason);
  });
}
