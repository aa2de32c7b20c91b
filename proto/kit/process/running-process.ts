/** Whether a process runs, and which one it is. */

import { readFileSync } from "node:fs";
import { systemCode } from "#proto/kit/errors.ts";

/**
 * Returns true while a process with this id runs, also another user's. A zombie doesn't count: in a container without an
 * init process it may never be reaped.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) !== "EPERM") return false;
  }
  return statFields(pid)[0] !== "Z";
}

/**
 * Returns the start time of a process in clock ticks since boot (proc(5), stat field 22), which another process with the
 * same id doesn't have; empty if there is none or the system doesn't provide it.
 */
export function startTicks(pid: number): string {
  return statFields(pid)[19] ?? "";
}

/** Returns the fields of /proc/<pid>/stat after the name, which may itself contain blanks and brackets. */
function statFields(pid: number): string[] {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return [];
  }
}
