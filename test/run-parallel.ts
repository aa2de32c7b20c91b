/**
 * Runs command lines beside each other: `node test/run-parallel.ts COMMAND …`. What each prints is kept, and printed
 * whole in the commands' order, so that the last one's totals come last. Exit status 1 where one of them failed; the
 * others still run to their ends, so that one run tells all there is to mend.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { ignoreClosedOutput } from "#proto/kit/process/standard-output.ts";

interface Outcome {
  readonly command: string;
  readonly printed: string;
  /** Exit code, or the signal that ended it. */
  readonly status: number | NodeJS.Signals;
}

ignoreClosedOutput();
const commands = process.argv.slice(2);
const running = new Set<ChildProcess>();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => giveUp(signal));

const failed: Outcome[] = [];
for (const outcome of commands.map(runCommand)) {
  const { command, printed, status } = await outcome;
  process.stdout.write(printed);
  if (status !== 0) failed.push({ command, printed, status });
}
for (const { command, status } of failed) process.stdout.write(`✖ failed (${status}): ${command}\n`);
if (failed.length > 0) process.exitCode = 1;

async function runCommand(command: string): Promise<Outcome> {
  const child = spawn("sh", ["-c", `exec 2>&1\n${command}`], {
    stdio: ["ignore", "pipe", "inherit"],
    detached: true, // a group of its own, which giveUp ends with all that the command started
  });
  running.add(child);
  const [printed, [code, signal]] = await Promise.all([
    text(child.stdout),
    once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>,
  ]);
  running.delete(child);
  return { command, printed, status: code ?? signal! };
}

/** Ends what runs, and this process as it was told to. */
function giveUp(signal: NodeJS.Signals): void {
  for (const { pid } of running) {
    try {
      process.kill(-pid!, signal);
    } catch {
      // It has just ended by itself.
    }
  }
  process.kill(process.pid, signal);
}
