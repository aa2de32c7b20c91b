/** Space of the disk that the hub's data is on. */

import { readFileSync, realpathSync, statfsSync } from "node:fs";

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

/** Where a file system hangs, and of what type it is ("ext4"); empty where the system doesn't tell. */
export interface Mount {
  readonly mount?: string;
  readonly type?: string;
}

/** Returns the mount that `folder` lies in. */
export function mountOf(folder: string): Mount {
  try {
    const path = `${realpathSync(folder)}/`;
    const mounts = readFileSync("/proc/self/mounts", "utf8").split("\n");
    const within = mounts
      .map((line) => line.split(" "))
      .filter(([, mount = ""]) => path.startsWith(mount === "/" ? mount : `${mount}/`))
      .map(([, mount = "", type = ""]) => ({ mount, type }));
    return within.reduce((best, each) => (each.mount.length >= best.mount.length ? each : best), {
      mount: "",
      type: "",
    });
  } catch {
    return {};
  }
}
