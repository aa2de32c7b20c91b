import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { parseSearchRequest } from "#hub/search/request/search-request.ts";
import { searchShards } from "#hub/search/search.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { IndexFixture } from "#test/support/search/shards.ts";

const DOCS = 5_000;

const logs = new IndexFixture({
  mapping: { properties: { n: { type: "long" }, x: { type: "double" }, host: { type: "keyword" } } },
  index: "logs",
  docs: Array.from({ length: DOCS }, (_, at) => ({
    n: at % 7,
    x: Math.sin(at) * 10 ** (at % 13),
    host: `host-${at % 11}`,
  })),
  shards: 1,
});
after(() => logs.close());

const NUMBERS: JsonObject = {
  stats: { extended_stats: { field: "x" } },
  percentiles: { percentiles: { field: "x" } },
  few: { percentiles: { field: "n" } },
};
const BODY: JsonObject = {
  size: 0,
  aggs: {
    ...NUMBERS,
    hosts: { terms: { field: "host" }, aggs: NUMBERS },
    n: { histogram: { field: "n", interval: 2 }, aggs: NUMBERS },
    values: { cardinality: { field: "x" } },
  },
};

async function answer(query: JsonObject): Promise<string> {
  const { tookMs: _, ...found } = await searchShards(
    parseSearchRequest({ ...BODY, query }, DEFAULT_LIMITS),
    logs.shards,
    { signal: new AbortController().signal, limits: DEFAULT_LIMITS, nowMs: 0 },
  );
  return JSON.stringify(found);
}

for (const query of [{ match_all: {} }, { term: { host: "host-3" } }, { range: { n: { gt: 1 } } }]) {
  test(`${JSON.stringify(query)}: a slow thread, which gets blocks in parts, has the same answer`, async (t) => {
    const expected = await answer(query);
    let nowMs = performance.now();
    t.mock.method(performance, "now", () => (nowMs += 20));
    assert.equal(await answer(query), expected);
  });
}
