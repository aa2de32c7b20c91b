/**
 * Three hubs that store the log together, of which one at a time is killed with its nats-server, loses its nats-server only,
 * stands still, or is restarted: every line is there once, on every hub.
 */

import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { HubTrio, loseMachine } from "#test/harness/hub-trio.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const FILES = 6;
const RATE = 100;
const SETTLED_MS = 180_000;
/** Longer than the lease of a member. */
const STILL_MS = 12_000;

const program = clusteredNats();

const FAULTS: Readonly<Record<string, (hub: TestHub) => Promise<void>>> = {
  "the machine is lost": async (hub) => {
    await loseMachine(hub);
    await hub.start();
  },
  "the hub is killed": async (hub) => {
    await hub.kill9();
    await hub.start();
  },
  "the nats-server is killed": (hub) => hub.killNats(),
  "the hub is restarted": async (hub) => {
    await hub.stop();
    await hub.start();
  },
  "the nats-server stands still": async (hub) => {
    const pids = hub.natsPids();
    for (const pid of pids) process.kill(pid, "SIGSTOP");
    await systemClock.sleep(STILL_MS);
    for (const pid of pids) process.kill(pid, "SIGCONT");
  },
};

test(`three hubs have every line once after ${SECONDS} s of faults, one hub at a time`, {
  skip: program === undefined && NO_CLUSTERED_NATS,
}, async (t) => {
  const seed = chooseSeed();
  const random = randomFrom(seed);
  const workspace = new Workspace(t);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const trio = await HubTrio.make(workspace, program!);
  await trio.start();
  await trio.startAgent("web-1", paths);
  await untilShared(trio.hubs);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const endMs = systemClock.monotonic() + SECONDS * 1000;
  const faults = (async () => {
    while (systemClock.monotonic() < endMs) {
      const [name, happen] = pick(Object.entries(FAULTS));
      const hub = pick(trio.hubs);
      const startedMs = systemClock.monotonic();
      await happen(hub);
      await untilShared(trio.hubs, SETTLED_MS);
      const tookMs = Math.round(systemClock.monotonic() - startedMs);
      t.diagnostic(`hub-${trio.hubs.indexOf(hub) + 1}: ${name}; settled after ${tookMs} ms`);
    }
  })();
  const writers = logs.map((log, at) =>
    writeInBursts({ log, path: paths[at]!, lines: SECONDS * RATE, random, rate: RATE, until: faults }),
  );
  await Promise.all([faults, ...writers]);
  const expected = logs.reduce((sum, log) => sum + log.count, 0);
  for (const hub of trio.hubs) {
    await until("all lines", async () => (await count(hub.searchUrl)) >= expected, {
      deadlineMs: SETTLED_MS,
    });
    await assertExactlyOnce(hub.searchUrl, logs, `on ${hub.dataDir} (repeat with TAILRACE_SEED=${seed})`);
  }
});
