/** Three hubs, nothing else: they find each other and their nats-servers store the log together. */

import { rmSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { untilShared } from "#test/harness/cluster.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask } from "#test/harness/http.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { HubTrio, loseMachine } from "#test/harness/hub-trio.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** Files of an agent, so that each hub processes some of them. */
const FILES = 9;
const TAKE_OVER_MS = 60_000;
/** After the loss of a server writing continues within 15 s; the test's machine may be slower. */
const RESUMED_MS = 60_000;
/** A hub that doesn't answer for so long is asked again. */
const ATTEMPT_MS = 5_000;

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS, timeout: 240_000 };

interface World {
  readonly trio: HubTrio;
  readonly logs: readonly SequenceLog[];
  /** Appends so many lines to each file. */
  readonly write: (lines: number) => Promise<unknown>;
}

async function openWorld(t: TestContext): Promise<World> {
  const random = randomFrom(chooseSeed());
  const workspace = new Workspace(t);
  const trio = await HubTrio.make(workspace, program!);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const write = (lines: number): Promise<unknown> =>
    Promise.all(logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines, random, rate: 500 })));
  await trio.start();
  await trio.startAgent("web-1", paths);
  await untilShared(trio.hubs);
  return { trio, logs, write };
}

function untilAllFound(hub: TestHub, logs: readonly SequenceLog[]): Promise<unknown> {
  const expected = logs.reduce((sum, log) => sum + log.count, 0);
  return until("all lines", async () => (await count(hub.searchUrl)) >= expected, {
    deadlineMs: TAKE_OVER_MS,
  });
}

/** Returns how long it takes until a document is written, ms. */
async function untilWritten(hub: TestHub): Promise<number> {
  const startedMs = performance.now();
  await until(
    "a document that is written",
    async () => {
      const answer = await fetch(`${hub.searchUrl}/orders/_doc/1?timeout=2s`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: "{}",
        signal: AbortSignal.timeout(ATTEMPT_MS),
      });
      await answer.arrayBuffer();
      return answer.ok;
    },
    { deadlineMs: RESUMED_MS, everyMs: 100 },
  );
  return performance.now() - startedMs;
}

async function untilHealthy(hubs: readonly TestHub[]): Promise<void> {
  for (const hub of hubs)
    await until(
      "the health being ok",
      async () => (await ask<{ status: string }>("GET", `${hub.dashboardUrl}/health`)).status === "ok",
      { deadlineMs: TAKE_OVER_MS },
    );
}

test("three hubs lose no line when one of them dies with its nats-server", options, async (t) => {
  const { trio, logs, write } = await openWorld(t);
  const [lost, first, second] = trio.hubs as [TestHub, TestHub, TestHub];
  await write(50);
  const writing = write(100);
  await loseMachine(lost);
  const writtenMs = await untilWritten(first);
  t.diagnostic(`a document was written ${Math.round(writtenMs)} ms after the loss`);
  await writing;
  await untilAllFound(second, logs);
  await lost.start();
  await untilShared(trio.hubs);
  await untilHealthy(trio.hubs);
  await write(50);
  for (const hub of trio.hubs) await assertExactlyOnce(hub.searchUrl, logs, `on ${hub.dataDir}`);
});

test("three hubs that are killed at once go on with what they had", options, async (t) => {
  const { trio, logs, write } = await openWorld(t);
  await write(100);
  await Promise.all(trio.hubs.map(loseMachine));
  await write(50);
  await trio.start();
  await untilShared(trio.hubs);
  for (const hub of trio.hubs) await assertExactlyOnce(hub.searchUrl, logs, `on ${hub.dataDir}`);
});

test("a hub whose data folder was deleted gets everything from the others", options, async (t) => {
  const { trio, logs, write } = await openWorld(t);
  await write(100);
  const emptied = trio.hubs[2]!;
  await loseMachine(emptied);
  rmSync(emptied.dataDir, { recursive: true });
  await write(50);
  await emptied.start();
  await untilShared(trio.hubs);
  await write(50);
  for (const hub of trio.hubs) await assertExactlyOnce(hub.searchUrl, logs, `on ${hub.dataDir}`);
});
