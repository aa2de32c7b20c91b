/**
 * Each state that a hub's health must name, caused for real: what /health, /metrics, the page and the alerts said, and after
 * how long. Run by name: it takes a quarter of an hour. The table is the test's output.
 */

import assert from "node:assert/strict";
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { get as getPlain } from "node:http";
import { get as getSecure } from "node:https";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { HealthReport } from "#hub/api/ports/administration.ts";
import { MIB } from "#proto/kit/units.ts";
import { FakeClock, noFakeClock } from "#test/harness/fake-clock.ts";
import { TestHub } from "#test/harness/hub.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { NO_SMALL_DISK, SmallDisk } from "#test/harness/small-disk.ts";
import { TestAgent } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { firingAlerts, readAlertRules, readScrape, type Scrape } from "./alert-rules.ts";
import { HEALTH_STATES, type HealthState, prepareDocuments, type World } from "./health-states.ts";

/** Longest time until a state is named, and until its end is: a reader counts as stuck after a minute, and is asked every 5 s. */
const NAMED_MS = 120_000;
const EVERY_MS = 250;
const REQUEST_MS = 15_000;
const SMALL_DISK_BYTES = 900 * MIB;

const TABLE = resolve(import.meta.dirname, "../artefacts/health.md");
const LEVELS = ["ok", "degraded", "failing"];
const RULES = readAlertRules();

/** Returns the body of an answer; certificates of tests are not checked. */
function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const get = url.startsWith("https:") ? getSecure : getPlain;
    const options = { rejectUnauthorized: false, timeout: REQUEST_MS, agent: false };
    const asked = get(url, options, (answer) => void text(answer).then(resolve, reject));
    asked.on("timeout", () => asked.destroy(new Error("no answer in time"))).on("error", reject);
  });
}

async function startWorld(t: TestContext, state: HealthState): Promise<World | undefined> {
  const workspace = new Workspace(t);
  const isSmall = state.isOnSmallDisk === true;
  const disk = isSmall ? SmallDisk.mount(workspace.path("disk"), SMALL_DISK_BYTES, workspace) : undefined;
  if (isSmall && disk === undefined) {
    t.skip(NO_SMALL_DISK);
    return undefined;
  }
  const config = workspace.path("pipelines", "main.conf");
  writeFileSync(config, state.pipeline ?? "filter { }\n");
  const [hubClock, agentClock] = ["hub", "agent"].map(
    (name) => new FakeClock(workspace.path("clock", `${name}.rc`)),
  ) as [FakeClock, FakeClock];
  const isTimed = state.part === "clock";
  const hub = new TestHub({
    dataDir: disk === undefined ? workspace.path("hub-data") : join(disk.folder, "data"),
    logFile: workspace.path("hub.log"),
    settings: { "path.config": [config], ...state.settings?.(workspace) },
    ...(isTimed ? { env: hubClock.env } : {}),
  });
  workspace.defer(() => hub.destroy());
  await hub.start();
  const path = workspace.path("logs", "a.log");
  const agent = new TestAgent(hub, workspace, {
    input: { paths: [path] },
    ...(isTimed ? { agentWrapper: agentClock.wrapper } : {}),
  });
  const log = new SequenceLog("states", "plain");
  const world = { hub, agent, workspace, path, log, config, hubClock, agentClock, disk };
  if (state.hasNoAgent === true) return world;
  workspace.defer(() => agent.kill9());
  await agent.start();
  await prepareDocuments(world);
  return world;
}

/** Seconds after which each source named the state. */
interface Named {
  readonly reason: string;
  readonly seconds: Readonly<Record<"health" | "metrics" | "page", number>>;
  readonly alerts: readonly string[];
}

type Parts = HealthReport["parts"];

/** Returns the finding on the state's part, if it is as bad as it must be, with the right reason. */
function findingIn(parts: Parts, { part, level, reason }: HealthState): string | undefined {
  const found = parts.find((each) => each.part === part);
  const isAsBad = found !== undefined && LEVELS.indexOf(found.level) >= LEVELS.indexOf(level);
  return isAsBad && reason.test(found.reason)
    ? `${found.level}: ${found.reason.split("\n", 1)[0]}`
    : undefined;
}

async function partsOf({ hub }: World, path: "/health" | "/api/status"): Promise<Parts> {
  const answer = JSON.parse(await read(hub.dashboardUrl + path)) as { parts?: Parts; health?: Parts };
  return (path === "/health" ? answer.parts : answer.health) ?? [];
}

/** Metrics of hub and agent together, as a server that scrapes both has them; without those of a process that is gone. */
async function scrape({ hub, agent }: World): Promise<Scrape> {
  const metrics = (url: string): Promise<string> => read(`${url}/metrics`).catch(() => "");
  const texts = [
    metrics(hub.dashboardUrl),
    agent.statusUrl === "" ? Promise.resolve("") : metrics(agent.statusUrl),
  ];
  return readScrape((await Promise.all(texts)).join("\n"));
}

async function whenNamed(world: World, state: HealthState, before: Scrape): Promise<Named> {
  const startMs = performance.now();
  const named = async <T>(what: string, ask: () => Promise<T | undefined>): Promise<[T, number]> => {
    const found = (await until(`${state.name}: ${what}`, ask, {
      deadlineMs: NAMED_MS,
      everyMs: EVERY_MS,
    })) as T;
    return [found, Math.round((performance.now() - startMs) / 100) / 10];
  };
  const [[reason, health], [alerts, metrics], [, page]] = await Promise.all([
    named("/health", async () => findingIn(await partsOf(world, "/health"), state)),
    named("/metrics", async () => {
      const now = await scrape(world);
      const levels = now.get("tailrace_hub_health_level") ?? [];
      const value = levels.find(({ labels }) => labels === `{part="${state.part}"}`)?.value ?? 0;
      return value >= LEVELS.indexOf(state.level) ? firingAlerts(RULES, before, now) : undefined;
    }),
    named("the page", async () => findingIn(await partsOf(world, "/api/status"), state)),
  ]);
  return { reason, seconds: { health, metrics, page }, alerts };
}

/** Returns the seconds until the part is well again. */
async function whenMended(world: World, state: HealthState): Promise<string> {
  if (state.mend === undefined) return "not mended";
  const startMs = performance.now();
  await state.mend(world);
  await until(
    `${state.name}: ok again`,
    async () =>
      (await partsOf(world, "/health")).find(({ part }) => part === state.part)?.level === "ok" ||
      Promise.reject(new Error(await read(`${world.hub.dashboardUrl}/health`))),
    { deadlineMs: NAMED_MS, everyMs: EVERY_MS },
  );
  return `${Math.round((performance.now() - startMs) / 100) / 10} s`;
}

for (const state of HEALTH_STATES) {
  test(`health names it: ${state.name}`, { skip: state.part === "clock" && noFakeClock }, async (t) => {
    const world = await startWorld(t, state);
    if (world === undefined) return;
    if (state.hasNoAgent !== true)
      await until(`a part ${state.part} that is well`, async () => {
        const parts = await partsOf(world, "/health");
        return parts.some(({ part, level }) => part === state.part && level === "ok");
      });
    const before = await scrape(world);
    await state.cause(world);
    const { reason, seconds, alerts } = await whenNamed(world, state, before);
    const { health, metrics, page } = seconds;
    const row = `| ${state.name} | ${reason} | ${health} s | ${metrics} s | ${page} s | ${alerts.join(", ")} |`;
    const mended = await whenMended(world, state).catch((error: Error) => error.message);
    mkdirSync(resolve(TABLE, ".."), { recursive: true });
    appendFileSync(TABLE, `${row} ${mended} |\n`);
    t.diagnostic(`${row} ${mended} |`);
    assert.match(mended, /^(?:[\d.]+ s|not mended)$/);
    assert.ok(alerts.length > 0, "an alert fires");
  });
}
