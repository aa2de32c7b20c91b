/** Bytes of a file whose offset in it isn't known yet: kept in a file without a name until then, not in memory. */

import { closeSync, openSync, readSync, rmSync } from "node:fs";
import { AppError } from "#proto/kit/errors.ts";
import { writeFully } from "#proto/kit/files/files.ts";

/** Bytes that are read back at a time. */
const PIECE_BYTES = 256 * 1024;

/** `close` must be called. */
export class Spool {
  readonly #path: string;
  #fd: number | undefined;
  #sizeBytes = 0;

  /** `path`: where nothing is; the file loses its name as soon as it is open, so that it can't outlive the process. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Bytes written so far. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Appends bytes. Throws what writing throws. */
  write(bytes: Uint8Array): void {
    if (this.#fd === undefined) {
      this.#fd = openSync(this.#path, "wx+", 0o640);
      rmSync(this.#path, { force: true });
    }
    writeFully(this.#fd, bytes);
    this.#sizeBytes += bytes.length;
  }

  /** All bytes in order, each piece until the next one is asked for. */
  *pieces(): Generator<Uint8Array, void> {
    if (this.#fd === undefined) return;
    const room = new Uint8Array(Math.min(PIECE_BYTES, this.#sizeBytes));
    for (let at = 0; at < this.#sizeBytes; ) {
      const count = readSync(this.#fd, room, 0, Math.min(room.length, this.#sizeBytes - at), at);
      if (count === 0) throw new AppError("file_unreadable", `what was written to ${this.#path} is gone`);
      yield room.subarray(0, count);
      at += count;
    }
  }

  /** Gives the disk back. */
  close(): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
  }
}
