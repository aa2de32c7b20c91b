import assert from "node:assert/strict";
import { test } from "node:test";
import { IndexFixture } from "#test/support/search/shards.ts";

test("partitions of terms are those of a 6.5 server", async (t) => {
  // Addresses that such a server put into partition 1 of 300, and one that it did not.
  const inside = ["88.196.179.78", "141.142.223.45", "174.23.200.134", "213.21.42.46"];
  const index = new IndexFixture({
    mapping: { properties: { ip: { type: "ip" } } },
    docs: [...inside, "94.253.195.219"].map((ip) => ({ ip })),
  });
  t.after(() => index.close());
  const { aggregations } = await index.search({
    size: 0,
    aggs: { a: { terms: { field: "ip", include: { partition: 1, num_partitions: 300 } } } },
  });
  const { buckets } = aggregations!["a"] as { buckets: { key: string }[] };
  assert.deepEqual(
    buckets.map(({ key }) => key),
    inside,
    "equal counts stand in the order of the addresses",
  );
});
