/**
 * The known files of one input, by inode and by path. The system reuses inode numbers at once, so a file whose inode
 * was reused is kept beside the file that has it now: its row is still needed, because copies of it may not have been
 * read yet.
 */

import type { Stats } from "node:fs";
import type { Harvester } from "#agent/harvester/harvester.ts";
import { birthMsOf, inodeKey, inodeOf } from "#agent/harvester/identity.ts";

/** A file that some scan has found. */
export interface Entry {
  /** See `inodeKey`. */
  readonly inode: string;
  /** The same in numbers. */
  readonly dev: number;
  readonly ino: number;
  /**
   * Together with the inode it identifies the file; NaN for a file that is in the registry and that no scan has found.
   */
  readonly birthtimeMs: number;
  path: string;
  /** Its size when it was found last, bytes; 0 if that doesn't matter. */
  size: number;
  /** Key of the registry; empty until the file was opened once. */
  key: string;
  harvester: Harvester | null;
  /** Number of the last scan that found it. */
  scan: number;
  /**
   * Set for a file that isn't read, with its time of change; the file is examined again when that time changes.
   * `isOld`: it is too old by the clock, which may be set back. `againMs`: when it is examined again anyway, on the
   * monotonic clock.
   */
  passedOver: { readonly mtimeMs: number; readonly isOld?: boolean; readonly againMs?: number } | null;
  /** Since when scans don't find it, on the monotonic clock. */
  missingSinceMs: number | null;
  /** When it was last found and when it was found missing, by the file system's clock; null while scans find it. */
  gone: { readonly seenMs: number; readonly goneMs: number } | null;
}

/** Birth times of one file by a cheap stat and by its key differ by less, ms. */
const BIRTH_TOLERANCE_MS = 0.001;

export class FileIndex {
  readonly #entries = new Map<string, Entry>();
  readonly #byPath = new Map<string, Entry>();
  /** Files whose inode now belongs to another one, by key. */
  readonly #replaced = new Map<string, Entry>();

  /** Returns the file that has an inode now. */
  get(inode: string): Entry | undefined {
    return this.#entries.get(inode);
  }

  /** Returns the file `key`, even if its inode now belongs to another one. */
  byKey(key: string): Entry | undefined {
    const entry = this.#entries.get(inodeOf(key));
    return entry !== undefined && isFile(entry, key) ? entry : this.#replaced.get(key);
  }

  /**
   * Returns the file that a stat describes; avoids making the inode's text if it is the file that had the path before.
   */
  find(path: string, { dev, ino }: Pick<Stats, "dev" | "ino">): Entry | undefined {
    const before = this.#byPath.get(path);
    return before?.ino === ino && before.dev === dev ? before : this.#entries.get(inodeKey(dev, ino));
  }

  atPath(path: string): Entry | undefined {
    return this.#byPath.get(path);
  }

  *values(): Generator<Entry> {
    yield* this.#entries.values();
    yield* this.#replaced.values();
  }

  /** Adds a file. An open file keeps its inode, so an entry that is replaced here is a closed one. */
  add(entry: Entry): void {
    const before = this.#entries.get(entry.inode);
    if (before !== undefined) this.#unlink(before);
    if (before !== undefined && before.key !== "") this.#replaced.set(before.key, before);
    this.#entries.set(entry.inode, entry);
    this.#byPath.set(entry.path, entry);
  }

  /** Adds a file of which only the row is left: its inode belongs to another one. */
  addReplaced(entry: Entry): void {
    this.#replaced.set(entry.key, entry);
  }

  /** Records which file an entry is; it may be one that seemed to be gone. */
  identify(entry: Entry, key: string): void {
    entry.key = key;
    this.#replaced.delete(key);
  }

  /** Returns true if the inode of the file now belongs to another one: the file never comes back. */
  isReplaced(entry: Entry): boolean {
    return this.#replaced.get(entry.key) === entry;
  }

  /** Records the path under which a file was found. */
  move(entry: Entry, path: string): void {
    if (entry.path !== path) {
      this.#unlink(entry);
      entry.path = path; // another text for each search would have to be collected
    }
    if (this.#byPath.get(path) !== entry) this.#byPath.set(path, entry);
  }

  remove(entry: Entry): void {
    if (this.isReplaced(entry)) this.#replaced.delete(entry.key);
    if (this.#entries.get(entry.inode) === entry) this.#entries.delete(entry.inode);
    this.#unlink(entry);
  }

  #unlink(entry: Entry): void {
    if (this.#byPath.get(entry.path) === entry) this.#byPath.delete(entry.path);
  }
}

/** Returns true if the entry is the file `key`, though it may not have been opened yet. */
export function isFile({ key, birthtimeMs }: Pick<Entry, "key" | "birthtimeMs">, wanted: string): boolean {
  return key === "" ? bornAt(wanted, birthtimeMs) : key === wanted;
}

/** Returns true if the file `key` was born at this time, which a cheap stat returned. */
export function bornAt(key: string, birthtimeMs: number): boolean {
  return Math.abs(birthMsOf(key) - birthtimeMs) < BIRTH_TOLERANCE_MS;
}

/** Returns an entry for a file just found, or known from the registry. */
export function newEntry(inode: string, birthtimeMs: number, path: string, key: string, scan: number): Entry {
  const [dev = "", ino = ""] = inode.split("-");
  return {
    inode,
    dev: Number.parseInt(dev, 16),
    ino: Number.parseInt(ino, 16),
    birthtimeMs,
    path,
    size: 0,
    key,
    harvester: null,
    scan,
    passedOver: null,
    missingSinceMs: null,
    gone: null,
  };
}
