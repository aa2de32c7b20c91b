import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const index = new IndexFixture({
  mapping: {
    properties: {
      days: { type: "date_range", format: "yyyy-MM-dd" },
      size: { type: "integer_range" },
      share: { type: "double_range" },
      net: { type: "ip_range" },
    },
  },
  docs: [
    { days: { gte: "2024-01-10", lt: "2024-03-01" }, size: { gte: 5, lt: 20 }, share: { gte: 0.5, lt: 1 } },
    { days: { gt: "2024-02-29", lte: "2024-03-01" }, size: { gt: 9, lte: 10 }, share: { gt: 0.5, lte: 1 } },
    { days: { gte: "2024-03-05" }, n: 1 },
    { days: { lt: "2024-01-01" } },
    { other: 1 },
  ],
  segmentDocs: 2,
  shards: 2,
});
after(() => index.close());

async function buckets(aggregation: JsonObject): Promise<JsonObject[]> {
  const { aggregations } = await index.search({ size: 0, aggs: { h: aggregation } });
  return (aggregations!["h"] as { buckets: JsonObject[] }).buckets;
}

test("a range of times counts in each month that it reaches into, open ends up to the bounds", async () => {
  const found = await buckets({
    date_histogram: {
      field: "days",
      calendar_interval: "month",
      format: "yyyy-MM",
      hard_bounds: { min: "2023-12", max: "2024-04" },
    },
    aggs: { n: { sum: { field: "n" } } },
  });
  assert.deepEqual(
    found.map((each) => [each["key_as_string"], each["doc_count"], (each["n"] as JsonObject)["value"]]),
    [
      ["2023-12", 1, 0],
      ["2024-01", 1, 0],
      ["2024-02", 2, 0],
      ["2024-03", 2, 1],
      ["2024-04", 1, 1],
    ],
  );
});

for (const [field, interval, expected] of [
  [
    "size",
    5,
    [
      [5, 1],
      [10, 2],
      [15, 1],
    ],
  ],
  [
    "share",
    0.5,
    [
      [0.5, 2],
      [1, 1],
    ],
  ],
] as const) {
  test(`ranges of ${field} count in buckets of ${interval}, their open bounds not`, async () => {
    const found = await buckets({ histogram: { field, interval } });
    assert.deepEqual(
      found.map((each) => [each["key"], each["doc_count"]]),
      expected,
    );
  });
}

for (const [aggregation, why] of [
  [{ date_histogram: { field: "days", interval: "day" } }, /limit them with \[hard_bounds\]/],
  [{ date_histogram: { field: "size", interval: "day" } }, /Expected date_range on field \[size\]/],
  [{ histogram: { field: "days", interval: 1 } }, /but got \[date_range\]/],
  [{ histogram: { field: "net", interval: 1 } }, /but got \[ip_range\]/],
  [{ histogram: { field: "size", interval: 1, missing: 3 } }, /\[missing\] can't be used/],
] as const) {
  test(`${JSON.stringify(aggregation)} is refused`, async () => {
    await assert.rejects(buckets(aggregation), (error: Error) =>
      why.test(`${error.message} ${String(error.cause)}`),
    );
  });
}

test("several ranges in one document are refused: their bounds are kept apart", async () => {
  const many = new IndexFixture({
    mapping: {
      properties: {
        parts: { type: "nested", include_in_parent: true, properties: { size: { type: "integer_range" } } },
      },
    },
    docs: [{ parts: [{ size: { gte: 1, lte: 2 } }, { size: { gte: 5, lte: 6 } }] }],
  });
  try {
    const query = (gte: number, lte: number): JsonObject => ({
      nested: { path: "parts", query: { range: { "parts.size": { gte, lte } } } },
    });
    assert.equal((await many.search({ query: query(3, 4) })).total, 0);
    assert.equal((await many.search({ query: query(2, 4) })).total, 1);
    const request = { aggs: { h: { histogram: { field: "parts.size", interval: 1 } } } };
    await assert.rejects(many.search(request), (error: Error) =>
      /has several ranges/.test(`${error.message} ${String(error.cause)}`),
    );
  } finally {
    many.close();
  }
});

for (const doc of [
  { size: [{ gte: 1, lte: 2 }, { gte: 5 }] },
  { o: [{ size: { gte: 1, lte: 2 } }, { size: { gte: 5, lte: 6 } }] },
]) {
  test(`${JSON.stringify(doc)} is refused with what to map instead`, () => {
    const size = { type: "integer_range" };
    const properties = { size, o: { properties: { size } } };
    assert.throws(
      () => new IndexFixture({ mapping: { properties }, docs: [{ size: [{ gte: 1 }] }, doc] }),
      /takes one range of a document, but there are several; map a nested object/,
    );
  });
}

test("a block of addresses is a range of them", async () => {
  const nets = new IndexFixture({
    mapping: { properties: { net: { type: "ip_range" } } },
    docs: [{ net: "10.0.0.0/24" }, { net: "2001:db8::/32" }, { net: { gte: "1.1.1.1" } }],
  });
  try {
    for (const [ip, ids] of [
      ["10.0.0.255", ["0"]],
      ["10.0.1.0", []],
      ["2001:db8:ffff::1", ["1"]],
    ] as const) {
      const query = { bool: { must: { term: { net: ip } }, must_not: { term: { net: "255.255.255.254" } } } };
      assert.deepEqual(await nets.ids({ query }), ids, ip);
    }
  } finally {
    nets.close();
  }
  for (const net of ["10.0.0.0/33", "home", ["10.0.0.0/24", "11.0.0.0/24"]]) {
    const mapping = { properties: { net: { type: "ip_range" } } };
    assert.throws(() => new IndexFixture({ mapping, docs: [{ net }] }), /found a concrete value|several/);
  }
});
