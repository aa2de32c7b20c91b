/** A process's data folder: created if it is missing, and tested for write access before anything in it is opened. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join, resolve } from "node:path";
import { AppError, type ErrorCode, systemCode } from "#proto/kit/errors.ts";

/** A system error explained to the operator, with the remedy; `{give}` is the command that changes the folder's owner. */
interface Refusal {
  readonly code: ErrorCode;
  readonly reason: string;
  readonly remedy: string;
}

const NOT_WRITABLE: Refusal = {
  code: "file_unreadable",
  reason: "this user may not write there",
  remedy: "make it this user's (sudo {give}) or ",
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  ENOSPC: { code: "disk_full", reason: "its disk is full", remedy: "free space there or " },
  EDQUOT: {
    code: "disk_full",
    reason: "this user's share of its disk is used up",
    remedy: "free space there or ",
  },
  EROFS: {
    code: "file_unreadable",
    reason: "its disk can only be read",
    remedy: "mount it for writing or ",
  },
  EACCES: NOT_WRITABLE,
  EPERM: NOT_WRITABLE,
  ENOTDIR: { code: "file_unreadable", reason: "a part of that path is a file", remedy: "" },
};

/** Who may look into a data folder: its user and, for backups, its group. */
const MODE = 0o750;

/**
 * Makes `folder` where it is missing, writes `neededBytes` to it and removes them. Throws disk_full or file_unreadable
 * with what to do, so that a full disk is never taken for damaged data. `choice` is what the user sets the folder with.
 */
export function openDataFolder(folder: string, neededBytes: number, choice = "path.data"): void {
  const path = resolve(folder);
  const probe = join(path, ".probe");
  try {
    makeFolder(path);
    writeFileSync(probe, Buffer.alloc(neededBytes), { mode: 0o600 });
  } catch (error) {
    const { code, reason, remedy } = REFUSALS[systemCode(error)] ?? {
      code: "file_unreadable",
      reason: (error as Error).message,
      remedy: "",
    };
    const user = thisUser();
    const give = existsSync(path) ? `chown -R ${user} ${path}` : `install -d -o ${user} ${path}`;
    const steps = remedy.replace("{give}", give);
    throw new AppError(code, `cannot use ${path}: ${reason}; ${steps}choose another ${choice}`, {
      cause: error,
    });
  } finally {
    if (existsSync(probe)) rmSync(probe);
  }
}

/** Parents first and one by one: Node's recursive form never returns in file systems that refuse new folders as /proc does. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path, { mode: MODE });
}

/** Name of the process's user, or its number where no list of users has it, as in some containers. */
function thisUser(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.());
  }
}
