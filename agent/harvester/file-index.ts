/** The files that scans have found, by inode and by path. */

import type { Harvester } from "./harvester.ts";

/** A file that some scan has found. */
export interface Entry {
  /** "<dev>-<inode>". */
  readonly inode: string;
  /** With the inode it names the file; NaN for one the registry knows and no scan has found. */
  readonly birthtimeMs: number;
  path: string;
  /** Key of the registry; empty until the file was opened once. */
  key: string;
  harvester: Harvester | null;
  /** Number of the last scan that found it. */
  scan: number;
  /** Set where it isn't read, with the time of change it had; looked at again when that moves. */
  passedOver: { readonly mtimeMs: number } | null;
  /** Since when no scan finds it, on the monotonic clock. */
  missingSinceMs: number | null;
}

export class FileIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #byPath = new Map<string, Entry>();

  get(inode: string): Entry | undefined {
    return this.#entries.get(inode);
  }

  atPath(path: string): Entry | undefined {
    return this.#byPath.get(path);
  }

  values(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  /** Adds a file. An open file keeps its inode, so an entry that is replaced here is a closed one. */
  add(entry: Entry): void {
    const before = this.#entries.get(entry.inode);
    if (before !== undefined) this.#unlink(before);
    this.#entries.set(entry.inode, entry);
    this.#byPath.set(entry.path, entry);
  }

  /** Notes the path under which a file was found. */
  move(entry: Entry, path: string): void {
    if (entry.path !== path) this.#unlink(entry);
    entry.path = path;
    this.#byPath.set(path, entry);
  }

  remove(entry: Entry): void {
    this.#entries.delete(entry.inode);
    this.#unlink(entry);
  }

  #unlink(entry: Entry): void {
    if (this.#byPath.get(entry.path) === entry) this.#byPath.delete(entry.path);
  }
}

/** Returns an entry for a file just found, or known from the registry. */
export function newEntry(inode: string, birthtimeMs: number, path: string, key: string, scan: number): Entry {
  return { inode, birthtimeMs, path, key, harvester: null, scan, passedOver: null, missingSinceMs: null };
}
