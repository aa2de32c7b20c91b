/** Inspects and ends processes of this machine. */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { Clock } from "#proto/kit/clock.ts";
import { systemCode } from "#proto/kit/errors.ts";

/** Polling interval while a process ends. */
const POLL_MS = 20;

/** Returns true while a process with this id exists (a zombie doesn't count). */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
  return !isZombie(pid);
}

/** Returns the arguments of a process, program first; empty when it doesn't exist or can't be inspected. */
export function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").slice(0, -1);
  } catch {
    return process.platform === "linux" ? [] : ps("args", pid).split(" ");
  }
}

/** Returns the ids of all processes; empty on systems without /proc. */
export function processIds(): number[] {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Ends `pid` with SIGTERM, after `graceMs` with SIGKILL, and resolves when it is gone. */
export async function endProcess(pid: number, graceMs: number, clock: Clock): Promise<void> {
  signal(pid, "SIGTERM");
  const deadline = clock.monotonic() + graceMs;
  while (isAlive(pid) && clock.monotonic() < deadline) await clock.sleep(POLL_MS);
  if (!isAlive(pid)) return;
  signal(pid, "SIGKILL");
  while (isAlive(pid)) await clock.sleep(POLL_MS);
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (systemCode(error) !== "ESRCH") throw error;
  }
}

function isZombie(pid: number): boolean {
  return statFields(pid)[0] === "Z";
}

/** Returns the fields of /proc/<pid>/stat after the name, which may itself hold blanks and brackets. */
function statFields(pid: number): string[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text.slice(text.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}

/** Slow path for systems without /proc. */
function ps(column: string, pid: number): string {
  try {
    return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
