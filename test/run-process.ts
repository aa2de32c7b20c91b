/**
 * One process of a test run: runs the files named by its arguments and reports to the process that forked it,
 * `"alive"` at each event and one `GroupReport` at the end. Prints failures, and passes too where asked.
 */

import { flushCompileCache } from "node:module";
import { Transform } from "node:stream";
import { finished } from "node:stream/promises";
import { type EventData, run } from "node:test";
import { spec } from "node:test/reporters";

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
}

export const NO_TESTS: Readonly<TestCounts> = { tests: 0, passed: 0, failed: 0, skipped: 0 };

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
  const empty: string[] = [];
  let counts: TestCounts = { ...NO_TESTS };
  const events = run({
    files: [...files],
    isolation: "none",
    timeout: options.timeoutMs,
    ...(options.name === undefined ? {} : { testNamePatterns: [options.name] }),
  });
  events.on("data", ({ type, data }: Finding) => {
    if (type === "test:pass" && isFile(data)) empty.push(data.name);
    if (type === "test:summary" && data.file === undefined) counts = fromSummary(data);
    process.send?.("alive");
  });
  const shown = options.verbose
    ? events
    : events.pipe(new Transform({ objectMode: true, transform: dropPasses }));
  const printed = shown.pipe(new spec());
  printed.pipe(process.stdout);
  await finished(printed, { writable: false });
  // At the exit it would take seconds in a new checkout, which look like something left running.
  flushCompileCache();
  // Where the parent is slow to read, the report waits behind the signs of life: disconnecting would drop it.
  const report: GroupReport = { counts, empty };
  process.send?.(report, undefined, undefined, () => process.disconnect());
}

/** A file without a test is reported as one test with the file's path as its name. */
function isFile({ name, file, nesting }: Finding["data"]): boolean {
  return nesting === 0 && name === file;
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
