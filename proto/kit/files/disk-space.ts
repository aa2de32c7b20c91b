/** Free space of disks. */

import { statfsSync } from "node:fs";

/** Returns the bytes that this user may still write to the disk of `folder`. Throws where it doesn't exist. */
export function freeDiskBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
