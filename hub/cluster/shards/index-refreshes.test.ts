import assert from "node:assert/strict";
import { test } from "node:test";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { HostedIndex, HostedIndices } from "./hosted-index.ts";
import { IndexRefreshes } from "./index-refreshes.ts";

test("a wait for refreshes ends where an index is deleted while others are refreshed", async (t) => {
  const indices = [
    { uuid: "a", settings: { raw: { refresh_interval: "-1" } } },
    { uuid: "b", settings: { raw: { refresh_interval: "1h" } } },
  ] as unknown as IndexMetadata[];
  const catalog = { byUuid: (uuid: string) => indices.find((index) => index.uuid === uuid) };
  const hosted = new HostedIndices(indices.map(({ uuid }) => [uuid, {} as HostedIndex]));
  const refreshes = new IndexRefreshes({ catalog, hosted, clock: systemClock });
  const refreshed: string[] = [];
  t.mock.method(refreshes, "now", (now: readonly IndexMetadata[]) => {
    refreshed.push(...now.map(({ uuid }) => uuid));
    hosted.delete("b");
    return Promise.resolve();
  });
  const signal = AbortSignal.timeout(30_000);
  await refreshes.next(indices, signal);
  assert.equal(signal.aborted, false);
  assert.deepEqual(refreshed, ["a"]);
});

test("a wait for refreshes ends where the last shard of an index moves to another hub", async () => {
  const index = { uuid: "a", settings: { raw: { refresh_interval: "1h" } } } as unknown as IndexMetadata;
  const hosted = new HostedIndices([["a", new HostedIndex(new Map(), systemClock)]]);
  const refreshes = new IndexRefreshes({ catalog: { byUuid: () => index }, hosted, clock: systemClock });
  const signal = AbortSignal.timeout(30_000);
  const waiting = refreshes.next([index], signal);
  hosted.remove("a", 0);
  refreshes.due();
  await waiting;
  assert.equal(signal.aborted, false);
});
