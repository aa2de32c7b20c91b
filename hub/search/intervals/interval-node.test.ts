/** Documents that have to be read to know whether they match keep the thread no longer than others. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { inspect } from "node:util";
import { DEFAULT_LIMITS, NO_MORE_DOCS, ShardContext } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const DOCS = 500;
const index = new IndexFixture({
  mapping: { properties: { t: { type: "text" } } },
  docs: Array.from({ length: DOCS }, (_, at) => ({
    t: at === 400 ? "one two" : "two one",
    n: at,
    ...(at < 2 && { w: Array.from({ length: 1000 }, (_each, word) => `w${word}`).join(" ") }),
  })),
});
after(() => index.close());

/** Nearly all documents have the words, one has them in this order. */
const hardly: JsonObject = {
  span_near: { clauses: [{ span_term: { t: "one" } }, { span_term: { t: "two" } }], in_order: true },
};
const all: JsonObject = { match: { t: "one" } };

async function total(body: JsonObject): Promise<unknown> {
  return JSON.parse(JSON.stringify((await index.search(body)).hits.length));
}

test("a conjunction reads some documents at a time, and misses none", () => {
  const [shard] = index.shards;
  const context = new ShardContext(shard!.index, 0, shard!.searcher, 0);
  const { query } = parseSearchRequest({ query: { bool: { must: [hardly, all] } } }, DEFAULT_LIMITS);
  const docs = new Int32Array(1024);
  const scores = new Float32Array(1024);
  const found: number[] = [];
  let fills = 0;
  const [segment] = shard!.searcher.segments;
  const scorer = query.weight(context, { scores: true, boost: 1 }).scorer(segment!)!;
  do {
    found.push(...docs.subarray(0, scorer.fill(docs, scores)));
    fills++;
  } while (scorer.doc !== NO_MORE_DOCS);
  assert.deepEqual(found, [400]);
  assert.ok(scores[0]! > 0);
  assert.ok(fills > 10, `${fills}`);
});

for (const [name, body, expected] of [
  ["must", { query: { bool: { must: [all, hardly] } } }, 1],
  ["must_not", { query: { bool: { must: [all], must_not: [hardly] } } }, DOCS - 1],
  ["should", { query: { bool: { must: [all], should: [hardly] } } }, DOCS],
  ["filter", { query: { bool: { filter: [hardly, { range: { n: { gte: 399 } } }] } } }, 1],
  ["post_filter", { query: all, post_filter: hardly }, 1],
] as const) {
  test(`spans match the same documents in ${name}`, async () => {
    assert.equal(await total({ size: 1000, ...body }), expected);
  });
}

test("patterns of all clauses together stand for so many terms", async () => {
  const any = (clauses: number): JsonObject => ({
    span_or: { clauses: Array(clauses).fill({ span_multi: { match: { prefix: { w: "w" } } } }) },
  });
  assert.equal(await total({ query: any(3) }), 2);
  await assert.rejects(total({ query: any(25) }), (error) =>
    /stand for more than 20000 terms/.test(inspect(error, { depth: 9 })),
  );
});
