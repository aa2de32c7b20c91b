/**
 * Processes that tests leave running: a hub that is killed leaves its nats-server, which has a process group of its own. All
 * inherit a mark in their environment, by which they are found and ended. Where there is no `/proc` none are found.
 */

import { readdirSync, readFileSync } from "node:fs";

/** Marks of the run and of those around it, with spaces between; a test of the runner starts a run within a run. */
export const MARKS = "TAILRACE_TEST_MARKS";

/** A process that ends starts no others once it has met its signal; more rounds than one find those it had just started. */
const ROUNDS = 10;
const ROUND_MS = 20;

/** Characters of a command line that a message shows. */
const SHOWN = 160;

/** Returns the variable's value for processes that are to have `mark` beside those of this process. */
export function withMark(mark: string): string {
  return `${process.env[MARKS] ?? ""} ${mark}`.trim();
}

/** Returns the pids of the other processes with a mark. */
export function marked(mark: string): number[] {
  return pids().filter((pid) => pid !== process.pid && marksOf(pid).includes(mark));
}

/** Ends the other processes with a mark at once, stopped ones too. Returns the command lines of those it found. */
export function endMarked(mark: string): string[] {
  const found = new Map<number, string>();
  for (let round = 0; round < ROUNDS; round++) {
    const running = marked(mark);
    if (running.length === 0) break;
    for (const pid of running) {
      found.set(pid, found.get(pid) ?? commandOf(pid));
      kill(pid);
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ROUND_MS);
  }
  return [...found.values()];
}

function pids(): number[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Returns the marks of a process; none of one that has ended, or belongs to another user. */
function marksOf(pid: number): string[] {
  const entry = read(`/proc/${pid}/environ`)
    .split("\0")
    .find((each) => each.startsWith(`${MARKS}=`));
  return entry?.slice(MARKS.length + 1).split(" ") ?? [];
}

function commandOf(pid: number): string {
  return read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim().slice(0, SHOWN);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has just ended by itself.
  }
}
