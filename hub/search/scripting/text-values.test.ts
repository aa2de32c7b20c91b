import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const fixture = new IndexFixture({
  mapping: {
    properties: { t: { type: "text", fielddata: true }, plain: { type: "text" }, n: { type: "long" } },
  },
  docs: [{ t: "The quick brown the Fox", plain: "a", n: 0 }, { t: ["lazy dog", "brown"], n: 1 }, { n: 2 }],
  segmentDocs: 2,
  shards: 2,
});
after(() => fixture.close());

/** What a script makes of each document, in the order of `n`. */
async function fieldsOf(source: string): Promise<unknown[]> {
  const { hits } = await fixture.search({ sort: ["n"], script_fields: { it: { script: source } } });
  return hits.map((hit) => (hit["fields"] as JsonObject)["it"]);
}

test("doc has the terms of a text field with fielddata, sorted and each once", async () => {
  assert.deepEqual(await fieldsOf("doc['t'].values"), [
    ["brown", "fox", "quick", "the"],
    ["brown", "dog", "lazy"],
    [],
  ]);
  assert.deepEqual(await fieldsOf("doc['t'].value"), [["brown"], ["brown"], [null]]);
  assert.deepEqual(await fieldsOf("doc['t'].size()"), [[4], [3], [0]]);
  assert.deepEqual(await fieldsOf("doc['t'].empty"), [[false], [false], [true]]);
  assert.deepEqual(await fieldsOf("doc['t'].contains('dog')"), [[false], [true], [false]]);
});

test("queries, sorts and aggregations read them as well", async () => {
  const script = { script: { source: "doc['t'].value == 'brown' && doc['t'].size() == 3" } };
  assert.deepEqual(await fixture.ids({ query: { script } }), ["1"]);
  const sort = { _script: { type: "number", script: "-doc['t'].size()" } };
  assert.deepEqual(await fixture.ids({ sort }), ["0", "1", "2"]);
  const terms = { field: "t", script: "_value.substring(0, 1)", order: { _key: "asc" } };
  const { aggregations } = await fixture.search({ size: 0, aggs: { a: { terms } } });
  const { buckets } = aggregations!["a"] as { buckets: JsonObject[] };
  assert.deepEqual(
    buckets.map(({ key, doc_count: count }) => [key, count]),
    [
      ["b", 2],
      ["d", 1],
      ["f", 1],
      ["l", 1],
      ["q", 1],
      ["t", 1],
    ],
  );
});

test("a text field without fielddata is refused", async () => {
  await assert.rejects(fieldsOf("doc['plain'].value"), (error) =>
    /Fielddata is disabled on text fields/.test(inspect(error, { depth: 9 })),
  );
});
