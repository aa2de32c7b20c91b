import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: {
    properties: {
      kind: { type: "keyword" },
      n: { type: "long" },
      at: { type: "date" },
      open: { type: "boolean" },
    },
  },
  docs: [
    { kind: "a", n: 1, at: "2024-01-01", open: true },
    { kind: "b", n: [1, 2], at: "2024-01-02", open: false },
    { kind: "b", n: "9007199254740993" },
  ],
  segmentDocs: 2,
});
after(() => index.close());

async function counts(terms: JsonObject, query: JsonObject): Promise<Record<string, number>> {
  const aggs = { t: { terms: { min_doc_count: 0, ...terms } } };
  const { aggregations } = await index.search({ size: 0, query, aggs });
  const { buckets } = aggregations!["t"] as unknown as { buckets: { key: unknown; doc_count: number }[] };
  return Object.fromEntries(buckets.map(({ key, doc_count: count }) => [String(key), count]));
}

const OF_A = { term: { kind: "a" } };
const NONE = { term: { kind: "none" } };

for (const [name, terms, query, expected] of [
  ["a keyword", { field: "kind" }, OF_A, { a: 1, b: 0 }],
  ["a number", { field: "n" }, OF_A, { 1: 1, 2: 0, "9007199254740993": 0 }],
  ["a number that no document found has", { field: "n", size: 2 }, NONE, { 1: 0, 2: 0 }],
  ["a number, but for those left out", { field: "n", exclude: [2] }, OF_A, { 1: 1, "9007199254740993": 0 }],
  ["a date", { field: "at" }, OF_A, { 1704067200000: 1, 1704153600000: 0 }],
  ["a boolean", { field: "open" }, NONE, { 0: 0, 1: 0 }],
  ["what documents without one count as", { field: "open", missing: true }, OF_A, { 0: 0, 1: 1 }],
  ["the index", { field: "_index" }, NONE, { logs: 0 }],
  ["the index, unless it is left out", { field: "_index", exclude: "logs" }, NONE, {}],
] as const)
  test(`with min_doc_count 0 values that no document found has get buckets: ${name}`, async () => {
    assert.deepEqual(await counts(terms, query), expected);
  });

test("with min_doc_count 0 each bucket above gets all values", async () => {
  const below = { terms: { field: "n", min_doc_count: 0, size: 2 } };
  const { aggregations } = await index.search({
    size: 0,
    aggs: { t: { terms: { field: "kind", order: { _key: "asc" } }, aggs: { below } } },
  });
  const { buckets } = aggregations!["t"] as unknown as {
    buckets: { below: { buckets: { key: number; doc_count: number }[] } }[];
  };
  assert.deepEqual(
    buckets.map(({ below: { buckets: inner } }) => inner.map(({ key, doc_count: count }) => [key, count])),
    [
      [
        [1, 1],
        [2, 0],
      ],
      [
        [1, 1],
        [2, 1],
      ],
    ],
  );
});

test("with min_doc_count 0 the first of many values get the buckets that are left", async () => {
  const many = new IndexFixture({
    mapping: { properties: { n: { type: "long" } } },
    docs: Array.from({ length: 41_000 }, (_, at) => ({ n: (at * 7919) % 41_000 })),
    segmentDocs: 20_000,
  });
  const keys = async (order: object): Promise<unknown[]> => {
    const terms = { field: "n", min_doc_count: 0, size: 3, shard_size: 3, order };
    const query = { term: { n: 20_000 } };
    const { aggregations } = await many.search({ size: 0, query, aggs: { t: { terms } } });
    return (aggregations!["t"] as unknown as { buckets: { key: number }[] }).buckets.map(({ key }) => key);
  };
  assert.deepEqual(await keys({ _count: "desc" }), [20_000, 0, 1]);
  assert.deepEqual(await keys({ _key: "desc" }), [40_999, 40_998, 40_997]);
  many.close();
});
