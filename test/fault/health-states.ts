/** States of a hub that its health must name, each caused for real. */

import { execFileSync } from "node:child_process";
import { appendFileSync, globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "#proto/kit/units.ts";
import type { FakeClock } from "#test/harness/fake-clock.ts";
import { ask } from "#test/harness/http.ts";
import type { Settings, TestHub } from "#test/harness/hub.ts";
import type { SequenceLog } from "#test/harness/sequence-log.ts";
import type { SmallDisk } from "#test/harness/small-disk.ts";
import type { TestAgent } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import type { Workspace } from "#test/harness/workspace.ts";

/** A hub with an agent, and what states are caused with. */
export interface World {
  readonly hub: TestHub;
  readonly agent: TestAgent;
  readonly workspace: Workspace;
  /** The agent's file, and the lines for it. */
  readonly path: string;
  readonly log: SequenceLog;
  /** File of the main pipeline. */
  readonly config: string;
  readonly hubClock: FakeClock;
  readonly agentClock: FakeClock;
  /** The disk with the hub's data, if the state asks for a small one. */
  readonly disk: SmallDisk | undefined;
}

export interface HealthState {
  readonly name: string;
  /** Part of the hub that must be named, and how bad it must be at least. */
  readonly part: string;
  readonly level: "degraded" | "failing";
  readonly reason: RegExp;
  /** Settings of the hub. */
  readonly settings?: (workspace: Workspace) => Settings;
  /** First text of the main pipeline. */
  readonly pipeline?: string;
  /** True: the hub's data is on the small disk. */
  readonly isOnSmallDisk?: boolean;
  /** True: the hub alone is started. */
  readonly hasNoAgent?: boolean;
  cause(world: World): Promise<void> | void;
  /** Ends the state; without it, it is not ended. */
  mend?(world: World): Promise<void> | void;
}

/** A port that has no service and that `fetch` doesn't refuse, as it does with 1 and 9 (Fetch standard, section 2.9). */
const NOBODY = "http://127.0.0.1:2/";
const BIG_LINES = 60_000;
const PADDING_BYTES = 400;

export const HEALTH_STATES: readonly HealthState[] = [
  {
    name: "nats-server stands still (SIGSTOP)",
    part: "log",
    level: "failing",
    reason: /./,
    cause: ({ hub }) => signalNats(hub.natsPids(), "SIGSTOP"),
    mend: ({ hub }) => signalNats(hub.natsPids(), "SIGCONT"),
  },
  {
    name: "nats-server ends three times",
    part: "log",
    level: "degraded",
    reason: /nats-server ended \d times within a minute/,
    cause: async ({ hub }) => {
      for (let times = 0; times < 3; times++) await hub.killNats();
    },
  },
  {
    name: "300 MiB are left on the disk",
    part: "disk",
    level: "degraded",
    reason: /MiB are free/,
    isOnSmallDisk: true,
    cause: ({ disk }) => disk!.fill(300 * MIB),
    mend: ({ disk }) => disk!.empty(),
  },
  {
    name: "the disk is full",
    part: "disk",
    level: "failing",
    reason: /MiB are free/,
    isOnSmallDisk: true,
    cause: ({ disk }) => disk!.fill(),
    mend: ({ disk }) => disk!.empty(),
  },
  {
    name: "commits fail (EPERM)",
    part: "shards",
    level: "failing",
    reason: /can't be written to .*permission denied/,
    cause: async (world) => {
      world.workspace.defer(() => changeShardFolders(world, "-i"));
      changeShardFolders(world, "+i");
      await putDocument(world);
    },
    mend: (world) => changeShardFolders(world, "-i"),
  },
  {
    name: "a changed pipeline is invalid",
    part: "pipelines",
    level: "degraded",
    reason: /./,
    cause: (world) => reload(world, "filter {\n  mutate { add_tag = 1 }\n}\n"),
    mend: (world) => reload(world, "filter { }\n"),
  },
  {
    name: "an output refuses connections",
    part: "pipelines",
    level: "degraded",
    reason: /output http\w* of pipeline main/,
    pipeline: `output { http { url => "${NOBODY}" http_method => "post" } }\n`,
    cause: ({ path, log }) => appendFileSync(path, log.lines(10)),
    mend: (world) => reload(world, "filter { }\n"),
  },
  {
    name: "the log fills behind an output that refuses connections",
    part: "log",
    level: "failing",
    reason: /RAW: no space, publishers wait/,
    settings: () => ({ "journal.max_bytes": "16mb" }),
    pipeline: `output { http { url => "${NOBODY}" http_method => "post" } }\n`,
    cause: ({ path, log }) => appendFileSync(path, bigLines(log)),
    mend: (world) => reload(world, "filter { }\n"),
  },
  {
    name: "events become dead letters",
    part: "pipelines",
    level: "degraded",
    reason: /new dead letters: \d+/,
    pipeline: 'output { file { path => "/etc/tailrace-test/%{message}" } }\n',
    cause: ({ path, log }) => appendFileSync(path, log.lines(10)),
  },
  {
    name: "an agent is gone (kill -9)",
    part: "agents",
    level: "degraded",
    reason: /silent agents: 1 of 1; web-1 was last seen/,
    cause: ({ agent }) => agent.kill9(),
    mend: ({ agent }) => agent.start(),
  },
  {
    name: "the hub's clock is set back by an hour",
    part: "clock",
    level: "degraded",
    reason: /the clock was set back by 60 min/,
    cause: ({ hubClock }) => hubClock.set("-1h"),
  },
  {
    name: "the agent's clock is an hour behind",
    part: "clock",
    level: "degraded",
    reason: /web-1 is 60 min behind it/,
    cause: ({ agentClock }) => agentClock.set("-1h"),
    mend: ({ agentClock }) => agentClock.set("+0"),
  },
  {
    name: "the certificate expires in ten days",
    part: "certificate",
    level: "degraded",
    reason: /the certificate expires in (?:9|10) days/,
    settings: (workspace) => makeCertificate(workspace),
    hasNoAgent: true,
    cause: () => undefined,
  },
];

function signalNats(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) process.kill(pid, signal);
}

/** Makes the folders of the shards immutable, or not. */
function changeShardFolders({ hub }: World, flag: "+i" | "-i"): void {
  for (const folder of globSync("engine/*/[0-9]", { cwd: hub.dataDir }))
    execFileSync("chattr", [flag, join(hub.dataDir, folder)]);
}

async function putDocument({ hub }: World): Promise<void> {
  await ask("POST", `${hub.searchUrl}/given/_doc`, { n: 1 });
}

function reload({ hub, config }: World, text: string): void {
  writeFileSync(config, text);
  hub.signal("SIGHUP");
}

function bigLines(log: SequenceLog): string {
  return log.lines(BIG_LINES).replaceAll("\n", `${"x".repeat(PADDING_BYTES)}\n`);
}

/** Issued 80 days ago for 90 days. */
function makeCertificate(workspace: Workspace): Settings {
  const [key, certificate] = [workspace.path("tls", "hub.key"), workspace.path("tls", "hub.pem")];
  const make = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=hub", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-days", "90", "-keyout", key, "-out", certificate];
  execFileSync("faketime", ["-f", "-80d", "openssl", ...make, ...names, ...files], { stdio: "ignore" });
  return { "tls.key": key, "tls.certificate": certificate };
}

/** Resolves when the hub has an index that was committed. */
export async function prepareDocuments(world: World): Promise<void> {
  await putDocument(world);
  await ask("POST", `${world.hub.searchUrl}/given/_flush`);
  await until("the agent's status", async () => {
    const agents = await ask<unknown[]>("GET", `${world.hub.dashboardUrl}/api/agents`);
    return agents.length === 1;
  });
}
