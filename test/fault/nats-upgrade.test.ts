/**
 * A store written by the nats-server of this machine is read by a later one, and a hub in between loses nothing.
 * TAILRACE_NATS_SERVER_NEWER names the later one's program.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { Workspace } from "#test/harness/workspace.ts";

const newer = process.env["TAILRACE_NATS_SERVER_NEWER"];

test("after an upgrade of nats-server every line is there once, and new ones arrive", {
  skip:
    newer === undefined &&
    "TAILRACE_NATS_SERVER_NEWER names no nats-server that is newer than the one on PATH",
}, async (t) => {
  const random = randomFrom(chooseSeed());
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const { hub, agent } = await startStack(workspace, { input: { paths: [path] } });
  const log = new SequenceLog("upgrade");
  const write = (lines: number): Promise<void> => writeInBursts({ log, path, lines, random, rate: 5_000 });
  await write(2_000);
  await assertExactlyOnce(hub.searchUrl, [log], "under the first version");

  await hub.stop();
  await write(500); // the agent keeps what comes while the hub is away
  process.env["TAILRACE_NATS_SERVER"] = newer;
  await hub.start();
  await write(500);
  await assertExactlyOnce(hub.searchUrl, [log], "under the newer version");
  const status = await ask<{ durability: string }>("GET", `${hub.dashboardUrl}/api/status`);
  assert.equal(status.durability, "power-loss", "the newer one writes through");
  await agent.stop();
  await hub.stop();
});
