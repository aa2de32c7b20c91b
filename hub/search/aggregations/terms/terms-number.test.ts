import assert from "node:assert/strict";
import { after, test } from "node:test";
import { IndexFixture } from "#test/support/search/shards.ts";

/** In the order of their size, which isn't the order of their digits. */
const NUMBERS = ["-110071992547409931", "-9007199254740993", "7", "12007199254740993", "110071992547409931"];

const indices = [1, 3].map(
  (shards) =>
    new IndexFixture({
      mapping: { properties: { n: { type: "long" } } },
      docs: NUMBERS.toReversed().map((n) => `{"n":${n}}`),
      shards,
    }),
);
after(() => {
  for (const index of indices) index.close();
});

async function keysOf(index: IndexFixture, terms: object, name = "key"): Promise<string[]> {
  const { aggregations } = await index.search({ size: 0, aggs: { a: { terms: { field: "n", ...terms } } } });
  const { buckets } = aggregations!["a"] as { buckets: Record<string, unknown>[] };
  return buckets.map((bucket) => String(bucket[name]));
}

test("whole numbers beyond 2^53 are ordered by size", async () => {
  for (const index of indices) {
    assert.deepEqual(await keysOf(index, {}), NUMBERS, "equal counts");
    assert.deepEqual(
      await keysOf(index, { order: { _key: "desc" }, size: 2 }),
      NUMBERS.toReversed().slice(0, 2),
    );
  }
});

test("whole numbers beyond 2^53 are printed by a format", async () => {
  assert.deepEqual(await keysOf(indices[0]!, { format: "#,##0" }, "key_as_string"), [
    "-110,071,992,547,409,931",
    "-9,007,199,254,740,993",
    "7",
    "12,007,199,254,740,993",
    "110,071,992,547,409,931",
  ]);
  const [first] = await keysOf(indices[0]!, { format: "0%" }, "key_as_string");
  assert.equal(first, "-11007199254740993100%");
});

test("min_doc_count 0 gives buckets to the values of all documents", async () => {
  const docs = [
    { n: 1, big: "9007199254740993", d: 1.5, b: true, t: "one", k: "one" },
    { n: [2, 1], big: "9007199254740995", d: 2.5, b: false, t: "two one", k: "two" },
    { big: 5 },
  ];
  const properties = {
    n: { type: "long" },
    big: { type: "long" },
    d: { type: "double" },
    b: { type: "boolean" },
    t: { type: "text", fielddata: true },
    k: { type: "keyword" },
  };
  const asked: readonly (readonly [field: string, options: object, buckets: string])[] = [
    ["n", {}, "1: 1, 2: 0"],
    ["n", { missing: 7 }, "1: 1, 2: 0, 7: 0"],
    ["n", { exclude: [2] }, "1: 1"],
    ["big", {}, "9007199254740993: 1, 5: 0, 9007199254740995: 0"],
    ["d", { order: { _key: "desc" } }, "2.5: 0, 1.5: 1"],
    ["b", {}, "1: 1, 0: 0"],
    ["t", {}, "one: 1, two: 0"],
    ["k", { missing: "none" }, "one: 1, none: 0, two: 0"],
    ["", { script: "doc['k'].size() == 0 ? 'none' : doc['k'].value" }, "one: 1, none: 0, two: 0"],
  ];
  for (const shards of [1, 2]) {
    const index = new IndexFixture({ mapping: { properties }, docs, shards });
    for (const [field, options, expected] of asked) {
      const terms = {
        terms: { ...(field === "" ? {} : { field }), min_doc_count: 0, ...options },
        aggs: { sum: { sum: { field: "n" } } },
      };
      const printed = await index.printed({ query: { term: { d: 1.5 } }, aggs: { terms } });
      const buckets = [
        ...printed.matchAll(/"key":"?([^",]*)"?,(?:"key_as_string":"[^"]*",)?"doc_count":(\d+)/g),
      ];
      assert.equal(
        buckets.map(([, key, count]) => `${key}: ${count}`).join(", "),
        expected,
        `${field}, ${shards} shards`,
      );
    }
    index.close();
  }
});
