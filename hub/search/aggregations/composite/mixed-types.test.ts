/** Aggregations over a field that has another type in each index. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const indexOf = (type: string, values: readonly unknown[]): IndexFixture =>
  new IndexFixture({
    index: `of-${type}`,
    mapping: { properties: { v: { type } } },
    docs: values.map((v) => ({ v, n: 1 })),
  });
const addresses = indexOf("ip", ["10.0.0.10", "10.0.0.2", "9.0.0.1"]);
const texts = indexOf("keyword", ["10.0.0.10", "10.0.0.1", "none"]);
const numbers = indexOf("long", [404, 1000]);
const fractions = indexOf("double", [404.5, 500]);
const all = [addresses, texts, numbers, fractions];
after(() => {
  for (const fixture of all) fixture.close();
});

async function answer(aggregation: JsonObject, ...indices: IndexFixture[]): Promise<JsonObject[]> {
  const request = parseSearchRequest({ size: 0, aggs: { it: aggregation } }, DEFAULT_LIMITS);
  const shards = indices.flatMap((index) => index.shards);
  const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS, nowMs: 0 };
  const { aggregations } = await searchShards(request, shards, options);
  return (aggregations!["it"] as { buckets: JsonObject[] }).buckets;
}

const composite = { composite: { size: 2, sources: [{ value: { terms: { field: "v" } } }] } };

test("composite refuses keys of several types, whose pages would have no common order", async () => {
  const refused = {
    code: "request_invalid",
    message: /\[value\].*two different types in two different indices/,
  };
  for (const other of [texts, numbers]) await assert.rejects(answer(composite, addresses, other), refused);
  await assert.rejects(answer(composite, numbers, addresses, texts), refused);
  await assert.rejects(answer(composite, texts, fractions), refused);
});

test("composite has one order of whole numbers and fractions", async () => {
  const buckets = await answer(composite, numbers, fractions);
  assert.deepEqual(
    buckets.map(({ key }) => Number((key as JsonObject)["value"])),
    [404, 404.5],
  );
});

test("terms has addresses before texts that are none", async () => {
  const terms = { terms: { field: "v", order: { _key: "asc" } } };
  for (const indices of [
    [addresses, texts],
    [texts, addresses],
  ])
    assert.deepEqual(
      (await answer(terms, ...indices)).map(({ key, doc_count: count }) => [key, count]),
      [
        ["9.0.0.1", 1],
        ["10.0.0.1", 1],
        ["10.0.0.2", 1],
        ["10.0.0.10", 2],
        ["none", 1],
      ],
    );
});
