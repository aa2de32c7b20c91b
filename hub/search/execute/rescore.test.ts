import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { hitsFixture } from "#test/support/search/hits.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { collectShard } from "./collect-shard.ts";
import { rescored } from "./rescore.ts";

const fixture = hitsFixture();
const { one, many } = fixture;
after(() => fixture.close());

describe("second passes and named queries", () => {
  const all = { constant_score: { filter: { match_all: {} }, boost: 2 } };
  const pass = (mode: string, windowSize = 10) => ({
    window_size: windowSize,
    query: {
      rescore_query: { constant_score: { filter: { term: { host: "ü" } }, boost: 3 } },
      query_weight: 2,
      rescore_query_weight: 0.5,
      score_mode: mode,
    },
  });
  for (const [mode, score] of Object.entries({ total: 5.5, multiply: 6, avg: 2.75, max: 4, min: 1.5 })) {
    test(`scores of both queries are combined by ${mode}`, async () => {
      for (const index of [one, many]) {
        const { hits, maxScore } = await index.search({ query: all, rescore: pass(mode), _source: false });
        const scores = Object.fromEntries(hits.map((hit) => [hit["_id"], hit["_score"]]));
        assert.deepEqual(scores, { a: 4, b: 4, c: score, d: 4 });
        assert.equal(maxScore, Math.max(4, score));
        if (score > 4) assert.equal(hits[0]!["_id"], "c");
        if (score < 4) assert.equal(hits.at(-1)!["_id"], "c");
      }
    });
  }

  test("a hit after the page comes to its front, one after the window doesn't", async () => {
    const first = async (windowSize: number) =>
      (await one.search({ query: all, size: 1, rescore: [pass("total", windowSize)] })).hits[0]!["_id"];
    assert.equal(await first(10), "c");
    assert.equal(await first(1), "a");
  });

  test("a score is explained by all that was made of it", async () => {
    const { hits } = await one.search({ query: all, explain: true, rescore: pass("avg", 3) });
    for (const hit of hits) {
      const explained = hit["_explanation"] as { value: number; description: string };
      assert.equal(explained.value, hit["_score"]);
      assert.equal(explained.description, hit["_id"] === "c" ? "avg of:" : "product of:");
    }
  });

  test("what can't be rescored is refused", async () => {
    const rows: readonly [JsonObject, string][] = [
      [{ rescore: pass("total"), sort: ["n"] }, "request_invalid"],
      [{ rescore: pass("total", 10_001) }, "request_invalid"],
      [{ rescore: { window_size: 5 } }, "parsing"],
      [{ rescore: pass("median") }, "parsing"],
      [{ rescore: new Array(21).fill(pass("total")) }, "request_invalid"],
    ];
    for (const [body, code] of rows)
      await assert.rejects(one.search(body), (error) => error instanceof AppError && error.code === code);
  });

  test("hits name the queries that they match", async () => {
    for (const index of [one, many]) {
      const { hits } = await index.search({
        query: {
          bool: {
            should: [
              { match: { name: { query: "quick", _name: "fast" } } },
              { range: { n: { gte: 3, _name: "large" } } },
              { match_all: {} },
            ],
          },
        },
        post_filter: { bool: { must_not: { ids: { values: ["d"] } }, _name: "seen" } },
        sort: ["host"],
      });
      assert.deepEqual(
        hits.map((hit) => [hit["_id"], [...(hit["matched_queries"] as string[])].sort()]),
        [
          ["b", ["large", "seen"]],
          ["a", ["fast", "large", "seen"]],
          ["c", ["fast", "seen"]],
        ],
      );
    }
  });
});

test("a second pass over many hits lets other work run, and ends when its client is gone", async () => {
  const docs = Array.from({ length: 400 }, (_, n) => ({ n, word: "all" }));
  const index = new IndexFixture({ docs });
  // Each look at the clock takes a millisecond.
  let nowMs = 0;
  let lastPauseMs = 0;
  let longestMs = 0;
  const clock = { ...systemClock, monotonic: () => nowMs++ };
  class WatchedControl extends SearchControl {
    override async pause(): Promise<void> {
      longestMs = Math.max(longestMs, nowMs - lastPauseMs);
      await super.pause();
      lastPauseMs = nowMs;
    }
  }
  try {
    const body = { rescore: { window_size: 400, query: { rescore_query: { match: { word: "all" } } } } };
    const request = parseSearchRequest(body, DEFAULT_LIMITS);
    const [{ index: named, searcher }] = index.shards as [SearchShard];
    const shard = new ShardContext(named, 0, searcher, 0);
    const how = { limit: 400, boost: 1, filter: undefined, after: undefined };
    const free = new SearchControl(systemClock, new AbortController().signal, undefined);
    const found = await collectShard(request, shard, how, free);
    const gone = new AbortController();
    lastPauseMs = nowMs;
    await rescored(found, request.rescore, new WatchedControl(clock, gone.signal, undefined));
    assert.ok(nowMs > 400 && longestMs <= 20, `${longestMs} of ${nowMs} ms without a pause`);
    const late = new SearchControl(clock, new AbortController().signal, 100);
    assert.deepEqual((await rescored(found, request.rescore, late)).hits, found.hits);
    assert.ok(late.timedOut);
    gone.abort();
    await assert.rejects(rescored(found, request.rescore, new SearchControl(clock, gone.signal, undefined)), {
      code: "cancelled",
    });
  } finally {
    index.close();
  }
});
