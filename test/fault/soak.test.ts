/**
 * A hub and an agent for a long time under lines, searches, scrolls, tails and reloads: after the warm-up nothing grows, and
 * every line is there once. Run by name: `npm run fault -- soak --minutes 60`. TAILRACE_SOAK_RATE: lines per second. The
 * picture of the run is written to test/artefacts/soak.svg.
 */

import assert from "node:assert/strict";
import { closeSync, mkdirSync, openSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { resolve } from "node:path";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import { MIB } from "#proto/kit/units.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask, readMetric } from "#test/harness/http.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { type Stack, startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { SoakLoad } from "./soak-load.ts";
import { soakPicture } from "./soak-picture.ts";
import { processSeries, Series, segmentSeries } from "./soak-samples.ts";

const SECONDS = Number(process.env["TAILRACE_FAULT_SECONDS"] ?? 60);
const RATE = Number(process.env["TAILRACE_SOAK_RATE"] ?? 5_000);
const PICTURE = resolve(import.meta.dirname, "../artefacts/soak.svg");

const WARM_UP_MS = Math.min(600_000, (SECONDS * 1_000) / 3);
const SAMPLE_EVERY_MS = Math.max(1_000, SECONDS * 5);
const WRITE_EVERY_MS = 100;
const ROTATE_LINES = 200_000;
/** More lines are counted only: reading each would take longer than the run. */
const READ_LINES = 1_000_000;
const ARRIVAL_MS = 120_000;
/**
 * Of the log. It keeps what was processed for a quarter of an hour, unless it is a quarter full, which it is after some minutes
 * with this limit: from then on it doesn't grow.
 */
const LOG_BYTES = "512mb";
const CACHE_BYTES = "64mb";

/** Growth that counts as none: the collector's heap moves within it. */
const ALLOWED_MIB = { hub: 60, nats: 40, agent: 25, heap: 40, stream: 64, caches: 64 };

function allSeries({ hub, agent }: Stack): Series[] {
  const metrics = `${hub.dashboardUrl}/metrics`;
  const heap = async (): Promise<number> => {
    type Stats = { nodes: Record<string, { jvm: { mem: { heap_used_in_bytes: number } } }> };
    const { nodes } = await ask<Stats>("GET", `${hub.searchUrl}/_nodes/stats/jvm`);
    return Object.values(nodes)[0]!.jvm.mem.heap_used_in_bytes / MIB;
  };
  const streams = async (): Promise<number> =>
    ((await readMetric(metrics, "tailrace_journal_stream_bytes")) ?? Number.NaN) / MIB;
  const metric = (name: string) => async (): Promise<number> => (await readMetric(metrics, name)) ?? 0;
  const caches = async (): Promise<number> => (await metric("tailrace_search_cache_bytes")()) / MIB;
  return [
    ...processSeries("hub", () => hub.pid, ALLOWED_MIB.hub),
    new Series("hub: caches of searches", "MiB", ALLOWED_MIB.caches, caches),
    segmentSeries(() => hub.pid),
    ...processSeries("nats-server", () => hub.natsPids()[0]!, ALLOWED_MIB.nats),
    ...processSeries("agent", () => agent.pid, ALLOWED_MIB.agent),
    new Series("hub: heap of the main thread", "MiB", ALLOWED_MIB.heap, heap),
    new Series("streams of the log", "MiB", ALLOWED_MIB.stream, streams),
    new Series("open scrolls", "", 4, metric("tailrace_search_scroll_contexts")),
  ];
}

/** Appends lines at an even rate, and renames the file now and then, until `signal` is aborted. */
async function writeLines(path: string, log: SequenceLog, signal: AbortSignal): Promise<void> {
  const startMs = systemClock.monotonic();
  let file = openSync(path, "a");
  let rotated = 0;
  while (!signal.aborted) {
    const due = Math.floor(((systemClock.monotonic() - startMs) / 1_000) * RATE) - log.count;
    if (due > 0) writeSync(file, log.lines(due));
    if (log.count - rotated >= ROTATE_LINES) {
      rotated = log.count;
      closeSync(file);
      renameSync(path, `${path}.1`);
      file = openSync(path, "a");
    }
    await systemClock.sleep(WRITE_EVERY_MS, signal);
  }
  closeSync(file);
}

async function sample(series: readonly Series[], signal: AbortSignal): Promise<void> {
  const startMs = systemClock.monotonic();
  while (!signal.aborted) {
    for (const each of series) await each.sample(startMs);
    await systemClock.sleep(SAMPLE_EVERY_MS, signal);
  }
}

test(`nothing grows in ${SECONDS} s of ${RATE} lines a second with searches, scrolls, tails and reloads`, async (t) => {
  const workspace = new Workspace(t);
  const [path, config] = [workspace.path("logs", "a.log"), workspace.path("pipelines", "main.conf")];
  const stack = await startStack(workspace, {
    // Caches that fill within minutes: larger ones hide for hours what else grows.
    hubSettings: {
      "path.config": [config],
      "journal.max_bytes": LOG_BYTES,
      "search.cache_memory": CACHE_BYTES,
    },
    input: { paths: [path] },
  });
  const log = new SequenceLog("soak");
  const load = new SoakLoad(stack.hub, config);
  const series = allSeries(stack);
  const over = new AbortController();
  const parts = [writeLines(path, log, over.signal)];
  await until("the first lines", async () => (await count(stack.hub.searchUrl)) > 0);
  parts.push(load.run(over.signal), sample(series, over.signal));
  try {
    await Promise.race([systemClock.sleep(SECONDS * 1_000, over.signal), Promise.all(parts)]);
  } finally {
    over.abort();
  }
  await Promise.all(parts);
  const growths = series.map((each) => ({ each, ...each.trend(WARM_UP_MS) }));
  mkdirSync(resolve(PICTURE, ".."), { recursive: true });
  const title = `${Math.round(SECONDS / 60)} minutes, ${log.count} lines, ${load.done.searches} searches, ${load.done.scrolls} scrolls, ${load.done.tails} live tails, ${load.done.reloads} reloads`;
  writeFileSync(PICTURE, soakPicture(title, series, WARM_UP_MS));
  t.diagnostic(title);
  for (const { each, first, growth } of growths)
    t.diagnostic(`${each.name}: ${first.toFixed(1)} ${each.unit}, growth ${growth.toFixed(1)}`);
  if (log.count <= READ_LINES) await assertExactlyOnce(stack.hub.searchUrl, [log]);
  else
    await until("all lines", async () => (await count(stack.hub.searchUrl)) === log.count, {
      deadlineMs: ARRIVAL_MS,
    });
  const grown = growths.filter(({ each, growth }) => !(growth <= each.allowed));
  assert.deepEqual(
    grown.map(({ each }) => each.name),
    [],
  );
});
