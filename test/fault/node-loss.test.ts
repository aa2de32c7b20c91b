/**
 * What a cluster of three survives without an operator: all of it killed at once, an older store on all servers of the log,
 * the data folder of one hub gone. No line is lost or doubled, and every hub has all of them in the end.
 */

import { rmSync } from "node:fs";
import { test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { DOC_STREAM } from "#proto/subjects.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { startWorld, type World } from "./cluster-world.ts";

const FILES = 6;
const LINES = 200;
const SETTLED_MS = 180_000;

interface Scene extends World {
  readonly workspace: Workspace;
  /** Appends LINES lines to each file. */
  readonly write: () => Promise<unknown>;
  /** Resolves when every hub finds all lines. */
  readonly untilFound: () => Promise<unknown>;
}

const killAll = ({ nodes, servers }: World): Promise<unknown> =>
  Promise.all([...nodes.map(({ hub }) => hub.kill9()), ...servers.map((server) => server.kill9())]);

async function startAll({ nodes, servers }: World): Promise<void> {
  await Promise.all(servers.map((server) => server.restart()));
  await Promise.all(nodes.map(({ hub }) => hub.start()));
}

const LOSSES: Readonly<Record<string, (scene: Scene) => Promise<void>>> = {
  "all hubs and nats-servers are killed at once": async (scene) => {
    const writing = scene.write();
    await killAll(scene);
    await writing;
    await startAll(scene);
  },
  "an older store is restored on all nats-servers": async (scene) => {
    const { servers, workspace, write, untilFound } = scene;
    const copy = (at: number): string => workspace.path(`older-${at}`);
    await killAll(scene);
    for (const [at, server] of servers.entries()) server.copyStore(copy(at));
    await startAll(scene);
    await write();
    await untilFound();
    await killAll(scene);
    for (const [at, server] of servers.entries()) server.replaceStore(copy(at));
    await startAll(scene);
  },
  "the data folder of a hub is deleted, and the log has purged what was in it": async (scene) => {
    const [{ hub }, { hub: other }] = scene.nodes as [World["nodes"][0], World["nodes"][0]];
    await ask("POST", `${other.searchUrl}/_flush`);
    await hub.kill9();
    rmSync(hub.dataDir, { recursive: true });
    const connection = await connect({ servers: scene.servers[0]!.url, token: scene.token });
    await (await jetstreamManager(connection)).streams.purge(DOC_STREAM);
    await connection.close();
    await scene.write();
    await hub.start();
  },
};

for (const [name, happen] of Object.entries(LOSSES)) {
  test(`nothing is lost or doubled when ${name}`, async (t) => {
    const seed = chooseSeed();
    const random = randomFrom(seed);
    const workspace = new Workspace(t);
    const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
    const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
    const write = (): Promise<unknown> =>
      Promise.all(
        logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines: LINES, random, rate: LINES })),
      );
    const world = await startWorld(workspace, 3, paths);
    const untilFound = async (): Promise<void> => {
      const expected = logs.reduce((sum, log) => sum + log.count, 0);
      for (const { hub } of world.nodes)
        await until("all lines", async () => (await count(hub.searchUrl)) >= expected, {
          deadlineMs: SETTLED_MS,
        });
    };
    const scene: Scene = { ...world, workspace, write, untilFound };
    await write();
    await untilFound();
    await happen(scene);
    await untilShared(
      world.nodes.map(({ hub }) => hub),
      SETTLED_MS,
    );
    await write();
    for (const { hub } of world.nodes)
      await assertExactlyOnce(hub.searchUrl, logs, `(repeat with --seed ${seed})`);
  });
}
