/** A file system of its own, in memory, that a test fills and empties. */

import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";
import { MIB } from "#proto/kit/units.ts";
import type { Workspace } from "./workspace.ts";

/** Why a test without such a disk is skipped. */
export const NO_SMALL_DISK = "mounting a file system isn't allowed here";

export class SmallDisk {
  readonly folder: string;
  readonly #ballast: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.#ballast = join(folder, "ballast");
  }

  /** Mounts it at `folder` until the workspace is closed. Returns undefined where that isn't allowed. */
  static mount(folder: string, sizeBytes: number, workspace: Workspace): SmallDisk | undefined {
    mkdirSync(folder, { recursive: true });
    try {
      const options = ["-t", "tmpfs", "-o", `size=${sizeBytes}`, "tmpfs", folder];
      execFileSync("mount", options, { stdio: "ignore" });
    } catch {
      return undefined;
    }
    workspace.defer(() => execFileSync("umount", ["-l", folder]));
    return new SmallDisk(folder);
  }

  get freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  /** Writes a file until `leftBytes` are free, or to the last byte. A file that others write meanwhile may fail first. */
  fill(leftBytes = 0): void {
    const file = openSync(this.#ballast, "a");
    try {
      for (let size = MIB; size >= 1 && this.freeBytes > leftBytes; )
        try {
          writeSync(file, Buffer.alloc(Math.min(size, this.freeBytes - leftBytes), 1));
        } catch {
          size = Math.floor(size / 2);
        }
    } finally {
      closeSync(file);
    }
  }

  /** Removes what `fill` wrote. */
  empty(): void {
    rmSync(this.#ballast, { force: true });
  }
}
