/**
 * Eight viewers who send the worst searches there are, one after the other, and wait for none longer than two seconds: how
 * soon everybody else is answered meanwhile, what is left of indexing, how late live tail is, and the hub's memory.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { MIB } from "#proto/kit/units.ts";
import { startAgent } from "#test/harness/agent.ts";
import { TestHub } from "#test/harness/hub.ts";
import { residentBytes } from "#test/harness/processes.ts";
import { keepSecret } from "#test/harness/secrets.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { WORST_DOCUMENTS, worstDocuments } from "#test/hostile/worst-searches.ts";
import { type Benchmark, percentile, type Result, type Target } from "./benchmark.ts";
import {
  type Credentials,
  type Measured,
  openBrowser,
  post,
  type Site,
  SMALL_BULK,
  sendOrdinary,
  sendWorst,
  VIEWERS,
} from "./viewers-load.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");
const HOSTILE_MS = 60_000;
const QUIET_MS = 10_000;
const BULK_DOCUMENTS = 5_000;

const P99_MS: Target = { atMost: 150 };
const LIVE_MS: Target = { atMost: 500 };
const INGEST_SHARE: Target = { atLeast: 0.5 };
/** Beside 1.5 times the idle memory. */
const MORE_MIB = 512;

export const viewers: Benchmark = {
  name: "viewers",
  about: "eight viewers with the worst searches: answers to others, indexing, live tail and memory meanwhile",
  async run({ workspace, scale, progress }) {
    const site = await openSite(workspace);
    const { hub } = site;
    await fill(site, Math.round(WORST_DOCUMENTS * scale));
    const idleMiB = residentBytes(hub.pid) / MIB;
    const quiet = await sendOrdinary(site, QUIET_MS * scale);
    progress(`nobody else: ${describe(quiet)}; ${idleMiB.toFixed(0)} MiB`);
    const hostile = new AbortController();
    const outcomes = new Map<string, number>();
    const running = Array.from({ length: VIEWERS }, (_, viewer) =>
      sendWorst(site, viewer, hostile.signal, outcomes),
    );
    const loud = await sendOrdinary(site, HOSTILE_MS * scale);
    hostile.abort();
    await Promise.all(running);
    const ended = [...outcomes].map(([how, count]) => `${count} × ${how}`).join(", ");
    progress(`with viewers: ${describe(loud)}; ${ended}`);
    return resultsOf({ quiet, loud, idleMiB });
  },
};

function resultsOf({
  quiet,
  loud,
  idleMiB,
}: {
  readonly quiet: Measured;
  readonly loud: Measured;
  readonly idleMiB: number;
}): Result[] {
  const row = (name: string, value: number, unit: string, before: number, target?: Target): Result => ({
    case: name,
    value,
    unit,
    reference: { name: "the same without viewers", value: before },
    ...(target !== undefined && { target }),
  });
  const share = loud.documentsPerSecond / quiet.documentsPerSecond;
  const p99 = (all: readonly number[]): number => percentile([...all], 0.99);
  const most = (all: readonly number[]): number => Math.max(0, ...all);
  return [
    row("GET /, p99", p99(loud.root), "ms", p99(quiet.root), P99_MS),
    row("sign-in of a browser that is remembered, p99", p99(loud.signIn), "ms", p99(quiet.signIn), P99_MS),
    row(`_bulk of ${SMALL_BULK} documents, p99`, p99(loud.bulk), "ms", p99(quiet.bulk), P99_MS),
    row("documents of small _bulk requests, share of the speed", share, "times", 1, INGEST_SHARE),
    row("live tail behind the file", most(loud.live), "ms at most", most(quiet.live), LIVE_MS),
    row("lines that live tail missed", loud.linesMissing, "lines", quiet.linesMissing, { atMost: 0 }),
    row("memory", loud.peakMiB, "MiB at most", idleMiB, { atMost: 1.5 * idleMiB + MORE_MIB }),
  ];
}

/** Starts a hub with sign-in and an agent that follows one file. */
async function openSite(workspace: Workspace): Promise<Site> {
  const settings = { "auth.mode": "required" };
  const hub = new TestHub({ dataDir: workspace.path("hub-data"), settings });
  workspace.defer(() => hub.destroy());
  const [name, password] = ["ada", keepSecret("correct horse battery")];
  const folder = ["--path.data", hub.dataDir];
  await command(["user", "add", name, "--role", "admin", ...folder], password);
  const made = await command(["api-key", "add", "bench", "--role", "admin", "--json", ...folder]);
  const key = `Bearer ${keepSecret((JSON.parse(made) as { key: string }).key)}`;
  await hub.start();
  const credentials: Credentials = { name, password, key };
  const file = workspace.path("live.log");
  writeFileSync(file, "");
  const agent = await startAgent({
    folder: workspace.path("agent", ""),
    paths: [file],
    natsUrl: hub.natsUrl,
    token: hub.token,
    settings: { name: "web-1" },
    input: { id: "live", scan_frequency: "200ms" },
  });
  workspace.defer(() => agent.kill9());
  return { hub, credentials, file, signIn: await openBrowser(hub, credentials) };
}

async function command(args: readonly string[], input = ""): Promise<string> {
  const child = spawn(LAUNCHER, args, { stdio: ["pipe", "pipe", "inherit"] });
  const parts: Buffer[] = [];
  child.stdout.on("data", (part: Buffer) => parts.push(part));
  child.stdin.end(`${input}\n`);
  const [status] = (await once(child, "close")) as [number | null];
  if (status !== 0) throw new Error(`tailrace-hub ${args.slice(0, 2).join(" ")} ended with ${status}`);
  return Buffer.concat(parts).toString();
}

async function fill(site: Site, documents: number): Promise<void> {
  for (let first = 0; first < documents; first += BULK_DOCUMENTS) {
    const body = Buffer.from(worstDocuments(first, Math.min(documents, first + BULK_DOCUMENTS)));
    await post(site, "/worst/_doc/_bulk", body, AbortSignal.timeout(HOSTILE_MS));
  }
  await post(site, "/worst/_refresh", Buffer.alloc(0), AbortSignal.timeout(HOSTILE_MS));
}

function describe({ root, signIn, bulk, live }: Measured): string {
  const at = (times: readonly number[]): string =>
    `p50 ${percentile([...times], 0.5).toFixed(0)} ms, p99 ${percentile([...times], 0.99).toFixed(0)} ms`;
  return `GET / ${at(root)}, sign-in ${at(signIn)}, _bulk ${at(bulk)}, live tail ${at(live)}`;
}
