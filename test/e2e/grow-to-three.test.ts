/** From one hub to three, as docs/cluster.md says: a new cluster, the agents moved over, the indices imported. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { startAgent } from "#test/harness/agent.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { startHub } from "#test/harness/hub.ts";
import { HubTrio } from "#test/harness/hub-trio.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS, timeout: 240_000 };
const HUB = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");

test(
  "agents move from one hub to three, and each line is there once after the import",
  options,
  async (t) => {
    const random = randomFrom(chooseSeed());
    const workspace = new Workspace(t);
    const path = workspace.path("logs", "app.log");
    const log = new SequenceLog("grown");
    const write = (lines: number): Promise<void> => writeInBursts({ log, path, lines, random, rate: 1_000 });
    const agentFolder = workspace.path("web-1", "");
    const input = { id: "test", scan_frequency: "200ms" };
    const single = await startHub({
      dataDir: workspace.path("single", "data"),
      logFile: workspace.path("single", "hub.log"),
    });
    workspace.defer(() => single.destroy());
    const before = await startAgent({
      folder: agentFolder,
      paths: [path],
      natsUrl: single.natsUrl,
      token: single.token,
      input,
    });
    await write(500);
    await until("the lines in the single hub", async () => (await count(single.searchUrl)) === 500);
    await ask("POST", `${single.searchUrl}/_flush`);
    await write(200); // some of them are committed, some aren't
    await before.stop();

    const trio = await HubTrio.make(workspace, program!);
    await trio.start();
    await untilShared(trio.hubs);
    const [first, second] = trio.hubs as [typeof single, typeof single];
    const servers = trio.hubs.map(({ natsUrl }) => natsUrl);
    const settings = { "output.pipeline.servers": servers };
    const after = await startAgent({
      folder: agentFolder,
      paths: [path],
      natsUrl: servers[0]!,
      token: first.token,
      settings,
      input,
    });
    workspace.defer(() => after.kill9());
    await write(300);
    const address = new URL(first.searchUrl);
    const arguments_ = ["import", "cluster", single.searchUrl, "-E", `http.port=${address.port}`];
    const { stdout } = await promisify(execFile)(HUB, arguments_);
    t.diagnostic(stdout.trim().split("\n").at(-1) ?? "");
    await until("all lines", async () => (await count(second.searchUrl)) >= log.count, {
      deadlineMs: 60_000,
    });
    assert.equal(log.count, 1_000);
    for (const hub of trio.hubs) await assertExactlyOnce(hub.searchUrl, [log], `on ${hub.dataDir}`);
  },
);
