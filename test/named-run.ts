/** Runs the tests of one folder by name, for a time and with a seed: `npm run fault` and `npm run fuzz`. */

import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { didYouMean } from "#proto/kit/nearest.ts";

const EXIT_USAGE = 2;

export interface NamedRun {
  /** Folder of the test files; its name is that of the command. */
  readonly folder: string;
  /** First paragraph of `--help`. */
  readonly about: string;
  /** Environment variable with the seconds of each random test. */
  readonly secondsVariable: string;
  /** Seconds of each random test where neither the variable nor `--minutes` says; the tests' own default without it. */
  readonly defaultSeconds?: number;
  /** Names of tests that run by name only, with the reason. */
  readonly byName: Readonly<Record<string, string>>;
  /** Names that mean other files than those which begin with them. */
  readonly named?: Readonly<Record<string, readonly string[]>>;
  /** Minutes that one test may take beyond the time it is given. */
  readonly timeoutMinutes: number;
  /** Names of tests that measure no time. Where all run, these run two files at a time, after the others one by one. */
  readonly together?: readonly string[];
}

/** Runs what the command line asks for and sets the process' exit status; 2 for a wrong command line. */
export function runNamed(run: NamedRun): void {
  const command = basename(run.folder);
  const { values, positionals } = commandLine(command);
  if (values.help === true) {
    process.stdout.write(helpOf(run, command));
    return;
  }
  if (values.minutes !== undefined && !(Number(values.minutes) > 0))
    fail(command, `--minutes ${values.minutes}: a number above 0 is needed`);
  if (values.seed !== undefined && !/^\d+$/.test(values.seed))
    fail(command, `--seed ${values.seed}: a whole number is needed`);
  const asked = process.env[run.secondsVariable] ?? run.defaultSeconds;
  const seconds = values.minutes === undefined ? asked : Number(values.minutes) * 60;
  const env = {
    ...process.env,
    ...(seconds === undefined ? {} : { [run.secondsVariable]: String(seconds) }),
    ...(values.seed === undefined ? {} : { TAILRACE_SEED: values.seed }),
  };
  const verbose = positionals.length > 0 || command === "fuzz";
  const timeout = `${Math.ceil(Number(seconds ?? 0) / 60) + run.timeoutMinutes}m`;
  for (const { files, concurrency } of batchesOf(run, positionals)) {
    const options = ["--timeout", timeout, "--concurrency", concurrency, ...(verbose ? ["--verbose"] : [])];
    const paths = files.map((file) => `test/${command}/${file}`);
    const program = join(import.meta.dirname, "run.ts");
    const { status } = spawnSync(process.execPath, [program, ...options, ...paths], {
      stdio: "inherit",
      env,
    });
    if (status !== 0) process.exitCode = status ?? 1;
    if (status === null) return; // ended by a signal
  }
}

/** Returns files with how many of them run at a time; each batch begins after the one before. */
function batchesOf(
  run: NamedRun,
  names: readonly string[],
): { files: readonly string[]; concurrency: string }[] {
  if (names.length > 0) return [{ files: names.flatMap((name) => filesOf(run, name)), concurrency: "1" }];
  const { together = [] } = run;
  const [alone, others] = [false, true].map((wanted) =>
    everyFile(run).filter((file) => together.includes(nameOf(file)) === wanted),
  );
  return [
    { files: alone!, concurrency: "1" },
    { files: others!, concurrency: "2" },
  ].filter(({ files }) => files.length > 0);
}

function commandLine(command: string) {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        minutes: { type: "string" },
        seed: { type: "string" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    return fail(command, `${(error as Error).message}; \`npm run ${command} -- --help\` lists the options`);
  }
}

function everyFile(run: NamedRun): readonly string[] {
  return globSync("*.test.ts", { cwd: run.folder })
    .filter((file) => !(nameOf(file) in run.byName))
    .sort();
}

/** Returns the files that a name, the beginning of one, means. Ends the process where there are none. */
function filesOf(run: NamedRun, name: string): readonly string[] {
  const found = run.named?.[name] ?? globSync(`${name}*.test.ts`, { cwd: run.folder });
  if (found.length > 0) return found;
  const names = namesOf(run);
  return fail(
    basename(run.folder),
    `there is no test "${name}"${didYouMean(name, names)}; there are ${names.join(", ")}`,
  );
}

function namesOf(run: NamedRun): string[] {
  const all = globSync("*.test.ts", { cwd: run.folder }).map(nameOf);
  return [...new Set([...all, ...Object.keys(run.named ?? {})])].sort();
}

function nameOf(file: string): string {
  return file.replace(".test.ts", "");
}

function helpOf(run: NamedRun, command: string): string {
  const others = Object.entries(run.byName).map(([name, reason]) => `  ${name.padEnd(16)}${reason}`);
  return `${run.about}

Usage: npm run ${command} [-- NAME …] [--minutes N] [--seed S]

  NAME         Beginning of a test file's name. Without one, all run but those below.
  --minutes N  Time of each random test; ${run.secondsVariable} says it in seconds.
  --seed S     Seed to begin with; a failure names its own.

Names: ${namesOf(run)
    .filter((name) => !(name in run.byName))
    .join(", ")}
By name only:
${others.join("\n")}
`;
}

function fail(command: string, message: string): never {
  process.stderr.write(`${command}: ${message}\n`);
  process.exit(EXIT_USAGE);
}
