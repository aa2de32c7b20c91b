import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const properties = {
  tag: { type: "keyword", fields: { raw: { type: "keyword" } } },
  n: { type: "integer", ignore_malformed: true, store: true },
  at: { type: "date", format: "yyyy/MM/dd" },
  span: { type: "integer_range" },
  other: { type: "alias", path: "tag" },
};
const docs = {
  good: JSON.stringify({ tag: ["a", "b"], n: "42", at: "2024/01/31", span: { gte: 0, lte: 42 } }),
  bad: JSON.stringify({ tag: "c", n: "many" }),
};
const index = new IndexFixture({ mapping: { properties }, docs });
const hidden = new IndexFixture({ mapping: { _source: { enabled: false }, properties }, docs });
const partial = new IndexFixture({ mapping: { _source: { excludes: ["tag"] }, properties }, docs });
after(() => {
  index.close();
  hidden.close();
  partial.close();
});

async function hit(from: IndexFixture, id: string, body: JsonObject): Promise<JsonObject> {
  const { hits } = await from.search({ query: { ids: { values: [id] } }, ...body });
  return hits[0]!;
}

for (const [id, fields, shown] of [
  ["good", ["n", "tag"], { n: [42], tag: ["a", "b"] }],
  ["good", ["tag.raw"], { "tag.raw": ["a", "b"] }],
  ["good", ["other"], { other: ["a", "b"] }],
  ["good", ["span"], { span: [{ gte: 0, lte: 42 }] }],
  ["good", ["sp*"], { span: [{ gte: 0, lte: 42 }] }],
  ["good", [{ field: "at", format: "yyyy-MM" }], { at: ["2024-01"] }],
  ["bad", ["n", "tag"], { tag: ["c"] }],
] as const) {
  test(`fields ${JSON.stringify(fields)} of ${id} are ${JSON.stringify(shown)}`, async () => {
    assert.deepEqual((await hit(index, id, { fields: [...fields], _source: false }))["fields"], shown);
  });
}

test("a format for what isn't a time is refused", async () => {
  const fields = [{ field: "tag", format: "yyyy" }];
  await assert.rejects(
    hit(index, "good", { fields }),
    /Field \[tag\] of type \[keyword\] doesn't support formats/,
  );
});

test("stored_fields shows those that the mapping stores", async () => {
  const found = await hit(index, "good", { stored_fields: ["n", "tag"] });
  assert.deepEqual(found["fields"], { n: [42] });
  assert.equal(found["_source"], undefined);
});

test("a mapping with _source disabled shows stored fields only", async () => {
  const found = await hit(hidden, "good", {
    query: { match: { tag: "a" } },
    stored_fields: ["n", "_source"],
  });
  assert.equal(found["_source"], undefined);
  assert.deepEqual(found["fields"], { n: [42] });
  await assert.rejects(hit(hidden, "good", { fields: ["n"] }), /since _source is disabled in the mappings/);
});

test("parts that a mapping leaves out of _source are found and not shown", async () => {
  const found = await hit(partial, "bad", { query: { match: { tag: "c" } } });
  assert.deepEqual(found["_source"], { n: "many" });
});
