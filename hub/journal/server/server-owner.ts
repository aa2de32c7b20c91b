/**
 * Ownership of the server's data folder. A hub that was killed leaves its server running; the next hub must end that
 * server, and no other, before it starts its own on the same files.
 */

import { readFileSync } from "node:fs";
import type { Clock } from "#proto/kit/clock.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { commandLine, endProcess, isAlive, processIds } from "./processes.ts";

/** Time a server has to close its files before it is killed. */
export const STOP_GRACE_MS = 10_000;

export interface ServerFiles {
  /** Folder with all files of the server. */
  readonly folder: string;
  /** Path of the configuration; it is on the command line of every server of this folder. */
  readonly configFile: string;
  /** Written by the server. */
  readonly pidFile: string;
}

/**
 * Makes this process the owner of the folder and ends servers that a dead hub left. The caller releases the lock when
 * the server has ended. Throws data_locked when a living hub owns the folder.
 */
export async function takeOwnership(files: ServerFiles, log: Logger, clock: Clock): Promise<FolderLock> {
  const lock = FolderLock.acquire(files.folder, "owner");
  for (const pid of strayServers(files)) {
    log.warn({ pid }, "ending the nats-server left by an earlier hub");
    await endProcess(pid, STOP_GRACE_MS, clock);
  }
  return lock;
}

/**
 * Returns the ids of servers that were started with this folder's configuration. The whole command line must match,
 * so that no other process is ended, not even one that reused the id in the pid file.
 */
function strayServers({ configFile, pidFile }: ServerFiles): number[] {
  const candidates = new Set([readPid(pidFile), ...processIds()]);
  candidates.delete(process.pid);
  return [...candidates].filter((pid) => {
    return pid > 0 && commandLine(pid).slice(1).join(" ") === `-c ${configFile}` && isAlive(pid);
  });
}

/** Returns 0 when the file holds no id. */
function readPid(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}
