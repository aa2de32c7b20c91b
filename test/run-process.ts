/**
 * One process of a test run: runs the files named by its arguments and reports to the process that forked it,
 * `"alive"` while tests run and one `GroupReport` at the end. Prints failures, and passes too where asked.
 */

import type { HookCallbacks } from "node:async_hooks";
import { flushCompileCache } from "node:module";
import { resolve } from "node:path";
import { Transform } from "node:stream";
import { finished } from "node:stream/promises";
import type { EventData } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { endMarked, MARKS } from "./leftovers.ts";

/** Numbers of tests; `failed` and `skipped` are parts of `tests`. */
export interface TestCounts {
  tests: number;
  passed: number;
  failed: number;
  skipped: number;
}

export interface GroupReport {
  readonly counts: TestCounts;
  /** Files in which no test was met. */
  readonly empty: readonly string[];
  /** Errors outside tests: those that nobody caught, and those of files' loading and hooks. Each was printed. */
  readonly outside: number;
}

export const NO_TESTS: Readonly<TestCounts> = { tests: 0, passed: 0, failed: 0, skipped: 0 };

/** A message for each event would cost more than many tests do; those who wait count in seconds. */
const ALIVE_EVERY_MS = 100;

/** Signals that end a process, with the exit status that a shell gives for them. */
const ENDING = [
  ["SIGHUP", 129],
  ["SIGINT", 130],
  ["SIGTERM", 143],
] as const;

interface GroupOptions {
  readonly timeoutMs: number;
  readonly name?: string;
  readonly verbose: boolean;
}

/** What the runner says about all files together; the version's own type lacks it. */
interface Summary {
  readonly file?: string;
  readonly counts: Readonly<Record<"tests" | "passed" | "failed" | "cancelled" | "skipped" | "todo", number>>;
}

interface Finding {
  readonly type: string;
  readonly data: EventData.TestPass & Summary;
}

if (process.send !== undefined && process.env["TAILRACE_TEST_RUN"] !== undefined) {
  await runFiles(process.argv.slice(2), JSON.parse(process.env["TAILRACE_TEST_RUN"]) as GroupOptions);
}

async function runFiles(files: readonly string[], options: GroupOptions): Promise<void> {
  delete process.env["TAILRACE_TEST_RUN"];
  for (const [signal, status] of ENDING) process.once(signal, () => giveUp(status));
  process.once("disconnect", giveUp);
  process.channel?.unref(); // the listener would keep the process running
  const { run, spec } = await loadRunner();
  const empty: string[] = [];
  const unloaded = new Set<string>();
  let hooks = 0;
  let counts: TestCounts = { ...NO_TESTS };
  const errors = watchErrors();
  let nextAlive = 0;
  const events = run({
    files: [...files],
    isolation: "none",
    timeout: options.timeoutMs,
    ...(options.name === undefined ? {} : { testNamePatterns: [options.name] }),
  });
  events.on("data", ({ type, data }: Finding) => {
    if (type === "test:pass" && isFile(data)) empty.push(data.name);
    if (type === "test:fail" && isFile(data) && isHook(data)) hooks++;
    else if (type === "test:fail" && isFile(data)) unloaded.add(data.name);
    if (type === "test:summary" && data.file === undefined) counts = fromSummary(data);
    if (type === "test:dequeue") errors.last = data.name;
    if (performance.now() < nextAlive) return;
    nextAlive = performance.now() + ALIVE_EVERY_MS;
    process.send?.("alive");
  });
  const shown = options.verbose
    ? events
    : events.pipe(new Transform({ objectMode: true, transform: dropPasses }));
  const printed = shown.pipe(new spec());
  printed.pipe(process.stdout);
  await finished(printed, { writable: false });
  const halfLoaded = await loadAgain(
    files.map((file) => resolve(file)).filter((file) => !unloaded.has(file)),
  );
  // At the exit it would take seconds in a new checkout, which look like something left running.
  flushCompileCache();
  // Where the parent is slow to read, the report waits behind the signs of life: disconnecting would drop it.
  const report: GroupReport = { counts, empty, outside: errors.count + halfLoaded + hooks };
  process.off("disconnect", giveUp);
  process.send?.(report, undefined, undefined, () => process.disconnect());
}

/** Ends the process and all that its tests have started: by a signal, or because the run has ended and nobody waits for the result. */
function giveUp(status = 1): void {
  endMarked((process.env[MARKS] ?? "").split(" ").at(-1)!);
  process.exit(status);
}

/**
 * Loads node:test, whose hook then follows no promises: that is a tenth of the time of tests that wait much. The hook
 * tells to which test an error belongs that nobody caught; `watchErrors` finds those it no longer knows. It also tells
 * which suite a test is in, so that a suite's function must not wait before it names its tests.
 */
async function loadRunner() {
  const hooks = process.getBuiltinModule("node:async_hooks");
  const { createHook } = hooks;
  const lighter: typeof createHook = (options) =>
    createHook({ ...options, trackPromises: false } as HookCallbacks);
  Object.assign(hooks, { createHook: lighter });
  const [{ run }, { spec }] = await Promise.all([import("node:test"), import("node:test/reporters")]);
  Object.assign(hooks, { createHook });
  return { run, spec };
}

/**
 * Prints and counts errors that nobody catches, with the test that began last: their own, where it awaits what they
 * come from. A test that awaits what no longer comes then fails by its time limit.
 */
function watchErrors(): { count: number; last: string } {
  const seen = { count: 0, last: "loading the files" };
  const note = (error: unknown) => {
    seen.count++;
    // The report may have been sent: in a handler of the exit nothing else tells of an error.
    process.exitCode = 1;
    process.stdout.write(`✖ nobody caught an error, in "${seen.last}" or before: ${inspect(error)}\n`);
  };
  process.on("uncaughtException", note).on("unhandledRejection", note);
  return seen;
}

/**
 * Returns how many of the files throw while they load, and prints what. The runner drops that error where the file had
 * named a test before. A module is evaluated once: importing it again throws what its first import threw, or does nothing.
 */
async function loadAgain(paths: readonly string[]): Promise<number> {
  let failed = 0;
  for (const path of paths) {
    try {
      await import(pathToFileURL(path).href);
    } catch (error) {
      failed++;
      process.stdout.write(`✖ ${path} failed while it loaded: ${inspect(error)}\n`);
    }
  }
  return failed;
}

/** A file without a test is reported as one test with the file's path as its name. */
function isFile({ name, file, nesting }: Finding["data"]): boolean {
  return nesting === 0 && name === file;
}

/** A file's failing hook that belongs to no test is reported like the file, but isn't in the summary. */
function isHook({ details }: Finding["data"]): boolean {
  return details.type === undefined;
}

function fromSummary({ counts }: Summary): TestCounts {
  return {
    tests: counts.tests,
    passed: counts.passed,
    failed: counts.failed + counts.cancelled,
    skipped: counts.skipped + counts.todo,
  };
}

function dropPasses(event: Finding, _encoding: string, done: (error: null, event?: Finding) => void): void {
  const passed = event.type === "test:pass" && event.data.skip === undefined;
  const quiet = passed || event.type === "test:start" || event.type === "test:diagnostic";
  done(null, quiet ? undefined : event);
}
