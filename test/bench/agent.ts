/** File → PubAck: what one agent does per CPU-second and how much memory it takes, with a real nats-server behind it. */

import { closeSync, copyFileSync, mkdirSync, openSync, statSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#proto/kit/clock.ts";
import { MIB } from "#proto/kit/units.ts";
import type { Workspace } from "#test/harness/workspace.ts";
import { AgentRun, type AgentRunOptions } from "./agent-run.ts";
import {
  type Benchmark,
  type BenchmarkContext,
  type Case,
  measureCases,
  type Result,
  type Target,
} from "./benchmark.ts";
import { BulkSink } from "./bulk-sink.ts";
import { readLinesPerCpuSecond } from "./reference.ts";

const LINES = 1_500_000;
const LINE_BYTES = 200;
/** What a container of 128 MB leaves, and what is aimed at. */
const MEMORY_MIB = 128;
const LOAD_MEMORY_MIB = 100;
const BACKLOG_FILES = 1_000;
const BACKLOG_BYTES = 1_024 ** 3;
const IDLE_FILES = 10_000;
const IDLE_MS = 15_000;
const SEARCH_TARGET = 450_000;

/** Ways of one file through the agent. */
const WAYS: readonly (Pick<AgentRunOptions, "input" | "settings"> & {
  readonly name: string;
  readonly target: number;
})[] = [
  { name: "blocks", target: 2_500_000 },
  { name: "events", target: 1_300_000, input: { exclude_lines: ["^DEBUG"] } },
  { name: "zstd", target: 1_000_000, settings: { "output.pipeline.compression": "zstd" } },
];

const CASES: readonly Case[] = [
  ...WAYS.map((way) => ({
    name: way.name,
    measure: (context: BenchmarkContext) => measureWay(context, way),
  })),
  { name: "search", measure: measureSearch },
  { name: "idle files", measure: measureIdle },
  { name: "backlog", measure: measureBacklog },
];

export const agent: Benchmark = {
  name: "agent",
  about:
    "file → PubAck, file → bulk requests: lines per CPU-second; 10,000 idle files, 1 GB over 1,000 files; memory",
  run: (context) => measureCases(CASES, context),
};

async function measureWay(
  { workspace, scale, progress }: BenchmarkContext,
  { name, target, ...options }: (typeof WAYS)[number],
): Promise<Result[]> {
  const lines = Math.round(LINES * scale);
  const file = writeLines(workspace, lines);
  const bytes = statSync(file).size;
  progress(`${name}: ${lines} lines, ${Math.round(bytes / MIB)} MiB`);
  const run = await AgentRun.start(workspace, { name, bytes, ...options });
  const path = run.give(file, "bench.log");
  await run.shipped(bytes);
  const reference = { name: "reading and finding newlines", value: readLinesPerCpuSecond(path) };
  const value = lines / run.seconds;
  const memory = figure(`${name}: peak memory`, run.peakMib, "MiB", { atMost: LOAD_MEMORY_MIB });
  const start = figure("start", run.startMs, "ms");
  await run.end();
  const speed = { case: name, value, unit: "lines per CPU-second", reference, target: { atLeast: target } };
  return name === WAYS[0]!.name ? [start, speed, memory] : [speed, memory];
}

/** Into a search interface that answers bulk requests and keeps nothing. */
async function measureSearch({ workspace, scale, progress }: BenchmarkContext): Promise<Result[]> {
  const lines = Math.round(LINES * scale);
  const file = writeAccessLines(workspace, lines);
  const bytes = statSync(file).size;
  progress(`search: ${lines} lines, ${Math.round(bytes / MIB)} MiB`);
  const sink = await BulkSink.start();
  workspace.defer(() => sink.close());
  const run = await AgentRun.start(workspace, { name: "search", bytes, search: sink.host });
  run.give(file, "bench.log");
  await run.shipped(bytes);
  const results = [
    figure("search", lines / run.seconds, "lines per CPU-second", { atLeast: SEARCH_TARGET }),
    figure("search: documents missing", lines - sink.documents, "documents", { atMost: 0 }),
    figure("search: peak memory", run.peakMib, "MiB", { atMost: MEMORY_MIB }),
  ];
  await run.end();
  return results;
}

/** Files that nobody writes to: searched each second, and told of. */
async function measureIdle({ workspace, scale, progress }: BenchmarkContext): Promise<Result[]> {
  const files = Math.round(IDLE_FILES * scale);
  const folder = workspace.path("idle-files");
  mkdirSync(folder);
  for (let file = 0; file < files; file++)
    writeFileSync(join(folder, `${file}.log`), `${String(file).padEnd(LINE_BYTES - 1, "x")}\n`);
  progress(`${files} idle files`);
  const run = await AgentRun.start(workspace, { name: "idle", bytes: files * LINE_BYTES });
  run.give(folder, "idle");
  await run.shipped(files * LINE_BYTES);
  await systemClock.sleep(IDLE_MS / 3);
  const [seconds, before] = [run.seconds, await searches(run)];
  await systemClock.sleep(IDLE_MS);
  const used = run.seconds - seconds;
  const after = await searches(run);
  const searchMs = (after.cpuMs - before.cpuMs) / Math.max(1, after.made - before.made);
  const results = [
    figure(`${files} idle files`, (used * 100_000) / IDLE_MS, "% of a core", { atMost: 2 }),
    figure(`${files} idle files: a search`, searchMs, "ms CPU", { atMost: 100 }),
    figure(`${files} idle files: peak memory`, run.peakMib, "MiB", { atMost: MEMORY_MIB }),
    figure(`${files} idle files: memory`, run.residentMib, "MiB", { atMost: MEMORY_MIB }),
  ];
  await run.end();
  return results;
}

/** Searches for files that an agent has made, and the processor time they took. */
async function searches(run: AgentRun): Promise<{ readonly made: number; readonly cpuMs: number }> {
  const made = (await run.metric("tailrace_agent_scans_total")) ?? 0;
  const seconds = (await run.metric("tailrace_agent_scan_cpu_seconds_total")) ?? 0;
  return { made, cpuMs: seconds * 1_000 };
}

/** What piled up while nobody shipped it, read at once by an agent that may have 128 MB. */
async function measureBacklog({ workspace, scale, progress }: BenchmarkContext): Promise<Result[]> {
  const bytesEach = Math.round((BACKLOG_BYTES * scale) / BACKLOG_FILES / LINE_BYTES) * LINE_BYTES;
  const lines = bytesEach / LINE_BYTES;
  const first = writeLines(workspace, lines);
  const folder = workspace.path("backlog-files");
  mkdirSync(folder);
  for (let file = 0; file < BACKLOG_FILES; file++) copyFileSync(first, join(folder, `service-${file}.log`));
  const bytes = bytesEach * BACKLOG_FILES;
  const run = await AgentRun.start(workspace, { name: "backlog", bytes, memoryBytes: MEMORY_MIB * MIB });
  progress(`${Math.round(bytes / MIB)} MiB over ${BACKLOG_FILES} files, memory limited by ${run.limitedBy}`);
  run.give(folder, "backlog");
  await run.shipped(bytes);
  const value = (lines * BACKLOG_FILES) / run.seconds;
  const results = [
    figure(`backlog, limit: ${run.limitedBy}`, value, "lines per CPU-second"),
    figure("backlog: agents killed", run.running ? 0 : 1, "agents", { atMost: 0 }),
    figure("backlog: peak memory", run.peakMib, "MiB", { atMost: MEMORY_MIB }),
  ];
  await run.end();
  return results;
}

function figure(name: string, value: number, unit: string, target?: Target): Result {
  return { case: name, value, unit, reference: null, ...(target === undefined ? {} : { target }) };
}

/** A file of access lines, 122 bytes each. */
export function writeAccessLines(workspace: Workspace, lines: number): string {
  return writeLines(workspace, lines, accessLine);
}

function workerLine(line: number): string {
  const text = `2026-01-01T00:00:00.000Z INFO worker-${line % 8} request ${line} served `;
  return text.padEnd(LINE_BYTES - 1, "abcdefgh ");
}

/** 122 bytes on average with its end, two of them quotes. */
function accessLine(line: number): string {
  return `10.${line % 7}.${line % 250}.${line % 89} - - [01/Jan/2026:00:00:00 +0000] "GET /products/${line}/details HTTP/1.1" 200 ${line % 9_999} "-" "client/1.0.${line % 31} (bench)"`;
}

function writeLines(workspace: Workspace, lines: number, lineOf = workerLine): string {
  const file = workspace.path("made", "bench.log");
  const fd = openSync(file, "w");
  const chunk = 10_000;
  for (let made = 0; made < lines; made += chunk) {
    let text = "";
    for (let line = made; line < Math.min(lines, made + chunk); line++) {
      text += `${lineOf(line)}\n`;
    }
    writeSync(fd, text);
  }
  closeSync(fd);
  return file;
}
