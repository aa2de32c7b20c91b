/**
 * Runs fuzz tests: `npm run fuzz [-- NAME …] [--minutes N] [--seed S]`.
 *
 * Without a name all but those that measure time, one after the other, each for TAILRACE_FUZZ_SECONDS (60 without it) or `--minutes`. A NAME
 * is the beginning of test files of this folder. A failure names its seed; `--seed` begins with it.
 */

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { didYouMean } from "#proto/kit/nearest.ts";

const FOLDER = import.meta.dirname;
const DEFAULT_SECONDS = 60;
/** Of one test beyond the time it is given. */
const TIMEOUT_MINUTES = 5;
const EXIT_USAGE = 2;
/** Measure how long the thread is held, which says little while other tests run: by name only. */
const ONLY_BY_NAME: readonly string[] = ["painless.test.ts"];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: "string" }, seed: { type: "string" } },
});
const asked = process.env["TAILRACE_FUZZ_SECONDS"] ?? DEFAULT_SECONDS;
const seconds = values.minutes === undefined ? Number(asked) : Number(values.minutes) * 60;
if (!(seconds > 0)) fail(`--minutes ${values.minutes ?? ""}: a number above 0 is needed`);
if (values.seed !== undefined && !/^\d+$/.test(values.seed))
  fail(`--seed ${values.seed}: a whole number is needed`);

const files =
  positionals.length === 0
    ? globSync("*.test.ts", { cwd: FOLDER }).filter((file) => !ONLY_BY_NAME.includes(file))
    : positionals.flatMap(filesOf);
const { status } = spawnSync(
  process.execPath,
  [
    join(FOLDER, "..", "run.ts"),
    "--timeout",
    `${Math.ceil(seconds / 60) + TIMEOUT_MINUTES}m`,
    "--concurrency",
    "1",
    "--verbose",
    ...files.map((file) => `test/fuzz/${file}`),
  ],
  {
    stdio: "inherit",
    env: {
      ...process.env,
      TAILRACE_FUZZ_SECONDS: String(seconds),
      ...(values.seed === undefined ? {} : { TAILRACE_SEED: values.seed }),
    },
  },
);
process.exitCode = status ?? 1;

/** Returns the files that a name means. Ends the process where there are none. */
function filesOf(name: string): string[] {
  const found = globSync(`${name}*.test.ts`, { cwd: FOLDER });
  if (found.length > 0) return found;
  const names = globSync("*.test.ts", { cwd: FOLDER }).map((file) => file.replace(".test.ts", ""));
  return fail(`there is no fuzz test "${name}"${didYouMean(name, names)}; there are ${names.join(", ")}`);
}

function fail(message: string): never {
  process.stderr.write(`fuzz: ${message}\n`);
  process.exit(EXIT_USAGE);
}
