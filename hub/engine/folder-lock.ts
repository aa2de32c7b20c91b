/** One process at a time in a shard's folder: a lock file that names its owner, given up when the owner is gone. */

import { readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** Folders that this process holds. */
const held = new Set<string>();

/** Locks `folder` and returns what unlocks it. Throws data_locked. */
export function lockFolder(folder: string): () => void {
  const real = realpathSync(folder);
  const path = join(real, "lock");
  if (held.has(real)) throw locked(real, "this process");
  const owner = `${process.pid} ${startOf(process.pid)}\n`;
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, owner, { flag: "wx" });
      break;
    } catch (error) {
      if (systemCode(error) !== "EEXIST" || attempt > 1) throw error;
      const [pid = "", start = ""] = readOwner(path).trim().split(" ");
      if (pid !== String(process.pid) && isAlive(Number(pid), start)) throw locked(real, `process ${pid}`);
      rmSync(path, { force: true });
    }
  }
  held.add(real);
  return () => {
    if (held.delete(real)) rmSync(path, { force: true });
  };
}

function locked(folder: string, owner: string): AppError {
  return new AppError("data_locked", `${folder} is in use by ${owner}; stop it or choose another path.data`);
}

function readOwner(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** A process number may be given again, so the time the process started is compared as well. */
function isAlive(pid: number, start: string): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (systemCode(error) === "ESRCH") return false;
  }
  return start === "" || start === "-" || startOf(pid) === start;
}

/** Start of a process in clock ticks since boot, "-" where the system doesn't tell. */
function startOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name in parentheses may hold spaces; field 22 is the 20th behind it.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "-";
  } catch {
    return "-";
  }
}
