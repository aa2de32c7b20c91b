/**
 * Runs test files: `node test/run.ts [--together] [--servers only|none] [--timeout 60s] [--concurrency 3] [--name PATTERN]
 * [--verbose] GLOB … [WORD …]`.
 * A WORD has neither slash nor star: of the globs' files those are run whose path holds one (`npm run conformance -- oauth`).
 *
 * Each file has its own process, so that a leaked handle or a changed global of one can't hide in another. With
 * `--together` the files of a part share one, and small parts share one too, which saves starting Node and loading the
 * part's modules for each file: more than half of the time of small tests. Their temporary folders are in memory where
 * the system allows that, unless `TMPDIR` is set. `--servers` takes only the files that start
 * a nats-server or the threads of a whole pipeline and those named `*.long.test.ts`, or none of them: they want seconds
 * where others want milliseconds. Prints failures and the counts. Exit status 1 where a test failed, where nobody
 * caught an error, where a pattern matches no file, where a file holds no test and where a process, or one that it started,
 * doesn't end by itself: what didn't run, or didn't stop, must not look like success. What still runs is ended.
 */

import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, relative, resolve, sep } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { ensureKernel } from "#hub/engine/kernel/build.ts";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";
import { parseDuration } from "#proto/kit/units.ts";
import { ensureClusteredNats } from "./harness/clustered-nats.ts";
import { endMarked, MARKS, marked, withMark } from "./leftovers.ts";
import { memoryFolder } from "./memory-folder.ts";
import { type GroupReport, NO_TESTS, type TestCounts } from "./run-process.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** Files that start a nats-server, a pipeline with its threads, or threads that host shards. */
const SERVERS =
  /\b(?:startNats|findBinary|EmbeddedServer|useJournal|external-journal|running-pipeline|openThreadNode)\b|new Pipeline\(/;

/** Files that use several nats-servers together. */
const CLUSTERED = /\bclusteredNats\b|"\.\/cluster-world\.ts"/;

/** Files with hooks at their top level, which would also run for the tests of other files in the same process. */
const HOOKED = /^(?:beforeEach|afterEach)\(/m;

/** Parts whose tests are smaller than this share a process, whose start takes as long as they do. Bytes. */
const SMALL_PART_BYTES = 128 * 1024;

/** What groups of files took in earlier runs, ms by the path of the first file. */
const TIMES_FILE = join(ROOT, ".cache/test-times.json");

/** Bytes of tests that take a millisecond, for a group that hasn't run yet. */
const BYTES_A_MS = 20;

/** Lanes beyond the number of cores: tests wait a third of their time, for disks and children. */
const SPARE_LANES = 2;

/**
 * V8's sizes for a process that runs many files, whose modules and fixtures stay until its end. Each thread's young
 * generation starts at its full size, so that less is copied twice, and the old one isn't marked again and again while it
 * grows to some hundred MiB. This saves a tenth of the CPU time of engine's and pipeline's tests.
 */
const SHARED_HEAP = ["--min-semi-space-size=64", "--max-semi-space-size=64", "--initial-old-space-size=1024"];

/** A process that has told its result has this long to end; what still runs then is a leak. */
const LINGER_MS = 5_000;

/** What a process has ended at its exit has this long to be gone, and is looked for so often. */
const GONE_MS = 2_000;
const GONE_EVERY_MS = 100;

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    together: { type: "boolean", default: false },
    servers: { type: "string" },
    timeout: { type: "string", default: "60s" },
    concurrency: { type: "string", default: String(availableParallelism() + SPARE_LANES) },
    name: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

ignoreClosedOutput();
if (!["only", "none", undefined].includes(options.servers)) {
  process.stderr.write(`test/run.ts: --servers is only or none, not ${options.servers}\n`);
  process.exit(1);
}
process.chdir(ROOT);
process.env["NODE_COMPILE_CACHE"] ??= join(ROOT, ".cache", "compile");
if (options.together) process.env["TMPDIR"] ??= memoryFolder() ?? tmpdir();
const timeoutMs = parseDuration(options.timeout);
const words = patterns.filter((each) => !/[/*]/.test(each));
const files = patterns
  .filter((each) => !words.includes(each))
  .flatMap(filesOf)
  .filter(isMeant);
const groups = options.together ? byPart(files) : files.map((file) => [file]);
const counts: TestCounts = { ...NO_TESTS };
const times = readTimes();
// The longest first, so that no lane is left alone with one at the end.
const waiting = options.together
  ? groups.toSorted((left, right) => expectedMs(right) - expectedMs(left))
  : groups;

if (files.some(needsKernel)) await ensureKernel();
if (files.some((path) => CLUSTERED.test(readFileSync(path, "utf8")))) ensureClusteredNats();
await Promise.all(Array.from({ length: Number(options.concurrency) }, lane));
if (options.together && options.name === undefined) writeTimes();
finish();

function isMeant(path: string): boolean {
  const hasWord = words.length === 0 || words.some((word) => relative(ROOT, path).includes(word));
  if (!hasWord || options.servers === undefined) return hasWord;
  return takesSeconds(path) === (options.servers === "only");
}

function takesSeconds(path: string): boolean {
  return path.endsWith(".long.test.ts") || SERVERS.test(readFileSync(path, "utf8"));
}

/** The engine doesn't run without its kernel, which is built from the sources here. */
function needsKernel(path: string): boolean {
  return /^(?:hub|test)\//.test(relative(ROOT, path));
}

/** Returns the files of a pattern, sorted. Ends the process where there are none. */
function filesOf(pattern: string): string[] {
  const found = globSync(pattern, { exclude: (path) => path.includes("node_modules") }).sort();
  if (found.length > 0) return found.map((path) => resolve(path));
  process.stderr.write(`test/run.ts: no file matches ${pattern}\n`);
  process.exit(1);
}

/**
 * Returns groups of files that may share a process: those of one part (the first two folder names), and those of the small
 * parts below one folder. A file that starts servers is alone, as a large process takes long to start others.
 */
function byPart(paths: readonly string[]): string[][] {
  const [alone, others] = [true, false].map((wanted) => paths.filter((path) => isAlone(path) === wanted));
  const parts = [...Map.groupBy(others!, partOf).values()];
  const [small, large] = [true, false].map((wanted) =>
    parts.filter((part) => sizeOf(part) < SMALL_PART_BYTES === wanted),
  );
  const shared = Map.groupBy(small!.flat(), (path) => partOf(path).split(sep, 1)[0]);
  return [...alone!.map((path) => [path]), ...large!, ...shared.values()];
}

function isAlone(path: string): boolean {
  const text = readFileSync(path, "utf8");
  return HOOKED.test(text) || SERVERS.test(text);
}

function partOf(path: string): string {
  return relative(ROOT, dirname(path)).split(sep, 2).join(sep);
}

function expectedMs(group: readonly string[]): number {
  return times[keyOf(group)] ?? sizeOf(group) / BYTES_A_MS;
}

function keyOf(group: readonly string[]): string {
  return relative(ROOT, group[0]!);
}

/** Returns the times of earlier runs: none where the file is missing or half written. */
function readTimes(): Record<string, number> {
  try {
    return JSON.parse(readFileSync(TIMES_FILE, "utf8")) as Record<string, number>;
  } catch {
    return {};
  }
}

function writeTimes(): void {
  mkdirSync(dirname(TIMES_FILE), { recursive: true });
  writeFileSync(TIMES_FILE, JSON.stringify(times));
}

/** Returns the bytes of the files. */
function sizeOf(group: readonly string[]): number {
  return group.reduce((sum, path) => sum + statSync(path).size, 0);
}

async function lane(): Promise<void> {
  for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) await runGroup(group);
}

async function runGroup(group: readonly string[]): Promise<void> {
  const start = performance.now();
  const mark = randomUUID();
  const child = fork(join(ROOT, "test/run-process.ts"), group, {
    execArgv: [...process.execArgv, ...(group.length > 1 ? SHARED_HEAP : [])],
    env: {
      ...process.env,
      [MARKS]: withMark(mark),
      TAILRACE_TEST_RUN: JSON.stringify({ timeoutMs, name: options.name, verbose: options.verbose }),
    },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const printed: Record<"stdout" | "stderr", string> = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name]!.setEncoding("utf8").on("data", (chunk: string) => (printed[name] += chunk));
  const { report, fault: ownFault } = await outcome(child);
  const fault = ownFault ?? (await leftBehind(mark));
  if (ownFault !== undefined) endMarked(mark);
  times[keyOf(group)] = Math.round(performance.now() - start);
  process.stdout.write(printed.stdout + printed.stderr);
  const names = group.map((path) => relative(ROOT, path)).join(" ");
  if (fault !== undefined) process.stdout.write(`✖ ${names}: ${fault}\n`);
  for (const empty of report?.empty ?? []) process.stdout.write(`✖ ${relative(ROOT, empty)} holds no test\n`);
  const said = report?.counts ?? NO_TESTS;
  for (const key of ["tests", "passed", "failed", "skipped"] as const) counts[key] += said[key];
  counts.failed += (report?.empty.length ?? 0) + (report?.outside ?? 0) + (fault === undefined ? 0 : 1);
}

/** Waits for a process and its report; a process in which nothing is heard of, or that doesn't end, is killed. */
async function outcome(child: ChildProcess): Promise<{ report?: GroupReport; fault?: string }> {
  let report: GroupReport | undefined;
  let fault: string | undefined;
  const kill = (reason: string) => {
    fault = reason;
    child.kill("SIGKILL");
    // What it has started may live on and hold them open.
    child.stdout!.destroy();
    child.stderr!.destroy();
  };
  const hangs = () =>
    kill(`nothing was heard for ${(2 * timeoutMs) / 1000} s: a test hangs, or left something running`);
  const lingers = () => kill(`its process did not end after the last test: something is left running`);
  let watchdog = setTimeout(hangs, 2 * timeoutMs);
  child.on("message", (message: GroupReport | "alive") => {
    clearTimeout(watchdog);
    if (message !== "alive") report = message;
    watchdog = report === undefined ? setTimeout(hangs, 2 * timeoutMs) : setTimeout(lingers, LINGER_MS);
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  clearTimeout(watchdog);
  if (fault === undefined && report === undefined) fault = `its process ended early (${signal ?? code})`;
  // Where errors are counted already, the status says no more.
  const hasFailed = report !== undefined && report.counts.failed + report.outside > 0;
  if (fault === undefined && code !== 0 && !hasFailed)
    fault = `its process ended with ${signal ?? code} after its last test`;
  return { ...(report && { report }), ...(fault && { fault }) };
}

/** Ends what the tests have left running; returns what that was, undefined for nothing. */
async function leftBehind(mark: string): Promise<string | undefined> {
  const deadline = performance.now() + GONE_MS;
  while (marked(mark).length > 0 && performance.now() < deadline) await sleep(GONE_EVERY_MS);
  const commands = endMarked(mark);
  return commands.length === 0 ? undefined : `its tests left running: ${commands.join("; ")}`;
}

function finish(): void {
  const nothing = counts.tests === 0 && options.name === undefined;
  const lines = [
    `# files ${files.length}`,
    `# tests ${counts.tests}`,
    `# pass ${counts.passed}`,
    `# fail ${counts.failed}`,
    `# skipped ${counts.skipped}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  if (nothing) process.stdout.write("✖ no test ran\n");
  process.exitCode = counts.failed === 0 && !nothing ? 0 : 1;
}
