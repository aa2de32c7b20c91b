import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      day: { type: "date" },
      nanos: { type: "date_nanos" },
      place: { type: "geo_point" },
    },
  },
  docs: [
    { n: 0, day: "2018-02-01T10:00:00Z", nanos: "2018-02-01T00:00:00.223456789Z", place: "41.13,-71.34" },
    { n: 1, day: "2018-02-01T11:00:00Z", nanos: "2018-02-01T00:00:00.123456789Z", place: "41.14,-71.34" },
    {
      n: 2,
      day: ["2018-01-01", "2018-02-01T09:00:00Z"],
      nanos: "2018-02-01T00:00:00.323456789Z",
      place: "41.12,-71.34",
    },
    { n: 3 },
  ],
});
after(() => fixture.close());

const found = async (options: JsonObject): Promise<[document: unknown, score: number][]> => {
  const { hits } = await fixture.search({ query: { distance_feature: options } });
  return hits.map((hit) => [
    (JSON.parse(JSON.stringify(hit["_source"])) as JsonObject)["n"],
    Number(hit["_score"]),
  ]);
};

for (const [field, origin, pivot] of [
  ["day", "2018-02-01T08:00:00Z", "1h"],
  ["nanos", "2018-02-01T00:00:00.323456789Z", "100000000nanos"],
  ["place", [-71.35, 41.12], "1km"],
] as const) {
  test(`documents whose ${field} is nearer to the origin score more`, async () => {
    const documents = (await found({ field, origin, pivot })).map(([document]) => document);
    assert.deepEqual(documents, [2, 0, 1]);
  });
}

test("a score halves at the pivot and is multiplied by the boost", async () => {
  const scores = await found({ field: "day", origin: "2018-02-01T09:00:00Z", pivot: "1h", boost: 3 });
  assert.deepEqual(scores, [
    [2, 3],
    [0, 1.5],
    [1, 1],
  ]);
});

test("a field that isn't mapped matches nothing, one of numbers is refused", async () => {
  assert.deepEqual(await found({ field: "none", origin: "now", pivot: "1h" }), []);
  await assert.rejects(found({ field: "n", origin: 1, pivot: 1 }), (error: Error) =>
    /can only be run on a date, date_nanos or geo_point/.test(String(error.cause)),
  );
  await assert.rejects(found({ field: "day", origin: "now" }), /Required \[pivot\]/);
});
