import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { Analysis } from "#hub/engine/analysis/analysis.ts";
import { Mapping } from "#hub/engine/mapping/mapping.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const counted = {
  type: "text",
  fields: {
    words: { type: "token_count", analyzer: "standard" },
    places: { type: "token_count", analyzer: "stop" },
    kept: { type: "token_count", analyzer: "stop", enable_position_increments: false },
  },
};
const docs = { a: { t: "the quick fox" }, b: { t: ["fox", "a quick brown fox"] }, c: { t: "" }, d: {} };
const fixture = new IndexFixture({ mapping: { properties: { t: counted } }, docs });
after(() => fixture.close());

suite("token_count", () => {
  /** [field, value, ids] */
  for (const [field, value, ids] of [
    ["t.words", 3, ["a"]],
    ["t.words", 4, ["b"]],
    ["t.words", 0, ["c"]],
    ["t.places", 3, ["a"]],
    ["t.kept", 2, ["a"]],
  ] as const) {
    test(`${field} is ${value} in ${ids.join()}`, async () => {
      assert.deepEqual(await fixture.ids({ query: { term: { [field]: value } } }), ids);
    });
  }

  test("is sorted by and aggregated as a number", async () => {
    assert.deepEqual(await fixture.ids({ sort: [{ "t.words": { order: "desc" } }] }), ["b", "a", "c", "d"]);
    const { aggregations } = await fixture.search({ size: 0, aggs: { n: { sum: { field: "t.words" } } } });
    assert.deepEqual(aggregations, { n: { value: 8 } });
  });

  test("needs an analyzer", () => {
    const options = { index: "i", analysis: new Analysis() };
    assert.throws(
      () => Mapping.parse({ properties: { n: { type: "token_count" } } }, options),
      /Analyzer must be set for field \[n\]/,
    );
  });
});
