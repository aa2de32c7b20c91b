/**
 * Ownership of the server's data folder, and the processes of this machine. A hub that was killed leaves its server
 * running; the next hub must end that server, and no other, before it starts its own on the same files.
 */

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import type { Clock } from "#proto/kit/clock.ts";
import { systemCode } from "#proto/kit/errors.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { isAlive } from "#proto/kit/process/running-process.ts";

/** Time a server has to close its files before it is killed; shorter than the deadline of a component's stop. */
export const STOP_GRACE_MS = 8_000;

export interface ServerFiles {
  /** Folder with all files of the server. */
  readonly folder: string;
  /** Path of the configuration; it is on the command line of every server of this folder. */
  readonly configFile: string;
  /** Written by the server. */
  readonly pidFile: string;
}

/**
 * Makes this process the owner of the folder and ends servers that a dead hub left. The caller releases the lock when the
 * server has ended. Throws data_locked if a running hub owns the folder.
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
 * Returns the ids of servers that were started with a configuration in this folder or below it: a growing hub runs a second
 * server below it, on its former store. The whole command line must match, so that no other process is ended, not even one
 * that reused the id in the pid file.
 */
function strayServers({ folder, configFile, pidFile }: ServerFiles): number[] {
  const candidates = new Set([readPid(pidFile), ...processIds()]);
  candidates.delete(process.pid);
  return [...candidates].filter((pid) => {
    const given = commandLine(pid).slice(1).join(" ");
    const isOwn = given.startsWith(`-c ${folder}/`) && given.endsWith(`/${basename(configFile)}`);
    return pid > 0 && isOwn && isAlive(pid);
  });
}

/** Returns 0 if the file contains no id. */
function readPid(path: string): number {
  try {
    return Number.parseInt(readFileSync(path, "utf8"), 10) || 0;
  } catch {
    return 0;
  }
}

/** Polling interval while a process ends. */
const POLL_MS = 20;

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

/** Slow path for systems without /proc. */
function ps(column: string, pid: number): string {
  try {
    return execFileSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).trim();
  } catch {
    return "";
  }
}
