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
