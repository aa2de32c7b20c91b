/** Fields of type `date_nanos`: found, ordered and shown in nanoseconds, aggregated in milliseconds. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: { properties: { at: { type: "date_nanos" }, n: { type: "long" } } },
  docs: [
    { n: 0, at: "2018-10-29T12:12:12.123456789Z" },
    { n: 1, at: "2018-10-29T12:12:12.123456000Z" },
    { n: 2, at: "2018-10-29T12:12:12.987654321Z" },
    { n: 3, at: "2018-10-30T00:00:00Z" },
    { n: 4, at: ["2018-10-31T00:00:00.000000001Z", "2018-11-02"] },
    { n: 5 },
    { n: 6, at: 1541030400000 },
  ],
  segmentDocs: 3,
  shards: 2,
});
after(() => fixture.close());

async function found(query: JsonObject): Promise<unknown[]> {
  const { hits } = await fixture.search({ query, sort: ["n"], size: 20 });
  return hits.map((hit) => (JSON.parse(JSON.stringify(hit.sort)) as unknown[])[0]);
}

for (const [what, query, documents] of [
  ["from a nanosecond on", { range: { at: { gte: "2018-10-29T12:12:12.123456789Z" } } }, [0, 2, 3, 4, 6]],
  ["behind a nanosecond", { range: { at: { gt: "2018-10-29T12:12:12.123456789Z" } } }, [2, 3, 4, 6]],
  ["before a nanosecond", { range: { at: { lt: "2018-10-29T12:12:12.123456789Z" } } }, [1]],
  ["up to the end of a second", { range: { at: { lte: "2018-10-29T12:12:12" } } }, [0, 1, 2]],
  ["up to the beginning of a day", { range: { at: { lt: "2018-10-30" } } }, [0, 1, 2]],
  ["from a day on", { range: { at: { gte: "2018-10-30||/d" } } }, [3, 4, 6]],
  ["up to a count of ms", { range: { at: { lte: 1540857600000 } } }, [0, 1, 2, 3]],
  ["at a nanosecond", { term: { at: "2018-10-29T12:12:12.123456000Z" } }, [1]],
  ["on a day", { term: { at: "2018-10-29" } }, [0, 1, 2]],
  ["that are there", { exists: { field: "at" } }, [0, 1, 2, 3, 4, 6]],
] as const) {
  test(`times ${what} are found`, async () => {
    assert.deepEqual(await found(query as unknown as JsonObject), documents);
  });
}

test("times order documents by their nanoseconds, and a page continues after one", async () => {
  const body = { sort: [{ at: "asc" }], size: 3 };
  const { hits } = await fixture.search(body);
  assert.deepEqual(
    hits.map((hit) => hit.sort),
    [[1540815132123456000n], [1540815132123456789n], [1540815132987654321n]],
  );
  const next = await fixture.search({ ...body, search_after: [1540815132987654321n] });
  assert.deepEqual(
    next.hits.map((hit) => hit.sort),
    [[1540857600000000000n], [1540944000000000001n], [1541030400000000000n]],
  );
});

test("values are shown with their nanoseconds, by the requested format", async () => {
  const { hits } = await fixture.search({
    query: { term: { n: 0 } },
    docvalue_fields: ["at", { field: "at", format: "epoch_millis" }],
  });
  assert.deepEqual(hits[0]!.fields, {
    at: ["2018-10-29T12:12:12.123456789Z", "1540815132123.456789"],
  });
  const plain = await fixture.search({ query: { term: { n: 4 } }, docvalue_fields: ["at"] });
  assert.deepEqual(plain.hits[0]!.fields, {
    at: ["2018-10-31T00:00:00.000000001Z", "2018-11-02T00:00:00.000Z"],
  });
});

for (const [name, aggregation, expected] of [
  [
    "date_histogram",
    { date_histogram: { field: "at", calendar_interval: "1d", min_doc_count: 1 } },
    [
      [Date.UTC(2018, 9, 29), 3],
      [Date.UTC(2018, 9, 30), 1],
      [Date.UTC(2018, 9, 31), 1],
      [Date.UTC(2018, 10, 1), 1],
      [Date.UTC(2018, 10, 2), 1],
    ],
  ],
  ["terms", { terms: { field: "at", size: 1 } }, [[Date.UTC(2018, 9, 29, 12, 12, 12, 123), 2]]],
  [
    "date_range",
    { date_range: { field: "at", ranges: [{ from: "2018-10-30", to: "2018-10-31" }] } },
    [["2018-10-30T00:00:00.000Z-2018-10-31T00:00:00.000Z", 1]],
  ],
] as const) {
  test(`${name} counts times by their milliseconds`, async () => {
    const { aggregations } = await fixture.search({
      size: 0,
      aggs: { a: aggregation as unknown as JsonObject },
    });
    const { buckets } = aggregations!["a"] as { buckets: JsonObject[] };
    assert.deepEqual(
      buckets.map(({ key, doc_count: count }) => [key, count]),
      expected,
    );
  });
}

test("the first and the last time are ms with their printed twin", async () => {
  const { aggregations } = await fixture.search({ size: 0, aggs: { a: { stats: { field: "at" } } } });
  const { count, min, max, max_as_string: last } = aggregations!["a"] as JsonObject;
  assert.deepEqual(
    [count, min, max, last],
    [7, 1540815132123, Date.UTC(2018, 10, 2), "2018-11-02T00:00:00.000Z"],
  );
});

test("a time that 64 bits of nanoseconds don't hold is refused", () => {
  for (const [at, why] of [
    [
      "1969-10-28T12:12:12.123456789Z",
      /is before the epoch in 1970 and cannot be stored in nanosecond resolution/,
    ],
    ["2263-10-29T12:12:12.123456789Z", /is after 2262-04-11T23:47:16.854775807/],
    ["soon", /failed to parse date field \[soon\]/],
  ] as const) {
    assert.throws(
      () => new IndexFixture({ mapping: { properties: { at: { type: "date_nanos" } } }, docs: [{ at }] }),
      (error: Error) => why.test(`${error.message} ${String(error.cause)}`),
    );
  }
});
