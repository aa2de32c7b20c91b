/** Atomic file writes: a file is either complete or missing. */

import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** Replaces `path` by `data`: temporary file, fsync, rename, fsync of the folder. A crash leaves the old or the new content. */
export function writeFileAtomic(path: string, data: string | Uint8Array, mode = 0o640): void {
  const temporary = `${path}.${randomBytes(4).toString("hex")}.tmp`;
  const bytes = typeof data === "string" ? Buffer.from(data) : data;
  const fd = openSync(temporary, "wx", mode);
  try {
    writeFully(fd, bytes);
    fsyncSync(fd);
  } catch (error) {
    closeSync(fd);
    rmSync(temporary, { force: true });
    throw error;
  }
  closeSync(fd);
  try {
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
  syncFolder(dirname(path));
}

/** Writes all of `bytes` at the file's position; a short write is continued. */
export function writeFully(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done);
}

/** Makes renames and creations in `folder` durable. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
