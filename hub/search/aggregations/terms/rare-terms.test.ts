import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

/** Documents whose hosts are spread so that some are rare in a shard and frequent in all. */
const DOCS: readonly JsonObject[] = Array.from({ length: 60 }, (_, at) => ({
  host: at < 40 ? `host-${at % 10}` : at < 58 ? `pair-${at >> 1}` : `single-${at}`,
  status: at < 59 ? 200 : 500,
  at: at < 59 ? "2026-01-01" : "2026-01-02",
  ip: at < 58 ? "::1" : `10.0.0.${at}`,
  ok: at !== 7,
  share: at / 2,
}));
const MAPPING = {
  properties: {
    host: { type: "keyword" },
    status: { type: "long" },
    at: { type: "date" },
    ip: { type: "ip" },
    ok: { type: "boolean" },
    share: { type: "double" },
    words: { type: "text" },
  },
};
const one = new IndexFixture({ mapping: MAPPING, docs: DOCS });
const many = new IndexFixture({ mapping: MAPPING, docs: DOCS, segmentDocs: 4, shards: 5 });
after(() => {
  one.close();
  many.close();
});

async function rare(options: JsonObject, below?: JsonObject): Promise<JsonObject[]> {
  const body = { size: 0, aggs: { a: { rare_terms: options, ...(below && { aggs: below }) } } };
  const [whole, merged] = [await one.search(body), await many.search(body)];
  assert.deepEqual(merged.aggregations, whole.aggregations, "merged over shards");
  return (whole.aggregations!["a"] as { buckets: JsonObject[] }).buckets;
}

test("values that few documents have are found, the rarest first", async () => {
  assert.deepEqual(await rare({ field: "host" }), [
    { key: "single-58", doc_count: 1 },
    { key: "single-59", doc_count: 1 },
  ]);
  const upToTwo = await rare({ field: "host", max_doc_count: 2, exclude: "single-.*" });
  assert.deepEqual(
    upToTwo.map(({ key, doc_count: count }) => [key, count]),
    [20, 21, 22, 23, 24, 25, 26, 27, 28].map((at) => [`pair-${at}`, 2]),
  );
});

for (const [field, expected] of [
  ["status", [{ key: 500, doc_count: 1 }]],
  ["at", [{ key: 1767312000000, key_as_string: "2026-01-02T00:00:00.000Z", doc_count: 1 }]],
  ["ip", ["10.0.0.58", "10.0.0.59"].map((key) => ({ key, doc_count: 1 }))],
  ["ok", [{ key: 0, key_as_string: "false", doc_count: 1 }]],
  ["unmapped", []],
] as const) {
  test(`rare values of ${field} are found`, async () => {
    assert.deepEqual(await rare({ field }), expected);
  });
}

test("aggregations stand below rare values", async () => {
  const below = { top: { max: { field: "share" } } };
  assert.deepEqual(await rare({ field: "status" }, below), [
    { key: 500, doc_count: 1, top: { value: 29.5 } },
  ]);
});

for (const [options, reason] of [
  [{ field: "host", max_doc_count: 0 }, /\[max_doc_count\] must be greater than 0/],
  [{ field: "host", max_doc_count: 101 }, /\[max_doc_count\] must be smaller than or equal to 100/],
  [{ field: "share" }, /does not support floating point/],
  [{ field: "ip", exclude: "127.*" }, /Aggregation \[[a-z_]+\] cannot support regular expression/],
  [{}, /Required one of fields/],
] as const) {
  test(`rare_terms of ${JSON.stringify(options)} are refused`, async () => {
    await assert.rejects(rare(options), (error: Error) =>
      reason.test(`${error.message} ${String(error.cause)}`),
    );
  });
}
