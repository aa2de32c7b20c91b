/** `tailrace-hub pipeline run` over a file of lines, as a process of its own: lines per CPU-second, its start included. */

import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { promisify } from "node:util";
import type { BenchmarkContext, Result } from "./benchmark.ts";

const LAUNCHER = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");
const AT_LEAST = 90_000;
const ROUNDS = 2;

/** Runs the command and prints the CPU time of the shell, then that of what it ran (POSIX, times). */
const TIMED = '"$@" > "$0" && times';

/** What the pipeline is, and the lines that it gets. */
export interface CommandSample {
  readonly pipeline: string;
  readonly lines: number;
  readonly line: (number: number) => string;
}

/** Measures the command; the best of some runs. */
export async function pipelineCommand(
  { workspace, progress }: BenchmarkContext,
  { pipeline, lines, line }: CommandSample,
): Promise<Result> {
  progress(`${lines} lines through pipeline run`);
  const conf = workspace.path("command", "bench.conf");
  const input = workspace.path("command", "lines.log");
  writeFileSync(conf, pipeline);
  writeFileSync(input, Array.from({ length: lines }, (_, number) => line(number)).join(""));
  let value = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const output = workspace.path("command", "events.json");
    const run = [LAUNCHER, "pipeline", "run", conf, "--input", input];
    const { stdout } = await promisify(execFile)("sh", ["-c", TIMED, output, ...run]);
    value = Math.max(value, lines / childSeconds(stdout));
  }
  return {
    case: "pipeline run: grok, date, mutate",
    value,
    unit: "lines per CPU-second of the command",
    reference: null,
    target: { atLeast: AT_LEAST },
  };
}

/** CPU-seconds that `times` prints for the shell's children: user and system, each as 1m2.34s. */
function childSeconds(printed: string): number {
  const times = printed.trim().split("\n").at(-1)!.split(" ");
  return times.reduce((sum, time) => {
    const [minutes = "", seconds = ""] = time.split("m");
    return sum + 60 * Number(minutes) + Number.parseFloat(seconds);
  }, 0);
}
