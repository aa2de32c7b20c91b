/** Conditions that take long for each document, beside the query: others get the thread meanwhile. */

import assert from "node:assert/strict";
import { after, test } from "node:test";
import { AllNode } from "#hub/search/execute/nodes/documents.ts";
import { TermsSetNode } from "#hub/search/execute/nodes/terms-set.ts";
import { profileShard } from "#hub/search/execute/profile.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { DEFAULT_LIMITS, NO_MORE_DOCS, ShardContext } from "#hub/search/query/query.ts";
import { SearchControl } from "#hub/search/query/search-control.ts";
import { parseQueryRequest, parseSearchRequest } from "#hub/search/request/search-request.ts";
import { systemClock } from "#proto/kit/clock.ts";
import type { AppError } from "#proto/kit/errors.ts";
import { assertSharesThread } from "#test/support/kit/shared-thread.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { countShards } from "./count.ts";
import { searchShards } from "./search.ts";

const DOCS = 100;
const index = new IndexFixture({
  mapping: { properties: { n: { type: "long" } } },
  docs: Array.from({ length: DOCS }, (_, n) => ({ n })),
});
after(() => index.close());

/** True for half of the documents, after a millisecond or so. */
const SLOW = {
  script: { script: "int i = 0; while (i < 10000) { i++ } return doc['n'].value % 2 == 0" },
};
const { signal } = new AbortController();

test("a count by a script lets others have the thread", async () => {
  await assertSharesThread(async () => {
    const { count } = await countShards(parseQueryRequest({ query: SLOW }), index.shards, signal);
    assert.equal(count, DOCS / 2);
  });
});

for (const aggregation of [{ filter: SLOW }, { filters: { filters: { even: SLOW } } }])
  test(`${Object.keys(aggregation)[0]} by a script lets others have the thread`, async () => {
    const body = {
      size: 0,
      aggs: { halves: aggregation, all: { global: {}, aggs: { halves: aggregation } } },
    };
    await assertSharesThread(async () => {
      const { aggregations } = await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), index.shards, {
        limits: DEFAULT_LIMITS,
        signal,
      });
      assert.equal(JSON.stringify(aggregations).split(`"doc_count":${DOCS / 2}`).length, 3);
    });
  });

test("a regular expression that takes long for each term lets others have the thread", async () => {
  let state = 1;
  const letters = (): string =>
    Array.from({ length: 80 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return "abcdef"[(state >>> 16) % 6];
    }).join("");
  const words = new IndexFixture({
    mapping: { properties: { word: { type: "text" } } },
    docs: Array.from({ length: 25 }, (_, nth) => ({ word: `${letters()}${nth}` })),
  });
  after(() => words.close());
  const choices = [5, 8, 11, 14].map((count) => `~(.*[a-c].{${count}}[d-f].*a)`).join("|");
  for (const query of [
    { regexp: { word: `(${choices})*[xy]` } },
    { intervals: { word: { regexp: { pattern: `(${choices})*[xy]` } } } },
  ]) {
    await assertSharesThread(async () => {
      const { count } = await countShards(parseQueryRequest({ query }), words.shards, signal);
      assert.equal(count, 0);
    }, JSON.stringify(query));
  }
});

/** A script that takes most of a run's steps. */
const slowly = (steps: number, result: string): string =>
  `int i = 0; while (i < ${steps}) { i++ } return ${result}`;

for (const [name, pipeline] of Object.entries({
  moving_fn: { buckets_path: "_count", window: 2, script: slowly(20_000, "1.0") },
  bucket_script: { buckets_path: { count: "_count" }, script: slowly(20_000, "params.count") },
  bucket_selector: { buckets_path: { count: "_count" }, script: slowly(20_000, "true") },
}))
  test(`${name} lets others have the thread`, async () => {
    const search = async (made: object): Promise<void> => {
      const histogram = { field: "n", interval: 1 };
      const body = { size: 0, aggs: { all: { histogram, aggs: { made: { [name]: made } } } } };
      await searchShards(parseSearchRequest(body, DEFAULT_LIMITS), index.shards, {
        limits: DEFAULT_LIMITS,
        signal,
      });
    };
    await assertSharesThread(() => search(pipeline));
    await assert.rejects(search({ ...pipeline, script: slowly(40_000, "1.0") }), /runtime error/);
  });

test("terms_set moves to documents without a test, of which each is tested once", () => {
  const [{ index: searched, searcher }] = index.shards as [SearchShard];
  const tested: number[] = [];
  const node = new TermsSetNode([new AllNode()], () => (doc) => {
    tested.push(doc);
    return doc === 5 ? 1 : 2;
  });
  const weight = node.weight(new ShardContext(searched, 0, searcher, 0), { scores: false, boost: 1 });
  const scorer = weight.scorer(searcher.segments[0]!)!;
  assert.ok(weight.isDear && scorer.isApproximate);
  assert.equal(scorer.seek(3), 3);
  assert.deepEqual(tested, []);
  assert.equal(scorer.matches() || scorer.matches(), false);
  assert.equal(scorer.next(), 5);
  assert.equal(scorer.matches(), true);
  assert.deepEqual(tested, [3, 4, 5]);
  assert.equal(scorer.next(), NO_MORE_DOCS);
});

test("terms_set ends a script that takes long", async () => {
  const search = (script: string): Promise<{ count: number }> => {
    const terms = Array.from({ length: DOCS }, (_, n) => n);
    const query = { terms_set: { n: { terms, minimum_should_match_script: script } } };
    return countShards(parseQueryRequest({ query }), index.shards, signal);
  };
  assert.equal((await search(slowly(400, "doc['n'].value % 2 + 1"))).count, DOCS / 2);
  await assert.rejects(search(slowly(2000, "1")), (error: AppError) =>
    [error, error.cause].some((each) => each instanceof Error && each.message === "runtime error"),
  );
});

test("a profile of a script lets others have the thread", async () => {
  const [{ index: searched, searcher }] = index.shards as [SearchShard];
  const shard = new ShardContext(searched, 0, searcher, 0);
  const request = parseSearchRequest({ query: SLOW }, DEFAULT_LIMITS);
  const how = { limit: 0, boost: 1, filter: undefined, after: undefined };
  const control = new SearchControl(systemClock, signal, undefined);
  await assertSharesThread(async () => {
    const { searches } = await profileShard(request, shard, how, control, 1);
    assert.match(JSON.stringify(searches), new RegExp(`"next_doc_count":${DOCS / 2},`));
  });
});
