/**
 * Runs test files: `node test/run.ts [--timeout 60s] [--concurrency 2] [--name PATTERN] [--verbose] GLOB …`.
 *
 * Each file has its own process, so that a leaked handle or a changed global of one can't hide in another; a warm
 * compile cache keeps that cheap. Prints failures and the counts. Exit status 1 where a test failed, where a pattern
 * matches no file or where a file holds no test: what didn't run must not look like success.
 */

import { globSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative, resolve } from "node:path";
import { Transform } from "node:stream";
import type { EventData } from "node:test";
import { run } from "node:test";
import { spec } from "node:test/reporters";
import { parseArgs } from "node:util";
import { parseDuration } from "#proto/kit/units.ts";

const ROOT = resolve(import.meta.dirname, "..");

/** What the runner says about all files together; the version's own type lacks it. */
interface Summary {
  readonly file?: string;
  readonly success: boolean;
  readonly counts: Readonly<Record<"tests" | "passed" | "failed" | "skipped" | "todo", number>>;
}

interface Finding {
  readonly type: string;
  readonly data: EventData.TestPass & Summary;
}

const { values: options, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: {
    timeout: { type: "string", default: "60s" },
    concurrency: { type: "string", default: String(availableParallelism()) },
    name: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

process.chdir(ROOT);
process.env["NODE_COMPILE_CACHE"] ??= join(ROOT, ".cache", "compile");
const files = patterns.flatMap(filesOf);
const empty: string[] = [];
let summary: Summary | undefined;

const events = run({
  files,
  concurrency: Number(options.concurrency),
  timeout: parseDuration(options.timeout),
  ...(options.name === undefined ? {} : { testNamePatterns: [options.name] }),
});
let heardAtMs = performance.now();
events.on("data", ({ type, data }: Finding) => {
  heardAtMs = performance.now();
  if (type === "test:pass" && data.nesting === 0 && isFile(data.name)) empty.push(relative(ROOT, data.name));
  if (type === "test:summary" && data.file === undefined) summary = data;
});
const shown = options.verbose
  ? events
  : events.pipe(new Transform({ objectMode: true, transform: dropPasses }));
shown.pipe(new spec()).on("end", finish).pipe(process.stdout);

/** A file whose process neither ends nor reports would be waited for without end: the runner's limit is for tests. */
const stallMs = 2 * parseDuration(options.timeout);
setInterval(() => {
  if (performance.now() - heardAtMs < stallMs) return;
  process.stdout.write(
    `✖ nothing was heard of any test for ${stallMs / 1000} s; a file hangs, see: ps -ef | grep test.ts\n`,
  );
  process.exit(1);
}, 1_000).unref();

/** Returns the files of a pattern, sorted. Ends the process where there are none. */
function filesOf(pattern: string): string[] {
  const found = globSync(pattern, { exclude: (path) => path.includes("node_modules") }).sort();
  if (found.length > 0) return found.map((path) => resolve(path));
  process.stderr.write(`test/run.ts: no file matches ${pattern}\n`);
  process.exit(1);
}

/** A file without a test is reported as one test with the file's path as its name. */
function isFile(name: string): boolean {
  return files.includes(resolve(ROOT, name));
}

function dropPasses(event: Finding, _encoding: string, done: (error: null, event?: Finding) => void): void {
  const passed = event.type === "test:pass" && event.data.skip === undefined;
  const quiet = passed || event.type === "test:start" || event.type === "test:diagnostic";
  done(null, quiet ? undefined : event);
}

function finish(): void {
  const counts = summary?.counts;
  for (const file of empty) process.stdout.write(`✖ ${file} holds no test\n`);
  const lines = [
    `# files ${files.length}`,
    `# tests ${counts?.tests ?? 0}`,
    `# pass ${counts?.passed ?? 0}`,
    `# fail ${(counts?.failed ?? 0) + empty.length}`,
    `# skipped ${(counts?.skipped ?? 0) + (counts?.todo ?? 0)}`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  const nothing = (counts?.tests ?? 0) === 0 && options.name === undefined;
  if (nothing) process.stdout.write("✖ no test ran\n");
  process.exitCode = summary?.success === true && empty.length === 0 && !nothing ? 0 : 1;
}
