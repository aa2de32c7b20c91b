/**
 * Where small tests make their files: in memory, as syncing files to a disk is a quarter of the CPU time of cluster's
 * tests, and half of the time that they take.
 */

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Type of a file system in memory (`TMPFS_MAGIC` of statfs(2)). */
const TMPFS = 0x01_02_19_94;

/** Containers often give 64 MiB, which the indices of several tests could fill. Bytes. */
const MIN_FREE_BYTES = 2 * 1024 ** 3;

/**
 * Returns `folder` if it is in memory, has enough space and lets programs be started from it, as tests plant some;
 * otherwise undefined.
 */
export function memoryFolder(folder = "/dev/shm"): string | undefined {
  try {
    const { type, bavail, bsize } = statfsSync(folder);
    return type === TMPFS && bavail * bsize >= MIN_FREE_BYTES && startsPrograms(folder) ? folder : undefined;
  } catch {
    // The system has none, or it can't be written to.
    return undefined;
  }
}

/** A file system that is mounted with `noexec` doesn't. */
function startsPrograms(folder: string): boolean {
  const own = mkdtempSync(join(folder, "tailrace-memory-"));
  try {
    const program = join(own, "program");
    writeFileSync(program, "#!/bin/sh\n", { mode: 0o700 });
    return spawnSync(program).status === 0;
  } finally {
    rmSync(own, { recursive: true });
  }
}
