import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import type { SearchOptions, SearchShard } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS, ShardContext } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { ResultCache } from "./result-cache.ts";

const DOCS = Array.from({ length: 40 }, (_, n) => ({
  n,
  host: `host-${n % 3}`,
  at: `2026-01-${String(1 + (n % 20)).padStart(2, "0")}T00:00:00Z`,
  place: { lat: n, lon: n },
  message: `line ${n}`,
}));
const mapping = {
  properties: { host: { type: "keyword" }, at: { type: "date" }, place: { type: "geo_point" } },
};
const fixture = new IndexFixture({ mapping, docs: DOCS, shards: 2, segmentDocs: 7 });
const other = new IndexFixture({ mapping, docs: DOCS.slice(0, 10), shards: 2 });
after(() => {
  fixture.close();
  other.close();
});

const AGGREGATIONS: Readonly<Record<string, JsonObject>> = {
  terms: { terms: { field: "host" }, aggs: { sum: { sum: { field: "n" } } } },
  numbers: { terms: { field: "n", order: { _key: "desc" } } },
  date_histogram: {
    date_histogram: { field: "at", interval: "day" },
    aggs: { hosts: { terms: { field: "host" } } },
  },
  auto_date_histogram: { auto_date_histogram: { field: "at", buckets: 5 } },
  histogram: { histogram: { field: "n", interval: 7 } },
  range: { range: { field: "n", ranges: [{ to: 5 }, { from: 5 }] } },
  composite: {
    composite: { sources: [{ host: { terms: { field: "host" } } }, { n: { terms: { field: "n" } } }] },
  },
  cardinality: { cardinality: { field: "n" } },
  percentiles: { percentiles: { field: "n" } },
  hdr: { percentiles: { field: "n", hdr: {} } },
  extended_stats: { extended_stats: { field: "n" } },
  filters: { filters: { filters: { a: { term: { host: "host-1" } } } } },
  significant_terms: { significant_terms: { field: "host", min_doc_count: 1 } },
  top_hits: { top_hits: { size: 2, sort: ["n"] } },
  geohash_grid: { geohash_grid: { field: "place", precision: 1 } },
  geo_bounds: { geo_bounds: { field: "place" } },
  sampler: { sampler: { shard_size: 5 }, aggs: { hosts: { terms: { field: "host" } } } },
};

for (const [name, aggregation] of Object.entries(AGGREGATIONS)) {
  test(`${name} from the cache equals ${name} computed again`, async () => {
    const results = new ResultCache(2 ** 20);
    const body = { size: 0, query: { range: { n: { gte: 3 } } }, aggs: { a: aggregation } };
    const cache = { results, key: JSON.stringify(body) };
    const anew = await fixture.search(body);
    for (let asked = 0; asked < 3; asked++) {
      const { total, aggregations } = await fixture.search(body, { cache });
      assert.deepEqual({ total, aggregations }, { total: anew.total, aggregations: anew.aggregations });
    }
    const { hits, misses } = results.stats("uuid-logs");
    // Hits within buckets aren't data alone.
    assert.deepEqual([hits, misses], name === "top_hits" ? [0, 6] : [4, 2]);
  });
}

test("the only shard of a search leaves the results of several shards alone", async () => {
  const body = { size: 0, aggs: { a: { terms: { field: "n", size: 2, order: { _key: "desc" } } } } };
  const cache = { results: new ResultCache(2 ** 20), key: JSON.stringify(body) };
  const searched = async (shards: readonly SearchShard[], options: Partial<SearchOptions>) =>
    (
      await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), shards, {
        signal: new AbortController().signal,
        limits: DEFAULT_LIMITS,
        ...options,
      })
    ).aggregations;
  const [first] = fixture.shards;
  for (const shards of [[first!], fixture.shards, [first!], fixture.shards])
    assert.deepEqual(await searched(shards, { cache }), await searched(shards, {}));
  const { hits, misses } = cache.results.stats("uuid-logs");
  assert.deepEqual([hits, misses], [3, 3]);
});

test("a query that the cluster refuses is refused after its answer was cached", async () => {
  const body = { size: 0, query: { prefix: { host: "host" } } };
  const cache = { results: new ResultCache(2 ** 20), key: JSON.stringify(body) };
  const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS, cache };
  assert.equal((await fixture.search(body, options)).total, 40);
  const shards = fixture.shards.map((each) => ({
    ...each,
    index: { ...each.index, allowsExpensive: false },
  }));
  await assert.rejects(
    searchShards(parseSearchRequest(body, DEFAULT_LIMITS), shards, options),
    /shards failed/,
  );
});

test("another snapshot of a shard is another answer", async () => {
  const cache = { results: new ResultCache(2 ** 20), key: "all" };
  const body = { size: 0 };
  assert.equal((await fixture.search(body, { cache })).total, 40);
  assert.equal((await other.search(body, { cache })).total, 10);
  assert.equal((await fixture.search(body, { cache })).total, 40);
  assert.equal(cache.results.stats("uuid-logs").hits, 0);
});

test("a shard seen through a filter, and one that forbids it, cache nothing", async () => {
  const cache = { results: new ResultCache(2 ** 20), key: "all" };
  const [first, second] = fixture.shards;
  const shards = [
    { ...first!, keepsResults: false },
    { ...second!, filter: new AllNode() },
  ];
  const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS, cache };
  await searchShards(parseSearchRequest({ size: 0 }, DEFAULT_LIMITS), shards, options);
  assert.deepEqual(cache.results.stats("uuid-logs"), { bytes: 0, hits: 0, misses: 0, evictions: 0 });
});

test("the least used are evicted first, and an index removes all of its own", () => {
  const cache = new ResultCache(4_000);
  const [shard] = fixture.shards;
  const context = new ShardContext(shard!.index, 0, shard!.searcher, 0);
  const result = { total: 1, maxScore: Number.NaN, aggregations: {}, terminatedEarly: false };
  for (let n = 0; n < 20; n++) {
    cache.put(context, `key ${n}`, result);
    cache.get(context, "key 0");
  }
  assert.equal(cache.get(context, "key 0")?.total, 1);
  assert.equal(cache.get(context, "key 1"), undefined);
  const { bytes, evictions } = cache.stats("uuid-logs");
  assert.ok(bytes > 0 && bytes <= 4_000, `${bytes}`);
  assert.ok(evictions > 0);
  cache.clear("uuid-logs");
  assert.equal(cache.stats("uuid-logs").bytes, 0);
  assert.equal(cache.get(context, "key 0"), undefined);
});
