/**
 * Unread files that wait. Where the limit of open files is reached they are opened in the order in which they were
 * found, as soon as files that are read to their end are closed, without waiting for the next scan. Files that may not
 * be read yet (copies that wait for their originals, files that wait for their fields or for the file before them)
 * keep a descriptor: a rotation may delete them meanwhile, and with them lines that exist nowhere else.
 */

import { closeSync, fstatSync, type Stats } from "node:fs";
import type { RawPath } from "#agent/discovery/path.ts";
import type { Entry } from "./file-index.ts";

/** Others are opened again by their paths. */
const HELD_MAX = 256;

export class HeldFiles {
  readonly #descriptors = new Map<string, number>();

  /** Takes over `fd` of the file `key`. */
  keep(key: string, fd: number): void {
    if (this.#descriptors.size < HELD_MAX) this.#descriptors.set(key, fd);
    else closeSync(fd);
  }

  /** Returns the descriptor of a file, which then belongs to the caller; undefined if none is held. */
  take(key: string): number | undefined {
    const fd = this.#descriptors.get(key);
    this.#descriptors.delete(key);
    return fd;
  }

  /** Returns the stat of a file that is held, or null. */
  stat(key: string): Stats | null {
    const fd = this.#descriptors.get(key);
    try {
      return fd === undefined ? null : fstatSync(fd);
    } catch {
      this.forget(key); // its file server has lost it
      return null;
    }
  }

  /** Closes the descriptor of a file, if one is held. */
  forget(key: string): void {
    const fd = this.take(key);
    if (fd !== undefined) closeSync(fd);
  }

  /** Closes all. */
  clear(): void {
    for (const key of this.#descriptors.keys()) this.forget(key);
  }
}

export interface WaitingFilesOptions {
  /** Closes up to this many files that may be closed. */
  readonly freeCapacity: (wanted: number) => void;
  /** Returns true if another file may be opened. */
  readonly hasCapacity: () => boolean;
  /** Opens a file that may have changed or gone meanwhile. */
  readonly open: (entry: Entry, path: RawPath) => void;
}

/** Others are found again by the next search. */
const WAITING_MAX = 10_000;
/** Between two checks for a free descriptor: a file waits at least that long, and a check takes well under 1 ms. */
const LOOK_EVERY_MS = 50;
/** Opening takes 0.1 ms a file; between the portions the rest of the agent runs. */
const OPENED_AT_ONCE = 100;

export class WaitingFiles {
  readonly #options: WaitingFilesOptions;
  readonly #paths = new Map<Entry, RawPath>();
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: WaitingFilesOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#paths.size;
  }

  /** Adds a file after the others; one that waits already keeps its place in the queue. */
  add(entry: Entry, path: RawPath): void {
    if (this.#paths.size < WAITING_MAX || this.#paths.has(entry)) this.#paths.set(entry, path);
    this.#lookLater();
  }

  /** Opens no more files. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    if (!this.#stopped) this.#timer ??= setTimeout(() => this.#look(), LOOK_EVERY_MS);
  }

  #look(): void {
    const { freeCapacity, hasCapacity, open } = this.#options;
    this.#timer = undefined;
    freeCapacity(this.#paths.size);
    let left = OPENED_AT_ONCE;
    for (const [entry, path] of this.#paths) {
      if (left-- === 0 || !hasCapacity()) break;
      this.#paths.delete(entry);
      open(entry, path);
    }
    if (this.#paths.size > 0) this.#lookLater();
  }
}
