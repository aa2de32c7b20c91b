import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { Status, type StatusParts } from "./hub-status.ts";

const never = new Promise<never>(() => undefined);

test("the status is there while the log and the shards hang, and names what doesn't answer", async () => {
  const parts = [{ part: "log", level: "failing" as const, reason: "does not answer" }];
  const status = new Status({
    version: "1",
    compatVersion: "6.5.4",
    nodeName: "hub-1",
    clusterName: "c",
    startedMs: 0,
    clock: systemClock,
    catalog: { all: () => [] },
    shards: { stats: () => never },
    journal: { state: () => never, server: { durability: "process" } },
    fleet: () => ({ agents: () => [] }),
    health: () => ({ status: "failing", parts }),
    processed: () => undefined,
    pipelines: () => never,
    answerMs: 1,
  } as unknown as StatusParts);
  const answer = await status.status();
  assert.deepEqual([answer["status"], answer["health"], answer["pipelines"]], ["failing", parts, null]);
  assert.match(JSON.stringify(answer["streams"]), /the state of RAW took longer than 1 ms/);
  assert.equal(answer["indices"], 0);
});
