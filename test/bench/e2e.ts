/** File → searchable: the whole way, as the processes that really run. */

import { appendFileSync, closeSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { systemClock } from "#proto/kit/clock.ts";
import { MIB } from "#proto/kit/units.ts";
import { ask } from "#test/harness/http.ts";
import { cpuSeconds, peakResidentBytes } from "#test/harness/processes.ts";
import { count, LOGS } from "#test/harness/search.ts";
import { type LineShape, SequenceLog } from "#test/harness/sequence-log.ts";
import { type Stack, startStack } from "#test/harness/stack.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import {
  type Benchmark,
  type BenchmarkContext,
  type Case,
  measureCases,
  percentile,
  type Result,
} from "./benchmark.ts";
import { fts5LinesPerCpuSecond } from "./reference.ts";

const LINES = 400_000;
/** Share of the lines that is read before anything is measured, so that the runtime has compiled what is hot. */
const WARM_SHARE = 0.15;
/** Longest a run may take, ms: a hundredth of the target on two cores. */
const DEADLINE_MS = 600_000;
/** How long lines are written at half load, ms. */
const HALF_LOAD_MS = 15_000;
const BURST_MS = 20;

/** What was promised of an idle machine: lines per CPU-second by their shape, and the age of the oldest one, ms. */
const TARGETS = { access: { atLeast: 40_000 }, plain: { atLeast: 100_000 } } as const;
const FRESHNESS_P99 = { atMost: 2_000 } as const;

const CASES: readonly Case[] = [
  { name: "access and freshness", measure: accessAndFreshness },
  { name: "plain", measure: async (context) => [...(await throughput(context, "plain")).results] },
];

interface Throughput {
  readonly results: readonly Result[];
  /** Lines per second of wall time. */
  readonly linesPerSecond: number;
}

export const e2e: Benchmark = {
  name: "e2e",
  about:
    "file → searchable: lines per CPU-second of agent, hub and nats-server together; freshness at half load",
  run: (context) => measureCases(CASES, context),
};

async function accessAndFreshness(context: BenchmarkContext): Promise<Result[]> {
  const { results, linesPerSecond } = await throughput(context, "access");
  return [...results, ...(await freshness(context, linesPerSecond / 2))];
}

async function throughput(
  { scale, progress }: BenchmarkContext,
  shape: keyof typeof TARGETS,
): Promise<Throughput> {
  const workspace = new Workspace();
  try {
    const lines = Math.round(LINES * scale);
    const warmLines = Math.round(lines * WARM_SHARE);
    const warmFile = writeLines(workspace, "warm", shape, warmLines);
    const file = writeLines(workspace, "app", shape, lines);
    progress(`${lines} ${shape} lines, ${Math.round(statSync(file).size / MIB)} MiB`);
    const stack = await startStack(workspace, { input: { paths: [workspace.path("read", "*.log")] } });
    renameSync(warmFile, workspace.path("read", "warm.log"));
    await searchable(stack, warmLines);
    const watched = processes(stack);
    const before = watched.map(cpuSeconds);
    const start = performance.now();
    renameSync(file, workspace.path("read", "app.log"));
    await searchable(stack, warmLines + lines);
    const seconds = (performance.now() - start) / 1000;
    const cpu = watched.map((pid, at) => cpuSeconds(pid) - before[at]!);
    const peaks = watched.map((pid) => Math.round(peakResidentBytes(pid) / MIB));
    progress(`CPU-seconds agent ${cpu[0]}, hub ${cpu[1]}, nats ${cpu[2]}; peak MiB ${peaks.join(", ")}`);
    const reference = {
      name: "SQLite FTS5",
      value: fts5LinesPerCpuSecond(workspace.path("read", "app.log"), workspace.path("reference.db")),
    };
    const total = cpu.reduce((sum, each) => sum + each, 0);
    const results: Result[] = [
      {
        case: `${shape} lines`,
        value: lines / total,
        unit: "lines per CPU-second",
        reference,
        target: TARGETS[shape],
      },
      { case: `${shape} lines, wall`, value: lines / seconds, unit: "lines per second", reference: null },
    ];
    return { results, linesPerSecond: lines / seconds };
  } finally {
    await workspace.close();
  }
}

/** Agent, hub and nats-server, in this order. */
function processes({ agent, hub }: Stack): number[] {
  return [agent.pid, hub.pid, ...hub.natsPids()];
}

async function searchable({ hub }: Stack, lines: number): Promise<void> {
  await until("all lines searchable", async () => (await count(hub.searchUrl)) >= lines, {
    deadlineMs: DEADLINE_MS,
    everyMs: 200,
  });
}

/** Writes a file beside where it is read; it appears there at once, whole. */
function writeLines(workspace: Workspace, name: string, shape: LineShape, lines: number): string {
  const file = workspace.path("made", `${name}.log`);
  const log = new SequenceLog(name, shape);
  const fd = openSync(file, "w");
  for (let made = 0; made < lines; made += 10_000) writeSync(fd, log.lines(Math.min(10_000, lines - made)));
  closeSync(fd);
  return file;
}

/** Writes at `rate` lines per second and measures, for each burst, how long it took to be found. */
async function freshness({ scale, progress }: BenchmarkContext, rate: number): Promise<Result[]> {
  const workspace = new Workspace();
  try {
    const file = workspace.path("read", "app.log");
    appendFileSync(file, "");
    const { hub } = await startStack(workspace, { input: { paths: [file] } });
    progress(`${Math.round(rate)} lines per second for ${(HALF_LOAD_MS * scale) / 1000} s`);
    const bursts: { readonly endOffset: number; readonly writtenMs: number }[] = [];
    const ages: number[] = [];
    const writing = writeSteadily(file, rate, HALF_LOAD_MS * scale, (endOffset) =>
      bursts.push({ endOffset, writtenMs: performance.now() }),
    );
    let written = false;
    void writing.finally(() => (written = true));
    await until(
      "every burst found",
      async () => {
        const offset = await highestOffset(hub.searchUrl);
        while (bursts[0] !== undefined && bursts[0].endOffset <= offset) {
          ages.push(performance.now() - bursts.shift()!.writtenMs);
        }
        return written && bursts.length === 0;
      },
      { deadlineMs: DEADLINE_MS, everyMs: 25 },
    );
    await writing;
    const age = (p: number) => ({ value: percentile(ages, p), unit: "ms", reference: null });
    return [
      { case: "freshness at half load, p50", ...age(0.5) },
      { case: "freshness at half load, p99", ...age(0.99), target: FRESHNESS_P99 },
    ];
  } finally {
    await workspace.close();
  }
}

/** Appends bursts for `durationMs`; tells the offset of each burst's last line. */
async function writeSteadily(
  file: string,
  rate: number,
  durationMs: number,
  wrote: (lastLineOffset: number) => void,
): Promise<void> {
  const log = new SequenceLog("fresh", "access");
  const start = performance.now();
  let offset = 0;
  while (performance.now() - start < durationMs) {
    const due = Math.floor(((performance.now() - start) / 1000) * rate) - log.count;
    if (due > 0) {
      const text = log.lines(due);
      appendFileSync(file, text);
      const lastLine = Buffer.byteLength(text.slice(text.lastIndexOf("\n", text.length - 2) + 1));
      offset += Buffer.byteLength(text);
      wrote(offset - lastLine);
    }
    await systemClock.sleep(BURST_MS);
  }
}

/** Returns the highest offset that a search finds, -1 for none. */
async function highestOffset(searchUrl: string): Promise<number> {
  const answer = await ask<{ aggregations?: { last: { value: number | null } } }>(
    "POST",
    `${searchUrl}/${LOGS}/_search`,
    { size: 0, aggs: { last: { max: { field: "log.offset" } } } },
  );
  return answer.aggregations?.last.value ?? -1;
}
