import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { hostsOf, searchOver } from "#test/support/search/hosts.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import type { SearchShard } from "./contract.ts";

const mapping = { properties: { at: { type: "date" }, n: { type: "long" }, text: { type: "text" } } };
const days = ["2024-01-01", "2024-02-01", "2024-03-01"].map((at, n) => {
  return new IndexFixture({ mapping, docs: [{ at, n, text: "line" }], index: `logs-${at}` });
});
after(() => {
  for (const day of days) day.close();
});
const shards: SearchShard[] = days.flatMap((day) => day.shards);
const options = { signal: new AbortController().signal, limits: DEFAULT_LIMITS, countsUnmatched: true };

const demand = { limits: DEFAULT_LIMITS, version: 605, nowMs: Date.UTC(2024, 5), countsUnmatched: true };

const from = (gte: string): JsonObject => ({ range: { at: { gte } } });
const january = { range: { at: { lt: "2024-01-15" } } };
const word = { match: { text: "line" } };

/** Queries with the number of shards that can't match. */
const SKIPPED: readonly (readonly [JsonObject, number])[] = [
  [from("2024-01-01"), 0],
  [from("2024-01-15"), 1],
  [from("2024-02-15"), 2],
  [{ range: { n: { gt: 1 } } }, 2],
  [{ range: { missing: { gt: 1 } } }, 2],
  [{ bool: { must: word, filter: from("2024-02-15") } }, 2],
  [{ bool: { must: word, must_not: from("2024-02-15") } }, 0],
  [{ bool: { must: word, should: from("2024-02-15") } }, 0],
  [{ bool: { should: [january, from("2024-02-15")] } }, 1],
  [{ bool: { should: [january, word] } }, 0],
  [{ constant_score: { filter: from("2024-02-15"), boost: 2 } }, 2],
  [{ nested: { path: "none", query: word, ignore_unmapped: true } }, 0],
];

for (const [query, skipped] of SKIPPED) {
  test(`${skipped} of 3 shards can't match ${JSON.stringify(query)}, on one host and on several`, async () => {
    const request = parseSearchRequest({ query }, DEFAULT_LIMITS);
    const alone = await searchShards(request, shards, options);
    assert.deepEqual(alone.shards, { total: 3, successful: 3, skipped, failures: [] });
    for (const count of [1, 2, 3]) {
      const found = await searchOver(hostsOf(shards, count), { query }, demand);
      assert.deepEqual(found.shards, alone.shards, `${count} hosts`);
    }
  });
}

test("one shard is searched where none can match", async () => {
  const request = parseSearchRequest({ query: from("2025-01-01"), size: 0 }, DEFAULT_LIMITS);
  const { shards: counted, total } = await searchShards(request, shards, options);
  assert.deepEqual([counted.skipped, total], [2, 0]);
});

test("fields that the request makes have no range", async () => {
  const body = {
    runtime_mappings: { missing: { type: "long", script: "emit(1)" } },
    query: { range: { missing: { gte: 1 } } },
  };
  const { shards: counted, total } = await searchShards(
    parseSearchRequest(body, DEFAULT_LIMITS),
    shards,
    options,
  );
  assert.deepEqual([counted.skipped, total], [0, 3]);
});

test("shards aren't counted unless the search wants it", async () => {
  const request = parseSearchRequest({ query: from("2025-01-01") }, DEFAULT_LIMITS);
  const { shards: counted } = await searchShards(request, shards, { ...options, countsUnmatched: false });
  assert.deepEqual(counted, { total: 3, successful: 3, failures: [] });
});
