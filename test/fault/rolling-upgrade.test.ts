/**
 * Three hubs of an older version are upgraded one after the other under load: clients that repeat a request once at another hub
 * see no error, every answer is whole, and no line is lost or doubled. TAILRACE_FAULT_OLDER is a built checkout of the older
 * version.
 */

import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { LAUNCHER } from "#test/harness/hub.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count, refreshed } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { startWorld } from "./cluster-world.ts";
import { RetryingClients, SETTLED_MS, untilGreen } from "./retrying-clients.ts";

const OLDER = process.env["TAILRACE_FAULT_OLDER"];
const FILES = 8;
/** Lines per second of each file. */
const RATE = 40;
/** Load before and after each hub. */
const STEADY_MS = 3_000;

async function upgrade(t: TestContext, copies: "all" | "replicas"): Promise<void> {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const hint = `(repeat with --seed ${seed})`;
  const workspace = new Workspace(t);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const launcher = join(OLDER!, "hub/bin/tailrace-hub");
  const { nodes } = await startWorld(workspace, 3, paths, { "cluster.copies": copies }, launcher);
  const hubs = nodes.map(({ hub }) => hub);
  await ask("PUT", `${hubs[0]!.searchUrl}/created`, {
    settings: { number_of_shards: 3, number_of_replicas: 1 },
  });
  await Promise.all(
    logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines: 20, random, rate: RATE })),
  );
  await until("the first lines", async () => (await count(hubs[0]!.searchUrl)) === FILES * 20);
  await untilGreen(nodes[0]!, 3);

  const clients = new RetryingClients(nodes, randomFrom(seed + 1));
  const end = new AbortController();
  const working = clients.run(end.signal);
  const upgrading = (async () => {
    for (const node of nodes) {
      await systemClock.sleep(STEADY_MS);
      await node.hub.stop();
      node.hub.launcher = LAUNCHER;
      await node.hub.start();
      await untilShared(hubs, SETTLED_MS);
      await untilGreen(node, 3);
      t.diagnostic(`${new Date().toISOString()} ${node.name} is upgraded`);
    }
    await systemClock.sleep(STEADY_MS);
  })().finally(() => end.abort());
  const lines = (SETTLED_MS / 1_000) * RATE;
  const writing = logs.map((log, at) =>
    writeInBursts({ log, path: paths[at]!, lines, random, rate: RATE, until: upgrading }),
  );
  await upgrading;
  await Promise.all([working, ...writing]);
  t.diagnostic(
    `seed ${seed}, ${clients.requests} requests, ${clients.errors.length} errors, ${clients.created.length} created`,
  );
  assert.deepEqual(clients.errors, [], hint);
  for (const hub of hubs) {
    await assertExactlyOnce(hub.searchUrl, logs, hint);
    await refreshed(hub.searchUrl, "created");
    assert.equal(await count(hub.searchUrl, undefined, "created"), clients.created.length, hint);
  }
}

for (const copies of ["all", "replicas"] as const)
  test(
    `clients that repeat a request once see no error while hubs are upgraded one by one, with ${copies}`,
    { skip: OLDER === undefined && "TAILRACE_FAULT_OLDER names no checkout of an older version" },
    (t) => upgrade(t, copies),
  );
