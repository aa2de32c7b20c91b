import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { killInTurn, shuffledVictims } from "#test/harness/kills.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const LINES = 10_000;

test("of 10,000 lines none is missing or doubled after nine kills -9 of agent, hub and nats-server", async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const stack = await startStack(workspace, { input: { paths: [path] } });
  const log = new SequenceLog("kills");
  const kills = killInTurn(stack, shuffledVictims(3, random), random);
  await Promise.all([kills, writeInBursts({ log, path, lines: LINES, random, rate: 1_000, until: kills })]);
  await assertExactlyOnce(stack.hub.searchUrl, [log], `(repeat with TAILRACE_SEED=${seed})`);

  await stack.agent.stop();
  await stack.hub.stop();
  await stack.hub.start();
  await stack.agent.start();
  await assertExactlyOnce(stack.hub.searchUrl, [log], `after a clean restart (TAILRACE_SEED=${seed})`);
});

test("a log store replaced by an older copy loses and doubles nothing", async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const { hub, agent } = await startStack(workspace, { input: { paths: [path] } });
  const log = new SequenceLog("rollback");
  const write = (lines: number): Promise<void> => writeInBursts({ log, path, lines, random, rate: 20_000 });
  const store = join(hub.dataDir, "nats");
  const copy = join(workspace.folder, "older");

  await write(4_000);
  await assertExactlyOnce(hub.searchUrl, [log]);
  await agent.stop();
  await hub.stop();
  cpSync(store, copy, { recursive: true });

  await hub.start();
  await agent.start();
  await write(LINES - 4_000);
  await assertExactlyOnce(hub.searchUrl, [log]);
  await agent.stop();
  await hub.stop();
  rmSync(store, { recursive: true });
  cpSync(copy, store, { recursive: true });

  await hub.start();
  await agent.start();
  await assertExactlyOnce(hub.searchUrl, [log], "after the roll-back");
  await write(1_000);
  await assertExactlyOnce(hub.searchUrl, [log], "written after the roll-back");
});

test("a log store that is emptied while the hub runs loses and doubles nothing", async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const path = workspace.path("logs", "app.log");
  const { hub } = await startStack(workspace, { input: { paths: [path] } });
  const log = new SequenceLog("emptied");
  const write = (lines: number): Promise<void> => writeInBursts({ log, path, lines, random, rate: 5_000 });
  await write(2_000);
  await assertExactlyOnce(hub.searchUrl, [log]);
  const writing = write(LINES - 2_000);
  await until("a line of the second part", async () => (await count(hub.searchUrl)) > 2_000);
  const [pid] = hub.natsPids();
  process.kill(pid!, "SIGSTOP"); // else it would write on into the store
  rmSync(join(hub.dataDir, "nats", "store"), { recursive: true });
  process.kill(pid!, "SIGKILL");
  await writing;
  await assertExactlyOnce(hub.searchUrl, [log], "after the loss");
  await write(1_000);
  await assertExactlyOnce(hub.searchUrl, [log], "written after the loss");
});
