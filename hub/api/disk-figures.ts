/** Space of the disk that the hub's data is on. */

import { statfsSync } from "node:fs";

/** Bytes. */
export interface DiskFigures {
  readonly total_in_bytes: number;
  readonly free_in_bytes: number;
  /** Without what is kept for root. */
  readonly available_in_bytes: number;
}

/** Figures of the file system that `folder` lies in. */
export function diskFigures(folder: string): DiskFigures {
  const { bsize, blocks, bfree, bavail } = statfsSync(folder);
  return { total_in_bytes: blocks * bsize, free_in_bytes: bfree * bsize, available_in_bytes: bavail * bsize };
}
