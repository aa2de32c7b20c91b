import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { collectShards } from "./collect.ts";
import type { SearchShard } from "./contract.ts";
import { grouped } from "./joined-shards.ts";

/** Each address comes as often as its number says, over all shards. */
const ADDRESSES = 150;
const docs = Array.from({ length: ADDRESSES }, (_, number) =>
  Array.from({ length: number }, (_, at) => ({
    address: `10.0.0.${number}`,
    bytes: number * 1000 + at,
    message: `number${number % 40} line`,
  })),
).flat();
const mapping = { properties: { address: { type: "keyword" }, message: { type: "text" } } };
const index = new IndexFixture({ mapping, docs, shards: 5, segmentDocs: 2000 });
const other = new IndexFixture({ mapping, docs: docs.slice(0, 50), shards: 2, index: "other" });
after(() => {
  index.close();
  other.close();
});

const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS };
const top: JsonObject = { size: 0, aggs: { top: { terms: { field: "address", size: 7 } } } };
const frequent = Array.from({ length: 7 }, (_, at) => {
  return { key: `10.0.0.${ADDRESSES - 1 - at}`, doc_count: ADDRESSES - 1 - at };
});

function groupSizes(body: JsonObject, shards: readonly SearchShard[] = index.shards): number[] {
  return grouped(parseSearchRequest(body, DEFAULT_LIMITS), shards).map(({ length }) => length);
}

test("terms of all shards of a search are cut to those of the answer", async () => {
  const request = parseSearchRequest(top, DEFAULT_LIMITS);
  for (const [isWhole, buckets] of [
    [true, 7],
    [false, ADDRESSES - 1],
  ] as const) {
    const { partial } = await collectShards(request, index.shards, { ...options, isWhole });
    assert.equal((partial.aggregations!["top"] as { buckets: unknown[] }).buckets.length, buckets);
    assert.deepEqual([partial.searched, partial.total], [[0, 1, 2, 3, 4], docs.length]);
  }
  const { aggregations, shards } = await index.search(top);
  const kept = frequent.reduce((sum, { doc_count }) => sum + doc_count, 0);
  assert.deepEqual(aggregations, {
    top: { doc_count_error_upper_bound: 0, sum_other_doc_count: docs.length - kept, buckets: frequent },
  });
  assert.deepEqual(shards, { total: 5, successful: 5, failures: [] });
});

/** By score, which the statistics of a shard make. */
const BEST: JsonObject = { top_metrics: { metrics: { field: "bytes" } } };

test("shards of one index are joined, without filters, for what gains by it", () => {
  const [first, ...rest] = index.shards;
  assert.deepEqual(groupSizes(top), [5]);
  assert.deepEqual(groupSizes(top, [...index.shards, ...other.shards]), [5, 2]);
  assert.deepEqual(
    groupSizes(top, [first!, { ...rest[0]!, filter: new AllNode() }, ...rest.slice(1)]),
    [1, 1, 3],
  );
  for (const change of [
    { size: 1 },
    { terminate_after: 10 },
    { min_score: 0.5 },
    { profile: true },
    { aggs: { mean: { avg: { field: "bytes" } } } },
    { aggs: { top: { terms: { field: "address" }, aggs: { hits: { top_hits: {} } } } } },
    { aggs: { top: { terms: { field: "address" }, aggs: { best: BEST } } } },
    { aggs: { top: { terms: { field: "address" } }, first: { sampler: {}, aggs: {} } } },
  ])
    assert.deepEqual(groupSizes({ ...top, ...change }), [1, 1, 1, 1, 1], JSON.stringify(change));
});

/** Each shard has a word of its own. */
const words = new IndexFixture({
  mapping,
  docs: Array.from({ length: 100 }, (_, at) => ({
    address: `10.0.0.${at}`,
    message: `number${at % 5} line`,
  })),
  shards: 5,
  index: "words",
});
after(() => words.close());

for (const [query, found] of [
  [{ match: { message: { query: "numbers", fuzziness: 1, max_expansions: 2 } } }, 100],
  [{ match_phrase_prefix: { message: { query: "number", max_expansions: 2 } } }, 100],
  [moreLike("number0 number1 number2 number3 number4"), 100],
  [{ function_score: { query: { match: { message: "number3" } }, min_score: 0.5 } }, 0],
] as const)
  test(`${Object.keys(query)[0]} finds beside terms what it finds in each shard`, async () => {
    const aggs = { top: { terms: { field: "address", size: 1000 } } };
    assert.equal((await words.search({ query })).total, found);
    const { aggregations, total } = await words.search({ size: 0, query, aggs });
    assert.equal(total, found);
    assert.equal((aggregations!["top"] as { buckets: unknown[] }).buckets.length, found);
  });

function moreLike(like: string): JsonObject {
  return { more_like_this: { fields: ["message"], like, min_term_freq: 1, max_query_terms: 1 } };
}

test("a shard that can't be read doesn't keep the others out", async () => {
  const damaged = index.shards.map((shard, at) => (at === 2 ? unreadable(shard) : shard));
  const { aggregations, shards, total } = await searchShards(
    parseSearchRequest(top, DEFAULT_LIMITS),
    damaged,
    options,
  );
  assert.deepEqual([shards.total, shards.successful], [5, 4]);
  assert.deepEqual(
    shards.failures.map(({ shard, error }) => [shard, error.code]),
    [[2, "data_corrupt"]],
  );
  const { buckets, sum_other_doc_count: others } = aggregations!["top"] as {
    buckets: { doc_count: number }[];
    sum_other_doc_count: number;
  };
  assert.equal(
    buckets.reduce((sum, { doc_count }) => sum + doc_count, others),
    total,
  );
});

function unreadable(shard: SearchShard): SearchShard {
  const segments = shard.searcher.segments.map(
    (segment) =>
      new Proxy(segment, {
        get(target, name) {
          if (name === "keywordColumn") throw new AppError("data_corrupt", "a block is damaged");
          const value: unknown = Reflect.get(target, name, target);
          return typeof value === "function" ? (value.bind(target) as unknown) : value;
        },
      }),
  );
  const { mapping, totalDocs } = shard.searcher;
  return { ...shard, searcher: { segments, mapping, totalDocs, close: () => undefined } };
}
