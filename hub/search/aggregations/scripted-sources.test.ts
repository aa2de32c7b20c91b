/** Scripts within aggregations. Answers are those of the 6.5.4 server to the same documents and requests. */

import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      at: { type: "date" },
      host: { type: "keyword" },
      bytes: { type: "long" },
      price: { type: "double" },
      weight: { type: "integer" },
      tags: { type: "keyword" },
    },
  },
  docs: [
    { at: "2018-11-27T10:11:12Z", host: "a", bytes: 100, price: 1.5, weight: 1, tags: ["x", "y"] },
    { at: "2018-11-27T11:00:00Z", host: "b", bytes: 200, price: 2.5, weight: 2, tags: ["x"] },
    { at: "2018-11-28T00:30:00Z", host: "a", bytes: 300, price: 3.5, weight: 3, tags: ["y", "z"] },
    { at: "2018-11-30T23:59:59Z", host: "c", bytes: 400, weight: 1, tags: ["z"] },
    { at: "2018-12-02T05:00:00Z", bytes: 500, price: 5, weight: 1 },
  ],
});
after(() => fixture.close());

async function one(aggregation: JsonObject, query: JsonObject = { match_all: {} }): Promise<JsonObject> {
  const { aggregations } = await fixture.search({ size: 0, query, aggs: { r: aggregation } });
  return aggregations!["r"] as JsonObject;
}

test("weighted_avg takes values and weights from scripts", async () => {
  const rows: readonly (readonly [JsonObject, JsonObject, number])[] = [
    // A missing price is 0, as `value` of a document without one.
    [{ script: "doc.price.value * 2" }, { field: "weight" }, 5.5],
    [{ script: "doc.price.values" }, { script: "doc.weight.value + 1" }, 34.5 / 11],
  ];
  for (const [value, weight, mean] of rows)
    assert.deepEqual(await one({ weighted_avg: { value, weight } }), { value: mean });
  await assert.rejects(
    one({ weighted_avg: { value: { field: "price", script: "_value" }, weight: { field: "weight" } } }),
    /\[field\] and \[script\] cannot both be configured/,
  );
});

describe("sources of composite", () => {
  const rows: readonly (readonly [type: string, body: JsonObject, keys: readonly unknown[]])[] = [
    ["terms", { script: "doc.host.value" }, ["a", "b", "c"]],
    ["terms", { script: "doc.bytes.value / 150" }, ["0", "1", "2", "3"]],
    ["terms", { script: "doc.bytes.value / 100.0" }, ["1.0", "2.0", "3.0", "4.0", "5.0"]],
    ["terms", { field: "bytes", script: "_value * 2" }, [200, 400, 600, 800, 1000]],
    ["histogram", { script: "doc.bytes.value", interval: 200 }, [0, 200, 400]],
    [
      "date_histogram",
      { script: "doc.at.value.millis", interval: "1d" },
      [1543276800000, 1543363200000, 1543536000000, 1543708800000],
    ],
  ];
  for (const [type, body, keys] of rows)
    test(`${type} of ${JSON.stringify(body)}`, async () => {
      const answer = await one({ composite: { sources: [{ k: { [type]: body } }] } });
      const buckets = answer["buckets"] as { key: { k: unknown } }[];
      assert.deepEqual(
        buckets.map(({ key }) => key.k),
        keys,
      );
      const after = await one({
        composite: { sources: [{ k: { [type]: body } }], after: { k: keys[0] } },
      });
      assert.deepEqual(after["buckets"], buckets.slice(1));
    });
});

test("terms of a script print fractions with their decimal point", async () => {
  const answer = await one({ terms: { script: "doc.bytes.value / 500.0", order: { _key: "asc" } } });
  const keys = (answer["buckets"] as JsonObject[]).map(({ key }) => key);
  assert.deepEqual(keys, ["0.2", "0.4", "0.6", "0.8", "1.0"]);
});

test("diversified_sampler limits documents by the value of a script, and leaves out those without one", async () => {
  const hosts = await one({
    diversified_sampler: { shard_size: 10, script: "doc.host.value" },
    aggs: { t: { terms: { field: "host" } } },
  });
  assert.equal(hosts["doc_count"], 3);
  const parity = await one({
    diversified_sampler: { max_docs_per_value: 1, script: { source: "doc.bytes.value % 200" } },
  });
  assert.equal(parity["doc_count"], 2);
});

test("script_heuristic scores terms by their frequencies", async () => {
  const source =
    "params._subset_freq * 1.0 / (params._superset_freq - params._subset_freq + 1) + params.k + 0 * (params._subset_size + params._superset_size)";
  const answer = await one(
    {
      significant_terms: {
        field: "tags",
        min_doc_count: 1,
        script_heuristic: { script: { source, params: { k: 2 } } },
      },
    },
    { term: { host: "a" } },
  );
  assert.deepEqual(answer["buckets"], [
    { key: "y", doc_count: 2, score: 4, bg_count: 2 },
    { key: "x", doc_count: 1, score: 2.5, bg_count: 2 },
    { key: "z", doc_count: 1, score: 2.5, bg_count: 2 },
  ]);
});

test("top_hits has fields that scripts make, and no source then", async () => {
  const answer = await one({
    top_hits: {
      size: 1,
      sort: [{ bytes: "desc" }],
      script_fields: { d: { script: "doc.bytes.value * 2" }, s: { script: "params._source.price" } },
    },
  });
  const [hit] = (answer["hits"] as { hits: JsonObject[] }).hits;
  assert.deepEqual([hit!["fields"], hit!["_source"]], [{ d: [1000], s: [5] }, undefined]);
});

test("map_script of scripted_metric reads the document's source", async () => {
  const answer = await one({
    scripted_metric: {
      init_script: "state.h = []",
      map_script: "state.h.add(params._source.host ?: 'none')",
      combine_script: "state.h",
      reduce_script: "def all = []; for (s in states) { all.addAll(s) } all.sort(null); return all",
    },
  });
  assert.deepEqual(answer["value"], ["a", "a", "b", "c", "none"]);
});
