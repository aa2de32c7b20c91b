import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetcher } from "#ui/services/hub/json-call.ts";
import { readState } from "#ui/services/search/discover-state.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { rowsRequest } from "#ui/services/search/search-request.ts";
import { resolveRange } from "#ui/services/search/time-range.ts";
import { firstAnswers, startFirstSearch, takeFirstSearch } from "./first-search.ts";

const NOW = Date.parse("2026-03-11T10:20:30.400Z");
const EMPTY = { took: 1, timed_out: false, hits: { total: 0, hits: [] } };

/** A hub that counts what it is asked. */
function fakeHub(): { asked: string[]; fetch: Fetcher } {
  const asked: string[] = [];
  const answer: Fetcher = (address, init) => {
    asked.push(`${init.method} ${address.split("?")[0]}`);
    return Promise.resolve(Response.json(EMPTY));
  };
  return { asked, fetch: answer };
}

test("the page's first search takes the answer to the request sent ahead of it, a second one asks anew", async () => {
  const hub = fakeHub();
  startFirstSearch("#/discover?q=error&from=now-1h&index=shop-*", NOW, hub.fetch);
  assert.deepEqual(hub.asked, ["POST /es/shop-*/_search", "GET /es/shop-*/_field_caps"]);
  const first = takeFirstSearch()!;
  assert.equal(takeFirstSearch(), undefined);
  const client = new SearchClient(first.fetch);
  const state = readState(new URLSearchParams("q=error&from=now-1h&index=shop-*"));
  const body = rowsRequest(state, resolveRange(state.range, first.nowMs)!);
  await client.search(state.index, body);
  await client.fieldCapabilities(state.index);
  assert.equal(hub.asked.length, 2);
  await client.search(state.index, body);
  assert.equal(hub.asked.length, 3);
});

test("a search that was given up takes no answer, also of a request sent ahead", async () => {
  const hub = fakeHub();
  startFirstSearch("", NOW, hub.fetch);
  const first = takeFirstSearch()!;
  const state = readState(new URLSearchParams());
  const search = new SearchClient(first.fetch).search(
    state.index,
    rowsRequest(state, resolveRange(state.range, first.nowMs)!),
    AbortSignal.abort(),
  );
  await assert.rejects(search, { name: "AbortError" });
});

test("first answers are read to their end before the page is drawn, also where one of them is a failure", async () => {
  let read = 0;
  const fetcher: Fetcher = (address) => {
    if (address.includes("_field_caps")) return Promise.reject(new TypeError("Failed to fetch"));
    const text = (): Promise<string> => {
      read += 1;
      return Promise.resolve(JSON.stringify(EMPTY));
    };
    return Promise.resolve({ ok: true, status: 200, text });
  };
  startFirstSearch("", NOW, fetcher);
  await firstAnswers();
  assert.equal(read, 1);
  takeFirstSearch();
});

test("a hub that doesn't answer keeps the page for a moment only", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  startFirstSearch("", NOW, () => new Promise(() => undefined));
  const waited = firstAnswers();
  t.mock.timers.tick(1_000);
  await waited;
  takeFirstSearch();
});

for (const hash of ["#/live?q=error", "#/discover?from=gibberish"])
  test(`nothing is sent ahead for ${hash}`, () => {
    const hub = fakeHub();
    startFirstSearch(hash, NOW, hub.fetch);
    assert.deepEqual(hub.asked, []);
    assert.equal(takeFirstSearch(), undefined);
  });
