import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostedShards } from "#hub/host/contract/hosted-shards.ts";
import { parseRetentionRule } from "#hub/upkeep/retention.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { DAY_MS } from "#proto/kit/units.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { makeCatalog } from "./shards.ts";
import { wireRetention } from "./upkeep.ts";

test("retention deletes the index that it has looked at, not a new one of its name", async (t) => {
  const log = silentLogger();
  const catalog = makeCatalog({ indices: new MemoryBucket(), log, compatVersion: "8.17.0" });
  await catalog.start();
  t.after(() => catalog.stop());
  const define = { settings: {}, mappings: {}, aliases: {} };
  await catalog.create("logs", define);
  let whileLooking = async (): Promise<void> => {
    await catalog.delete(["logs"]);
    await catalog.create("logs", define);
  };
  const shards: Pick<HostedShards, "stats" | "largest"> = {
    stats: () => Promise.resolve(new Map()),
    largest: async () => {
      await whileLooking();
      return new Map();
    },
  };
  const clock: Clock = { now: () => Date.now() + DAY_MS, monotonic: () => 0, sleep: () => Promise.resolve() };
  const wiring = { catalog, shards: shards as HostedShards, clock, log, metrics: new Metrics() };
  const retention = wireRetention(wiring, { all: () => Promise.resolve([parseRetentionRule("* 1h")]) });
  await retention.sweep();
  assert.notEqual(catalog.get("logs"), undefined, "the new one stays");
  whileLooking = () => Promise.resolve();
  // One that has just got its name back, which can't be deleted by name for some minutes.
  await catalog.change("logs", (index) => ({ ...index, returnedMs: Date.now() }));
  await retention.sweep();
  assert.equal(catalog.get("logs"), undefined);
});
