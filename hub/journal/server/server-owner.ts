/**
 * Who runs the server in a data folder. A hub that was killed leaves its server behind; the next hub must end
 * that one, and only that one, before it starts its own on the same files.
 */

import { readFileSync } from "node:fs";
import type { Clock } from "#proto/kit/clock.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { commandLine, endProcess, isAlive, processIds } from "./processes.ts";

/** How long a server gets to close its files before it is killed. */
export const STOP_GRACE_MS = 10_000;

export interface ServerFiles {
  /** The folder of all files of the server. */
  readonly folder: string;
  /** The server's configuration; its path is on the command line of every server of this folder. */
  readonly configFile: string;
  /** Written by the server. */
  readonly pidFile: string;
}

/**
 * Makes this process the owner of the folder and ends servers that a dead hub left. The lock must be released when
 * the server has ended. Throws data_locked where a living hub owns the folder.
 */
export async function takeOwnership(files: ServerFiles, log: Logger, clock: Clock): Promise<FolderLock> {
  const lock = FolderLock.acquire(files.folder, "owner");
  for (const pid of strayServers(files)) {
    log.warn({ pid }, "ending the nats-server that an earlier hub left behind");
    await endProcess(pid, STOP_GRACE_MS, clock);
  }
  return lock;
}

/**
 * Ids of servers that were started with this folder's configuration. The whole command line must match, so that
 * no other server is met, not even one that got the id written in the pid file.
 */
function strayServers({ configFile, pidFile }: ServerFiles): number[] {
  const candidates = new Set([readPid(pidFile), ...processIds()]);
  candidates.delete(process.pid);
  return [...candidates].filter((pid) => {
    return pid > 0 && commandLine(pid).slice(1).join(" ") === `-c ${configFile}` && isAlive(pid);
  });
}

/** 0 where the file has none. */
function readPid(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}
