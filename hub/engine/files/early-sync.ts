/**
 * Makes files durable while the thread continues. Writing a segment only copies it to the system's memory; the disk takes
 * longer. A commit that had to wait for the disk for all of its segments would hold the thread for that time, although
 * the disk was idle before.
 */

import { close, fsync, openSync } from "node:fs";

/** One file at a time for each thread: on a slow disk more would take all threads of the process's file access. */
let isRunning = false;

/**
 * Begins to make what is written of the file at `path` durable; false, having done nothing, while another one is being
 * made durable. The caller must sync it anyway: that waits for what is left, and throws what failed.
 */
export function beginSync(path: string): boolean {
  if (isRunning) return false;
  let fd: number;
  try {
    // Opened again, as the system reports a failure once to each opened file: the caller's sync reports it as well.
    fd = openSync(path, "r");
  } catch {
    return false; // the caller's sync does it all
  }
  isRunning = true;
  fsync(fd, () => {
    close(fd, () => {
      isRunning = false;
    });
  });
  return true;
}
