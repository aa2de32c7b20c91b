/**
 * Descriptors of files that were found and may not be read yet: copies that wait for their originals, files that wait
 * for their fields or for the file before them. A rotation may delete such a file meanwhile, and with it lines that exist nowhere else.
 */

import { closeSync, fstatSync, type Stats } from "node:fs";

/** Others are opened again by their paths. */
const HELD_MAX = 256;

export class HeldFiles {
  readonly #descriptors = new Map<string, number>();

  /** Takes `fd`, the file `key`, over. */
  keep(key: string, fd: number): void {
    if (this.#descriptors.size < HELD_MAX) this.#descriptors.set(key, fd);
    else closeSync(fd);
  }

  /** Gives the descriptor of a file back, or undefined if none is held. */
  take(key: string): number | undefined {
    const fd = this.#descriptors.get(key);
    this.#descriptors.delete(key);
    return fd;
  }

  /** Returns the stat of a file that is held, or null. */
  stat(key: string): Stats | null {
    const fd = this.#descriptors.get(key);
    return fd === undefined ? null : fstatSync(fd);
  }

  /** Closes what is held of a file. */
  forget(key: string): void {
    const fd = this.take(key);
    if (fd !== undefined) closeSync(fd);
  }

  /** Closes all. */
  clear(): void {
    for (const key of this.#descriptors.keys()) this.forget(key);
  }
}
