import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const LABELS = [
  { app: "web", tier: { name: "front", rank: 1 }, tags: ["a", "b"] },
  { app: "web", tier: { name: "back", rank: 2 }, on: true },
  { app: "db", tier: { name: "back", rank: 10 }, tags: "b", "dotted.key": "x" },
  { appx: "web", note: "ünï" },
  {},
];

const fixture = new IndexFixture({
  mapping: {
    properties: {
      n: { type: "long" },
      labels: { type: "flattened", ignore_above: 8 },
      stored: { type: "flattened", index: false },
      kept: { type: "flattened", doc_values: false, null_value: "none" },
      flat: { type: "flat_object" },
      parts: { type: "nested", properties: { labels: { type: "flattened" } } },
    },
  },
  docs: [
    ...LABELS.map((labels, n) => ({ n, labels, stored: labels, kept: labels, flat: labels })),
    { n: 5, labels: [{ app: "web" }, { app: "db" }, null], kept: { app: null } },
    { n: 6, labels: { app: "much too long for it" }, parts: [{ labels: { app: "in" } }, { labels: {} }] },
  ],
  segmentDocs: 3,
  deleted: ["4"],
});
after(() => fixture.close());

async function found(query: JsonObject): Promise<unknown[]> {
  const { hits } = await fixture.search({ query, sort: ["n"] });
  return hits.map((hit) => (JSON.parse(JSON.stringify(hit.sort)) as unknown[])[0]);
}

/** [query, documents] */
const FOUND: readonly (readonly [query: JsonObject, documents: number[]])[] = [
  [{ term: { "labels.app": "web" } }, [0, 1, 5]],
  [{ term: { labels: "web" } }, [0, 1, 3, 5]],
  [{ terms: { "labels.app": ["db", "other"] } }, [2, 5]],
  [{ match: { "labels.tier.name": "back" } }, [1, 2]],
  [{ term: { "labels.tier": "back" } }, []],
  [{ term: { "labels.tier.rank": 10 } }, [2]],
  [{ term: { "labels.on": true } }, [1]],
  [{ term: { "labels.dotted.key": "x" } }, [2]],
  [{ term: { "labels.note": "ünï" } }, [3]],
  [{ term: { "labels.none": "web" } }, []],
  [{ prefix: { "labels.app": "w" } }, [0, 1, 5]],
  [{ wildcard: { "labels.app": "*e*" } }, [0, 1, 5]],
  [{ regexp: { "labels.app": "w.b|db" } }, [0, 1, 2, 5]],
  [{ fuzzy: { "labels.app": "wab" } }, [0, 1, 5]],
  [{ range: { "labels.app": { lt: "e" } } }, [2, 5]],
  [{ range: { "labels.app": { gte: "e" } } }, [0, 1, 5]],
  [{ range: { "labels.tier.rank": { gt: "1", lte: "2" } } }, [1, 2]],
  [{ exists: { field: "labels.app" } }, [0, 1, 2, 5]],
  [{ exists: { field: "labels.tags" } }, [0, 2]],
  [{ exists: { field: "kept.app" } }, [0, 1, 2, 5]],
  [{ exists: { field: "labels" } }, [0, 1, 2, 3, 5]],
  [{ term: { "kept.app": "none" } }, [5]],
  [{ term: { "flat.tier.name": "front" } }, [0]],
  [{ query_string: { query: "labels.app:db OR labels.tags:a" } }, [0, 2, 5]],
  [{ query_string: { query: "back" } }, [1, 2]],
  [{ nested: { path: "parts", query: { term: { "parts.labels.app": "in" } } } }, [6]],
  [{ term: { "parts.labels.app": "in" } }, []],
];
for (const [query, documents] of FOUND) {
  test(`${JSON.stringify(query)} is found`, async () => {
    assert.deepEqual(await found(query), documents);
  });
}

test("keys are counted, sorted by, and shown like keyword fields", async () => {
  const { aggregations, hits } = await fixture.search({
    query: { exists: { field: "labels.app" } },
    sort: [{ "labels.tier.name": { order: "asc", missing: "_last" } }, { n: "desc" }],
    docvalue_fields: ["labels.tags"],
    fields: ["labels.tier.name"],
    aggs: {
      apps: {
        terms: { field: "labels.app" },
        aggs: { names: { cardinality: { field: "labels.tier.name" } } },
      },
      all: { terms: { field: "labels", size: 3 } },
      unset: { missing: { field: "labels.tags" } },
      pairs: { composite: { sources: [{ app: { terms: { field: "labels.app" } } }] } },
      values: { value_count: { field: "labels.tags" } },
    },
  });
  const buckets = (name: string): unknown[] =>
    (aggregations![name] as { buckets: JsonObject[] }).buckets.map(({ key, doc_count: count }) => [
      key,
      count,
    ]);
  assert.deepEqual(buckets("apps"), [
    ["web", 3],
    ["db", 2],
  ]);
  assert.deepEqual(buckets("all"), [
    ["web", 3],
    ["b", 2],
    ["back", 2],
  ]);
  assert.deepEqual(buckets("pairs"), [
    [{ app: "db" }, 2],
    [{ app: "web" }, 3],
  ]);
  assert.equal((aggregations!["unset"] as JsonObject)["doc_count"], 2);
  assert.equal((aggregations!["values"] as JsonObject)["value"], 3);
  const shown = JSON.parse(JSON.stringify(hits)) as { sort: unknown[]; fields?: JsonObject }[];
  assert.deepEqual(
    shown.map(({ sort, fields }) => [...sort, fields]),
    [
      ["back", 2, { "labels.tags": ["b"], "labels.tier.name": ["back"] }],
      ["back", 1, { "labels.tier.name": ["back"] }],
      ["front", 0, { "labels.tags": ["a", "b"], "labels.tier.name": ["front"] }],
      [null, 5, undefined],
    ],
  );
});

test("a key of one value a document is counted as a whole, and within a query", async () => {
  const many = new IndexFixture({
    mapping: { properties: { labels: { type: "flattened" } } },
    docs: Array.from({ length: 3000 }, (_, n) => ({
      n,
      labels: { a: `v${n % 3}`, ...(n % 2 === 0 && { even: "yes" }) },
    })),
    segmentDocs: 2000,
  });
  const counted = async (field: string, query: JsonObject): Promise<unknown[]> => {
    const { aggregations } = await many.search({ size: 0, query, aggs: { t: { terms: { field } } } });
    const { buckets } = aggregations!["t"] as { buckets: JsonObject[] };
    return buckets.map(({ key, doc_count: count }) => [key, count]);
  };
  try {
    const all = { match_all: {} };
    assert.deepEqual(await counted("labels.a", all), [
      ["v0", 1000],
      ["v1", 1000],
      ["v2", 1000],
    ]);
    assert.deepEqual(await counted("labels.even", all), [["yes", 1500]]);
    assert.deepEqual(await counted("labels.a", { range: { n: { lt: 10 } } }), [
      ["v0", 4],
      ["v1", 3],
      ["v2", 3],
    ]);
    assert.deepEqual(await counted("labels.a", { term: { "labels.even": "yes" } }), [
      ["v0", 500],
      ["v1", 500],
      ["v2", 500],
    ]);
  } finally {
    many.close();
  }
});

test("the whole object is a field, too", async () => {
  const { hits } = await fixture.search({ query: { term: { n: 3 } }, fields: ["labels"] });
  assert.deepEqual(JSON.parse(JSON.stringify(hits[0]!["fields"])), { labels: [LABELS[3]] });
});

test("a key of a field that isn't indexed can be sorted by, and not searched for", async () => {
  await assert.rejects(found({ term: { "stored.app": "web" } }), (error: Error) =>
    /not indexed/.test(String(error.cause)),
  );
  const { hits } = await fixture.search({ sort: [{ "stored.tier.rank": "desc" }], size: 1 });
  assert.deepEqual(JSON.parse(JSON.stringify(hits[0]!.sort)), ["2"]);
});

suite("documents with a flattened field", () => {
  const refused =
    (labels: unknown, mapping: JsonObject = {}): (() => unknown) =>
    () =>
      new IndexFixture({
        mapping: { properties: { labels: { type: "flattened", ...mapping } } },
        docs: [{ labels } as JsonObject],
      });
  for (const [name, labels, mapping] of [
    ["a text", "text", {}],
    ["a number in a list", [1], {}],
    ["objects too deep", { a: { b: { c: 1 } } }, { depth_limit: 2 }],
    ["a key with the mark behind keys", { "a\0b": 1 }, {}],
    ["a value of 33 kB", { a: "x".repeat(33_000) }, {}],
  ] as const) {
    test(`are refused for ${name}`, () => {
      assert.throws(refused(labels, mapping), /failed to parse field \[labels\] of type \[flattened\]/);
    });
  }
});
