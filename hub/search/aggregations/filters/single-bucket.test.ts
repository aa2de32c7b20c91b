import assert from "node:assert/strict";
import { after, test } from "node:test";
import { IndexFixture } from "#test/support/search/shards.ts";

const HOUR_MS = 3_600_000;
const DOCS = 3000;
/** Hours follow one another in turn, as lines of servers do whose clocks differ. */
const docs = Array.from({ length: DOCS }, (_, at) => ({
  at: 1_800_000_000_000 + (at % 3) * HOUR_MS,
  host: `h${at % 5}`,
}));
const fixture = new IndexFixture({ mapping: { properties: { host: { type: "keyword" } } }, docs });
after(() => fixture.close());

const first = { term: { host: "h0" } };
const [own, rest] = [DOCS / 15, (4 * DOCS) / 15];

for (const [name, aggregation, counts] of [
  ["filter", { filter: first }, { doc_count: own }],
  [
    "filters",
    { filters: { filters: { first }, other_bucket: true } },
    { buckets: { first: { doc_count: own }, _other_: { doc_count: rest } } },
  ],
  [
    "adjacency_matrix",
    { adjacency_matrix: { filters: { first } } },
    { buckets: [{ key: "first", doc_count: own }] },
  ],
] as const)
  test(`${name} counts all documents of hours that follow one another in turn`, async () => {
    const body = {
      size: 0,
      aggs: { hours: { date_histogram: { field: "at", interval: "hour" }, aggs: { it: aggregation } } },
    };
    const { aggregations } = await fixture.search(body);
    const { buckets } = aggregations!["hours"] as { buckets: { it: object }[] };
    assert.equal(buckets.length, 3);
    for (const { it } of buckets) assert.deepEqual(it, counts);
  });

test("filter counts the objects of documents that several buckets hold", async () => {
  const objects = new IndexFixture({
    mapping: { properties: { objects: { type: "nested" } } },
    docs: [{ objects: [{ n: 1 }, { n: 2 }, { n: 3 }] }, { objects: [{ n: 1 }] }],
  });
  const found = { filter: { range: { "objects.n": { lte: 2 } } } };
  const nested = { nested: { path: "objects" }, aggs: { found } };
  const filters = { a: { match_all: {} }, b: { match_all: {} } };
  const { aggregations } = await objects.search({
    aggs: { all: { filters: { filters }, aggs: { nested } } },
  });
  objects.close();
  const { buckets } = aggregations!["all"] as { buckets: Record<string, { nested: { found: object } }> };
  for (const name of ["a", "b"]) assert.deepEqual(buckets[name]!.nested.found, { doc_count: 3 });
});
