import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { Hit } from "#hub/search/execute/fetch/fetch-hit.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import type { HostShards, SearchHost } from "#hub/search/phases/scatter.ts";
import type { SearchCall } from "#hub/search/phases/search-call.ts";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { hostsOf } from "#test/support/search/hosts.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import { SearchedShards } from "./searched-shards.ts";

const INDEX = { name: "logs", uuid: "u", typeName: "_doc" };

test("other hosts get their part of a search before this host searches its own shards", async () => {
  const asked: string[] = [];
  const own = {
    index: INDEX,
    shard: 0,
    order: 0,
    get searcher(): never {
      asked.push("own");
      throw new AppError("unavailable", "closed");
    },
  } satisfies SearchShard;
  const other = {
    address: { hub: "b", thread: 0 },
    shards: [{ index: INDEX, shard: 1, order: 1 }],
    host: {
      collect: (call: SearchCall) => {
        asked.push(`other: shard ${call.shards[0]!.shard}`);
        return Promise.reject(new AppError("unavailable", "gone"));
      },
      search: () => Promise.reject(new Error("not asked")),
      partial: () => Promise.reject(new Error("not asked")),
    },
  };
  const body = { size: 0 };
  const limits = DEFAULT_LIMITS;
  const request = parseSearchRequest(body, limits);
  const { signal } = new AbortController();
  const options = { signal, limits };
  await assert.rejects(new SearchedShards([own], [other]).search({ request, body, options }), {
    code: "unavailable",
  });
  assert.deepEqual(asked.slice(0, 2), ["other: shard 1", "own"]);
});

/** Hits of a page of 20 that are of the shard here. */
const OWN_HITS = 10;
/** Turns of the event loop that the other host takes at most: more than fetching them. */
const TURNS = 500;

/**
 * Searches an index of which one of two shards is here; the other host answers late. Returns the hits' numbers, how many were
 * fetched here before that, and how many here at all.
 */
async function searchedHalf(context: TestContext, index: IndexFixture, body: JsonObject) {
  const [first, second] = index.shards;
  const own = { ...first!, order: 0 };
  const [{ host, shards }] = hostsOf([first!, second!], 2).slice(1) as [HostShards];
  const segment = own.searcher.segments[0]!;
  const { mock } = context.mock.method(segment, "source");
  const collected = Promise.withResolvers<void>();
  let before = 0;
  const collect: SearchHost["collect"] = async (...call) => {
    await collected.promise;
    for (let turn = 0; turn < TURNS && mock.callCount() < OWN_HITS; turn++) await setImmediate();
    before = mock.callCount();
    return host.collect(...call);
  };
  const slow = { collect, search: host.search.bind(host), partial: host.partial.bind(host) };
  const limits = DEFAULT_LIMITS;
  const { signal } = new AbortController();
  const searched = new SearchedShards([own], [{ address: { hub: "b", thread: 0 }, host: slow, shards }]);
  const request = parseSearchRequest(body, limits);
  const options = { signal, limits, progress: { id: "s", done: () => collected.resolve() } };
  const { hits } = await searched.search({ request, body, options });
  return { found: hits.map((hit) => (hit["sort"] as number[])[0]), before, all: mock.callCount() };
}

for (const [what, more, before] of [
  ["are fetched while others search, as many as it probably has", {}, OWN_HITS],
  ["that are more than documents are fetched afterwards", { docvalue_fields: ["n"] }, 0],
] as const)
  test(`hits of this host ${what}`, async (context) => {
    const docs = Array.from({ length: 60 }, (_, n) => ({ n }));
    const index = new IndexFixture({ docs, shards: 2 });
    context.after(() => index.close());
    const searched = await searchedHalf(context, index, { size: 20, sort: ["n"], ...more });
    assert.deepEqual(searched, { found: docs.slice(0, 20).map(({ n }) => n), before, all: OWN_HITS });
  });

test("a page has the hits of this host in their places where indices sort a field differently", async (context) => {
  const numbers = new IndexFixture({
    index: "a",
    mapping: { properties: { f: { type: "long" } } },
    docs: [{ f: 1 }, { f: 2 }],
  });
  const words = new IndexFixture({
    index: "b",
    mapping: { properties: { f: { type: "keyword" } } },
    docs: Array.from("abcdefghij", (f) => ({ f })),
  });
  context.after(() => numbers.close());
  context.after(() => words.close());
  const [first, second] = [numbers.shards[0]!, words.shards[0]!];
  const body = { size: 8, sort: [{ f: "desc" }] };
  const limits = DEFAULT_LIMITS;
  const options = { signal: new AbortController().signal, limits };
  const request = parseSearchRequest(body, limits);
  const alone = await searchShards(request, [first, second], options);
  const [other] = hostsOf([first, second], 2) as [HostShards];
  const address = { hub: "b", thread: 0 };
  const searched = new SearchedShards([{ ...second, order: 1 }], [{ address, ...other }]);
  const together = await searched.search({ request, body, options });
  const idsOf = (hits: readonly Hit[]) => Array.from(hits, (hit) => [hit?.["_index"], hit?.["_id"]]);
  assert.equal(alone.hits.length, 8);
  assert.deepEqual(idsOf(together.hits), idsOf(alone.hits));
});
