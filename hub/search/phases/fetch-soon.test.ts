import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DEFAULT_LIMITS } from "#hub/search/query/query.ts";
import { SearchService } from "#hub/search/search-service.ts";
import { readReply } from "#hub/search/wire/reply.ts";
import { encodeValue } from "#hub/search/wire/value-writer.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { hostsOf, type OpenSnapshots, searchOver } from "#test/support/search/hosts.ts";
import { IndexFixture } from "#test/support/search/shards.ts";
import type { CollectReply } from "./remote-host.ts";

const HOSTS = 3;
const docs = Array.from({ length: 120 }, (_, n) => ({ n, text: `line ${n}` }));
const index = new IndexFixture({ docs, shards: HOSTS });
const large = new IndexFixture({
  docs: docs.map((doc) => ({ ...doc, more: "x".repeat(20_000) })),
  shards: HOSTS,
});
after(() => {
  index.close();
  large.close();
});

/** Returns the numbers that a search over three hosts finds, what it asked hosts for, and the snapshots that it left open. */
async function asked(fixture: IndexFixture, body: Record<string, unknown>) {
  const operations: string[] = [];
  const open: OpenSnapshots = { count: 0 };
  const targets = hostsOf(fixture.shards, HOSTS, open, (operation) => operations.push(operation));
  const demand = { limits: DEFAULT_LIMITS, version: 605, nowMs: 0 };
  const { hits } = await searchOver(targets, { sort: ["n"], ...body }, demand);
  const found = hits.map((hit) => (hit["sort"] as number[])[0]);
  return { found, operations, open: open.count };
}

const times = (operation: string): string[] => Array<string>(HOSTS).fill(operation);
const upTo = (count: number): number[] => docs.slice(0, count).map(({ n }) => n);

for (const [name, fixture, body, operations, size] of [
  ["comes with what hosts collect", index, { size: 50 }, times("collect"), 50],
  [
    "is fetched from the hosts that have it where it is long, which close then",
    index,
    { size: 60 },
    [...times("collect"), ...times("fetch")],
    60,
  ],
  [
    "is fetched afterwards where more than the document is made of a hit",
    index,
    { size: 9, query: { match: { text: "line" } }, highlight: { fields: { text: {} } } },
    [...times("collect"), ...times("fetch")],
    9,
  ],
  [
    "is fetched afterwards where documents are large",
    large,
    { size: 40 },
    [...times("collect"), ...times("fetch")],
    40,
  ],
] as const)
  test(`a page ${name}`, async () => {
    const { found, operations: made, open } = await asked(fixture, body);
    assert.deepEqual([found, made, open], [upTo(size), operations, 0]);
  });

test("hits fetched at once are deferred only for callers that can read that", async () => {
  const { index: searched, searcher, shard } = index.shards[0]!;
  const service = new SearchService({
    metrics: new Metrics(),
    open: () => ({
      segments: searcher.segments,
      mapping: searcher.mapping,
      totalDocs: searcher.totalDocs,
      close: () => undefined,
    }),
  });
  const body = { sort: ["n"], size: 5 };
  const shards = [{ index: searched, shard, order: 0 }];
  const call = { body, limits: DEFAULT_LIMITS, version: 605, nowMs: 0, shards, fetches: true };
  const { signal } = new AbortController();
  const collect = async (sent: object): Promise<CollectReply> =>
    readReply(await service.handle("collect", encodeValue(sent), signal));
  const [earlier, now] = [await collect(call), await collect({ ...call, defersHits: true })];
  assert.equal(earlier.deferred, undefined);
  assert.equal(now.fetched, undefined);
  assert.deepEqual(
    now.deferred?.hits.map(({ below }) => below),
    earlier.fetched?.hits,
  );
  assert.equal(earlier.fetched?.hits.length, 5);
});
