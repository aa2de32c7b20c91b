/**
 * Runs fault tests: `npm run fault [-- NAME …] [--minutes N] [--seed S]`.
 *
 * Without a name all of them but those of BY_NAME, the random ones for TAILRACE_FAULT_SECONDS each (60 without it). A NAME
 * is the beginning of test files of this folder, `agent` meaning the agent's table of cases and no random run. Prints the
 * result of every test, so that a table of cases can be read as one.
 */

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";

const FOLDER = import.meta.dirname;
/** Names that mean other files than those which begin with them. */
const NAMED: Readonly<Record<string, readonly string[]>> = {
  agent: ["agent-cases.test.ts", "agent-raw.test.ts"],
};
/** Run by name only: a sweep of 228 cases, each with a hub of its own; faults that need half a minute each, or minutes. */
const BY_NAME = new Set([
  "damage.test.ts",
  "cluster.test.ts",
  "disk.test.ts",
  "health.test.ts",
  "node-loss.test.ts",
  "ports.test.ts",
  "soak.test.ts",
  "stalls.test.ts",
  "three-hubs.test.ts",
]);
/** Of one test beyond the time that random ones are given. */
const TIMEOUT_MINUTES = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string" }, seed: { type: "string" } },
});
const names = positionals.filter((name) => !/[/*]/.test(name));
const minutes = Number(values.minutes ?? 0);
if (!(minutes >= 0)) fail(`--minutes ${values.minutes}: a number is needed`);
if (values.seed !== undefined && !/^\d+$/.test(values.seed))
  fail(`--seed ${values.seed}: a whole number is needed`);

const patterns = positionals.length === 0 ? everyRun() : positionals.flatMap(filesOf);
const { status } = spawnSync(
  process.execPath,
  [
    join(FOLDER, "..", "run.ts"),
    "--timeout",
    `${Math.ceil(minutes) + TIMEOUT_MINUTES}m`,
    "--concurrency",
    "1",
    ...(names.length > 0 ? ["--verbose"] : []),
    ...patterns.map((pattern) => (pattern.includes("/") ? pattern : `test/fault/${pattern}`)),
  ],
  {
    stdio: "inherit",
    env: {
      ...process.env,
      ...(minutes > 0 ? { TAILRACE_FAULT_SECONDS: String(minutes * 60) } : {}),
      ...(values.seed === undefined ? {} : { TAILRACE_SEED: values.seed }),
    },
  },
);
process.exitCode = status ?? 1;

function everyRun(): readonly string[] {
  return globSync("*.test.ts", { cwd: FOLDER }).filter((file) => !BY_NAME.has(file));
}

/** Returns the files that a name or a pattern means. Ends the process where there are none. */
function filesOf(name: string): readonly string[] {
  if (names.includes(name)) {
    const found = NAMED[name] ?? globSync(`${name}*.test.ts`, { cwd: FOLDER });
    if (found.length > 0) return found;
    const all = globSync("*.test.ts", { cwd: FOLDER }).map((file) => file.replace(".test.ts", ""));
    fail(`there are no fault tests "${name}"; there are agent, ${all.sort().join(", ")}`);
  }
  return [name];
}

function fail(message: string): never {
  process.stderr.write(`npm run fault: ${message}\n`);
  process.exit(2);
}
