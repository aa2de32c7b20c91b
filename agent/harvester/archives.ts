/**
 * Unpacks gzip archives of rotated logs, one after the other, into files without a name, which are read like others:
 * offsets are those of the unpacked content, so an archive is recognised as a copy of its log. A killed agent leaves
 * no files and unpacks again.
 */

import {
  closeSync,
  createReadStream,
  fstatSync,
  openSync,
  readSync,
  rmSync,
  type Stats,
  writeSync,
} from "node:fs";
import { statfs } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** An archive as stored on disk. */
export interface ArchiveStat {
  readonly size: number;
  readonly mtimeMs: number;
}

/** Its content; the caller that takes it closes it or gives it back. */
export interface Unpacked {
  readonly fd: number;
  readonly size: number;
}

const GZIP_MAGIC = Buffer.of(0x1f, 0x8b);
/** Unpacked archives that wait to be read; others stay packed. */
const READY_MAX = 2;
/** The content may take this share of the free space on the disk of the agent's data. */
const DISK_SHARE = 0.5;

/** Returns true if the file begins as gzip does. */
export function isArchive(fd: number): boolean {
  const head = Buffer.alloc(GZIP_MAGIC.length);
  return readSync(fd, head, 0, head.length, 0) === head.length && head.equals(GZIP_MAGIC);
}

/** An archive that is being unpacked. */
interface Unpacking {
  readonly key: string;
  readonly stat: Stats;
  readonly done: Promise<void>;
}

export class Archives {
  readonly #folder: string;
  readonly #ready = new Map<string, Unpacked>();
  readonly #failed = new Map<string, AppError>();
  readonly #stop = new AbortController();
  #unpacking: Unpacking | undefined;
  #count = 0;

  /** `folder`: where the content is stored, in files without a name. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Returns the stat of an archive that is being unpacked or whose content is held; null for others. */
  stat(key: string): Stats | null {
    const ready = this.#ready.get(key);
    if (ready !== undefined) return fstatSync(ready.fd);
    return this.#unpacking?.key === key ? this.#unpacking.stat : null;
  }

  /** Returns the content of the archive `key` if it is unpacked. Throws file_unreadable once if it can't be. */
  take(key: string): Unpacked | null {
    const ready = this.#ready.get(key);
    const failure = this.#failed.get(key);
    this.#ready.delete(key);
    this.#failed.delete(key);
    if (failure !== undefined) throw failure;
    return ready ?? null;
  }

  /** Unpacks the archive `key` and takes `fd` over; returns false, and does nothing, while others must come first. */
  start(key: string, fd: number): boolean {
    if (this.#unpacking !== undefined || this.#ready.size >= READY_MAX || this.#stop.signal.aborted)
      return false;
    const stat = fstatSync(fd);
    const done = this.#unpack(fd)
      .then((unpacked) => this.giveBack(key, unpacked))
      .catch((error: unknown) => void this.#failed.set(key, unreadable(error)))
      .finally(() => (this.#unpacking = undefined));
    this.#unpacking = { key, stat, done };
    return true;
  }

  /** Keeps content that can't be read yet. */
  giveBack(key: string, unpacked: Unpacked): void {
    if (this.#stop.signal.aborted) closeSync(unpacked.fd);
    else this.#ready.set(key, unpacked);
  }

  /** Drops the content of an archive that is gone. */
  forget(key: string): void {
    const ready = this.#ready.get(key);
    if (ready !== undefined) closeSync(ready.fd);
    this.#ready.delete(key);
    this.#failed.delete(key);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#unpacking?.done;
    for (const key of this.#ready.keys()) this.forget(key);
  }

  async #unpack(archive: number): Promise<Unpacked> {
    const source = createReadStream("", { fd: archive, start: 0 });
    const path = join(this.#folder, `unpacked.${process.pid}.${this.#count++}`);
    const fd = openSync(path, "wx+", 0o600);
    rmSync(path);
    try {
      const { bavail, bsize } = await statfs(this.#folder);
      const mostBytes = bavail * bsize * DISK_SHARE;
      const write = (chunks: AsyncIterable<Buffer>): Promise<void> => writeAll(chunks, fd, mostBytes);
      await pipeline(source, createGunzip(), write, { signal: this.#stop.signal });
      return { fd, size: fstatSync(fd).size };
    } catch (error) {
      source.destroy();
      closeSync(fd);
      throw error;
    }
  }
}

/** Writes the chunks one after another; throws where they are longer than `mostBytes`. */
async function writeAll(chunks: AsyncIterable<Buffer>, fd: number, mostBytes: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    if (bytes + chunk.length > mostBytes)
      throw new Error("its content would use more than half of the free disk space");
    for (let at = 0; at < chunk.length; ) at += writeSync(fd, chunk, at);
    bytes += chunk.length;
  }
}

function unreadable(error: unknown): AppError {
  const reason = (error as Error).message;
  const again = isBroken(error) ? "when it changes" : "later";
  return new AppError("file_unreadable", `the archive can't be unpacked: ${reason}; looking again ${again}`, {
    cause: error,
  });
}

/** Returns true for an error of the archive's content, which only a change of it can cure. */
export function isBroken(error: unknown): boolean {
  const { cause = error } = error as Error;
  return systemCode(cause).startsWith("Z_");
}
