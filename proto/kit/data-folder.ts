/** A process's folder for its data: made where it is missing, proven to take data before anything is opened in it. */

import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AppError, type ErrorCode, systemCode } from "./errors.ts";

/** What the system's refusals mean to whoever chose the folder. */
const REFUSALS: Readonly<Record<string, readonly [code: ErrorCode, meaning: string]>> = {
  ENOSPC: ["disk_full", "its disk is full; free space there"],
  EDQUOT: ["disk_full", "this user's share of its disk is used up; free space there"],
  EROFS: ["file_unreadable", "its disk can only be read"],
  EACCES: ["file_unreadable", "this user may not write there"],
  EPERM: ["file_unreadable", "this user may not write there"],
  ENOTDIR: ["file_unreadable", "a part of that path is a file"],
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
    const [code, meaning] = REFUSALS[systemCode(error)] ?? ["file_unreadable", (error as Error).message];
    throw new AppError(code, `cannot use ${path}: ${meaning}, or choose another ${choice}`, { cause: error });
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
