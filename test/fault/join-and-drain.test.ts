/**
 * A fourth hub joins three and one of them is drained, both under load: clients that repeat a request once at another hub see
 * no error, every answer is whole, and no line is lost or doubled.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count, refreshed } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { type Node, startWorld } from "./cluster-world.ts";
import { RetryingClients, SETTLED_MS, untilGreen } from "./retrying-clients.ts";

const FILES = 8;
/** Lines per second of each file. */
const RATE = 60;
/** Load before, between and after what happens. */
const STEADY_MS = 3_000;

async function joinAndDrain(t: TestContext, copies: "all" | "replicas"): Promise<void> {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const hint = `(repeat with --seed ${seed})`;
  const workspace = new Workspace(t);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const world = await startWorld(workspace, 3, paths, { "cluster.copies": copies });
  const [drained, ...stay] = world.nodes as [Node, ...Node[]];
  await ask("PUT", `${drained.hub.searchUrl}/created`, {
    settings: { number_of_shards: 3, number_of_replicas: 1 },
  });
  await Promise.all(
    logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines: 20, random, rate: RATE })),
  );
  await until("the first lines", async () => (await count(drained.hub.searchUrl)) === FILES * 20);
  await untilGreen(drained, 3);

  const clients = new RetryingClients(world.nodes, randomFrom(seed + 1));
  const end = new AbortController();
  const working = clients.run(end.signal);
  const changing = (async () => {
    await systemClock.sleep(STEADY_MS);
    const fourth = await world.startNode(4);
    await untilShared(
      [...world.nodes, fourth].map(({ hub }) => hub),
      SETTLED_MS,
    );
    await untilGreen(fourth, 4);
    clients.nodes.push(fourth);
    await systemClock.sleep(STEADY_MS);
    await drained.hub.stop();
    await untilShared(
      [...stay, fourth].map(({ hub }) => hub),
      SETTLED_MS,
    );
    clients.nodes.splice(clients.nodes.indexOf(drained), 1);
    await systemClock.sleep(STEADY_MS);
    return [...stay, fourth];
  })().finally(() => end.abort());
  const lines = (SETTLED_MS / 1_000) * RATE;
  const writing = logs.map((log, at) =>
    writeInBursts({ log, path: paths[at]!, lines, random, rate: RATE, until: changing }),
  );
  const left = await changing;
  await Promise.all([working, ...writing]);
  t.diagnostic(
    `seed ${seed}, ${world.servers.length} nats-servers, ${clients.requests} requests, ${clients.errors.length} errors, ${clients.created.length} created`,
  );
  assert.deepEqual(clients.errors, [], hint);
  for (const { hub } of left) {
    await assertExactlyOnce(hub.searchUrl, logs, hint);
    await refreshed(hub.searchUrl, "created");
    assert.equal(await count(hub.searchUrl, undefined, "created"), clients.created.length, hint);
  }
}

for (const copies of ["all", "replicas"] as const)
  test(`clients that repeat a request once see no error when a hub joins and another is drained, with ${copies}`, (t) =>
    joinAndDrain(t, copies));
