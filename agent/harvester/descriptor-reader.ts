/**
 * Reads an open file at given offsets. A block in the page cache takes 30 µs, and a call to the thread pool takes as
 * long; so files on a local disk are read on the event loop's thread while that is fast. Slow disks and network file
 * systems are read by the pool.
 */

import { read as readCallback, readSync, statfsSync } from "node:fs";
import type { RawPath } from "#agent/discovery/path.ts";

/** A longer read went to the disk, or to a busy one, ms. */
const SLOW_MS = 5;
/** Reads by the pool after a slow one: together they take far longer than the next one in the loop's thread. */
const POOLED_READS = 64;

/**
 * `f_type` of file systems on disks and in memory of this machine (statfs(2), linux/magic.h): ext2 to ext4, xfs,
 * btrfs, f2fs, zfs, overlay, tmpfs, ramfs.
 */
const NEAR_TYPES: ReadonlySet<number> = new Set([
  0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x2fc12fc1, 0x794c7630, 0x01021994, 0x858458f6,
]);

/** Returns true if a path is on a disk or in memory of this machine; false if that can't be determined. */
export function isNear(path: RawPath): boolean {
  try {
    return NEAR_TYPES.has(statfsSync(path).type);
  } catch {
    return false;
  }
}

export class DescriptorReader {
  readonly #fd: number;
  readonly #near: boolean;
  #pooledLeft = 0;

  constructor(fd: number, near: boolean) {
    this.#fd = fd;
    this.#near = near;
  }

  /**
   * Reads `length` bytes at `position` into `buffer` from `at` on; fewer only at the file's end. Throws the system's
   * error.
   */
  async read(buffer: Buffer, at: number, length: number, position: number): Promise<number> {
    let done = 0;
    while (done < length) {
      const bytes = await this.#once(buffer, at + done, length - done, position + done);
      if (bytes === 0) break;
      done += bytes;
    }
    return done;
  }

  #once(buffer: Buffer, at: number, length: number, position: number): number | Promise<number> {
    if (!this.#near || this.#pooledLeft > 0) {
      this.#pooledLeft--;
      return readByPool(this.#fd, buffer, at, length, position);
    }
    const beganMs = performance.now();
    const bytes = readSync(this.#fd, buffer, at, length, position);
    if (performance.now() - beganMs > SLOW_MS) this.#pooledLeft = POOLED_READS;
    return bytes;
  }
}

function readByPool(
  fd: number,
  buffer: Buffer,
  at: number,
  length: number,
  position: number,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  readCallback(fd, buffer, at, length, position, (error, bytes) =>
    error === null ? resolve(bytes) : reject(error),
  );
  return promise;
}
