import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const MAPPING = {
  properties: { tag: { type: "keyword" }, n: { type: "long" }, w: { type: "double" }, at: { type: "date" } },
};
const DOCS: readonly JsonObject[] = [
  { tag: "foo", n: [10, 20], w: 1, at: "2017-10-20T03:08:45Z" },
  { tag: ["foo", "bar"], w: 2, at: "2017-10-20T13:00:00Z" },
  { tag: "bar", n: [100, 0], w: 3, at: "2017-10-21T07:00:00Z" },
  { tag: "bar", n: 0, w: 4 },
];

const one = new IndexFixture({ mapping: MAPPING, docs: DOCS });
const many = new IndexFixture({ mapping: MAPPING, docs: DOCS, segmentDocs: 1, shards: 3 });
after(() => {
  one.close();
  many.close();
});

/** The aggregation's answer, the same over one segment and over many shards. */
async function aggregate(aggregation: JsonObject): Promise<JsonObject> {
  const body = { size: 0, aggs: { a: aggregation } };
  const result = (await one.search(body)).aggregations!["a"];
  assert.deepEqual((await many.search(body)).aggregations!["a"], result, "merged over shards");
  return JSON.parse(JSON.stringify(result)) as JsonObject;
}

function composite(sources: readonly JsonObject[], more: JsonObject = {}): JsonObject {
  return { composite: { sources, ...more } };
}

const TAG = { tag: { terms: { field: "tag" } } };
const NUMBER = { n: { terms: { field: "n" } } };
const DAY = { day: { date_histogram: { field: "at", interval: "1d", format: "yyyy-MM-dd" } } };

suite("a composite aggregation", () => {
  /** Sources, options, buckets as "key parts: documents". */
  const cases: readonly (readonly [string, JsonObject, readonly string[]])[] = [
    ["one source", composite([TAG]), ["bar: 3", "foo: 2"]],
    ["two sources", composite([NUMBER, TAG]), ["0,bar: 2", "10,foo: 1", "20,foo: 1", "100,bar: 1"]],
    ["a page", composite([NUMBER, TAG], { size: 2 }), ["0,bar: 2", "10,foo: 1"]],
    [
      "the page after",
      composite([NUMBER, TAG], { size: 2, after: { n: 10, tag: "foo" } }),
      ["20,foo: 1", "100,bar: 1"],
    ],
    ["after a key that isn't there", composite([TAG], { after: { tag: "delta" } }), ["foo: 2"]],
    ["descending", composite([{ tag: { terms: { field: "tag", order: "desc" } } }]), ["foo: 2", "bar: 3"]],
    ["days", composite([DAY]), ["2017-10-20: 2", "2017-10-21: 1"]],
    ["days after one", composite([DAY], { after: { day: "2017-10-20" } }), ["2017-10-21: 1"]],
    [
      "documents without a value",
      composite([{ n: { histogram: { field: "n", interval: 50, missing_bucket: true } } }]),
      [": 1", "0: 3", "100: 1"],
    ],
  ];
  for (const [name, aggregation, expected] of cases) {
    test(`gives the buckets of ${name} in the order of their keys`, async () => {
      const { buckets } = await aggregate(aggregation);
      const shown = (buckets as { key: JsonObject; doc_count: number }[]).map(
        ({ key, doc_count: count }) => `${Object.values(key).join(",")}: ${count}`,
      );
      assert.deepEqual(shown, expected);
    });
  }

  test("names the key after which the next page begins, and computes the sub-aggregations", async () => {
    const answer = await aggregate({
      ...composite([TAG], { size: 1 }),
      aggs: { w: { sum: { field: "w" } } },
    });
    assert.deepEqual(answer, {
      after_key: { tag: "bar" },
      buckets: [{ key: { tag: "bar" }, doc_count: 3, w: { value: 9 } }],
    });
  });

  test("is refused below another one, without sources, and after half a key", async () => {
    const refused: readonly (readonly [JsonObject, RegExp])[] = [
      [
        { terms: { field: "tag" }, aggs: { c: composite([TAG]) } },
        /cannot be used with a parent aggregation/,
      ],
      [composite([]), /cannot be null or empty/],
      [composite([TAG, TAG]), /must be unique/],
      [composite([TAG, NUMBER], { after: { tag: "a" } }), /\[after\] has 1 value\(s\) but \[sources\] has 2/],
    ];
    for (const [aggregation, why] of refused)
      await assert.rejects(one.search({ aggs: { a: aggregation } }), why);
  });
});

test("a weighted average counts each value by its weight", async () => {
  const answer = await aggregate({
    weighted_avg: { value: { field: "n" }, weight: { field: "w", missing: 1 } },
  });
  // (10 + 20) · 1 + (100 + 0) · 3 + 0 · 4, over the weights 1, 1, 3, 3, 4.
  assert.deepEqual(answer, { value: 330 / 12 });
  const several = { weighted_avg: { value: { field: "w" }, weight: { field: "n" } } };
  await assert.rejects(one.search({ aggs: { a: several } }), (error: Error) =>
    /all shards failed|more than one weight/.test(error.message),
  );
});

test("an adjacency matrix counts what each query and each two of them match", async () => {
  const filters = { foo: { term: { tag: "foo" } }, bar: { term: { tag: "bar" } }, zero: { term: { n: 0 } } };
  const { buckets } = await aggregate({ adjacency_matrix: { filters } });
  assert.deepEqual(buckets, [
    { key: "bar", doc_count: 3 },
    { key: "bar&foo", doc_count: 1 },
    { key: "bar&zero", doc_count: 2 },
    { key: "foo", doc_count: 2 },
    { key: "zero", doc_count: 2 },
  ]);
});

test("a text field with fielddata gives its terms, also behind a key", async () => {
  const words = { type: "text", fielddata: true };
  const index = new IndexFixture({
    mapping: { properties: { words, plain: { type: "text" } } },
    docs: [{ words: "blue red blue" }, { words: ["red", "green"] }, {}],
    segmentDocs: 1,
    shards: 2,
  });
  const keysOf = async (more: JsonObject): Promise<unknown> => {
    const sources = [{ w: { terms: { field: "words" } } }];
    const { aggregations } = await index.search({ size: 0, aggs: { a: composite(sources, more) } });
    const { buckets } = aggregations!["a"] as { buckets: { key: { w: string }; doc_count: number }[] };
    return buckets.map(({ key, doc_count: count }) => [key.w, count]);
  };
  try {
    assert.deepEqual(await keysOf({ size: 2 }), [
      ["blue", 1],
      ["green", 1],
    ]);
    assert.deepEqual(await keysOf({ after: { w: "green" } }), [["red", 2]]);
    const plain = composite([{ w: { terms: { field: "plain" } } }]);
    await assert.rejects(index.search({ size: 0, aggs: { a: plain } }), /all shards failed/);
  } finally {
    index.close();
  }
});

test("composite may be below nested objects from 6.7 on, and below a filter from 7.0 on", () => {
  const below = (parent: JsonObject) => (): unknown =>
    parseSearchRequest({ aggs: { p: { ...parent, aggs: { a: composite([TAG]) } } } }, DEFAULT_LIMITS);
  const refused = /cannot be used with a parent aggregation/;
  for (const [version, nested, filter] of [
    [605, false, false],
    [607, true, false],
    [700, true, true],
  ] as const) {
    gatherWarnings(new Set(), version, () => {
      for (const [parent, isTaken] of [
        [{ nested: { path: "o" } }, nested],
        [{ filter: { match_all: {} } }, filter],
        [{ terms: { field: "tag" } }, false],
      ] as const) {
        if (isTaken) assert.doesNotThrow(below(parent), `${version}`);
        else assert.throws(below(parent), refused, `${version}`);
      }
    });
  }
});
