/**
 * Recognises a file that is the copy of one already read, such as log rotation by copy and truncation creates. Its
 * content must not arrive twice; lines written after the last read and before the truncation are only in the copy, and
 * must arrive.
 */

import { basename } from "node:path";
import type { ArchiveStat } from "#agent/harvester/archives.ts";
import { differsInDevice, sameBefore, sameHead } from "#agent/harvester/identity.ts";
import type { Registry } from "#agent/registry/registry.ts";
import { type EarlierGeneration, type FileRow, sourceOf } from "#agent/registry/row.ts";

/** The file that a new one was copied from. */
export interface Original {
  readonly key: string;
  readonly row: FileRow;
  /** The generation that was copied, and the offset up to which it is sent. */
  readonly generation: EarlierGeneration;
  /**
   * False if the first bytes are the same and nothing further can be compared yet: the copy is still being made, or too
   * little of the original is acknowledged.
   */
  readonly proven: boolean;
}

/** A new file, opened. */
export interface Candidate {
  readonly key: string;
  readonly path: string;
  readonly fd: number;
  /** Of its content. */
  readonly size: number;
  /** The file on disk if that is an archive of the content. */
  readonly archive: ArchiveStat | null;
}

/** Finds originals by the names that their copies have. */
export class CopyFinder {
  readonly #registry: Pick<Registry, "get">;
  /** The recorded paths and fingerprints of each file. */
  readonly #noted = new Map<string, Pick<FileRow, "path" | "earlier">>();
  readonly #keysByPath = new Map<string, Set<string>>();

  constructor(registry: Pick<Registry, "get">) {
    this.#registry = registry;
  }

  /** Records the paths that a file's contents had; to be called whenever its row changes. */
  note(key: string, { path, earlier }: FileRow): void {
    const before = this.#noted.get(key);
    if (before?.path === path && before.earlier === earlier) return;
    this.forget(key);
    this.#noted.set(key, { path, earlier });
    for (const each of pathsOf({ path, earlier })) {
      const keys = this.#keysByPath.get(each);
      if (keys === undefined) this.#keysByPath.set(each, new Set([key]));
      else keys.add(key);
    }
  }

  /** Forgets a file. */
  forget(key: string): void {
    const noted = this.#noted.get(key);
    if (noted === undefined) return;
    this.#noted.delete(key);
    for (const path of pathsOf(noted)) {
      const keys = this.#keysByPath.get(path);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByPath.delete(path);
    }
  }

  /** Returns the key that the file at `path` had while its device had another number; null if it had none. */
  formerKey(key: string, path: string): string | null {
    for (const each of this.#keysByPath.get(path) ?? [])
      if (differsInDevice(each, key) && this.#registry.get(each)?.path === path) return each;
    return null;
  }

  /**
   * Returns the file that `candidate` is a copy of, or may be one of, or null. Conditions: a name made from the
   * original's in the same folder, the same first bytes (up to 1,024, as many as were read of the original), and the
   * same bytes before the offset up to which the original was sent. Where that can't be compared, after a crash or a
   * loss of the hub's log, the result isn't proven.
   */
  find(candidate: Candidate): Original | null {
    let possible: Original | null = null;
    for (const path of originalsOf(candidate.path, candidate.archive !== null)) {
      for (const key of this.#keysByPath.get(path) ?? []) {
        const row = this.#registry.get(key);
        if (row === undefined || key === candidate.key) continue;
        const found = compare(candidate, path, key, row);
        if (found?.proven === true) return found;
        possible ??= found;
      }
    }
    return possible;
  }
}

/** Returns the paths that the contents of a file had. A file that was copied and truncated may be renamed afterwards. */
function pathsOf({ path, earlier }: Pick<FileRow, "path" | "earlier">): Set<string> {
  return new Set([path, ...earlier.map((each) => each.path)]);
}

/**
 * Returns the content that a file had at `path` and that the candidate's bytes match; proven content if there is some.
 */
function compare({ fd, size }: Candidate, path: string, key: string, row: FileRow): Original | null {
  let possible: Original | null = null;
  for (const generation of generations(key, row)) {
    if (generation.path !== path) continue;
    const { offset, anchor, head } = generation;
    const isCurrent = generation.generation === row.generation;
    if (head.bytes === 0 || head.bytes > size || !sameHead(fd, head)) continue;
    if (offset > size && !isCurrent) continue;
    const isComparable = offset >= head.bytes && anchor.bytes > 0 && offset <= size;
    if (isCurrent && !isComparable) possible ??= { key, row, generation, proven: false };
    else if (sameBefore(fd, offset, anchor)) return { key, row, generation, proven: true };
  }
  return possible;
}

function generations(key: string, row: FileRow): EarlierGeneration[] {
  const { generation, path, committed, anchor, head } = row;
  const source = sourceOf(key, row);
  return [{ generation, source, path, offset: row.sent, committed, anchor, head }, ...row.earlier];
}

/** A number or a date that rotation puts into a name. */
const STAMP = String.raw`\.\d{1,4}|[-_.]\d{6,}(?:[-_.T:]?\d+)*`;
const COMPRESSED = /\.(?:gz|zst|xz|bz2)$/;
/** Suffixes of a copy's name after its original's; rotation by renaming leaves no such names. */
const COPIED = String.raw`\.(?:bak|orig|copy|save)\d{0,3}|~`;
const NAMED_AS_COPY = new RegExp(`(?:${COPIED})$`);
/** Suffixes that rotation, compression and people append to a name. */
const SUFFIXES = new RegExp(
  String.raw`^(?:${STAMP}|${COPIED}|\.(?:gz|zst|xz|bz2)|\.(?:old|prev|last)\d{0,3})+$`,
);
/** Rotation that keeps the extension: app-20260101.log, app.1.log. */
const STAMPED = new RegExp(String.raw`^(.+?)(?:${STAMP})(\.[A-Za-z]\w*)$`);
/** app.log.3, which compression and one more rotation made of app.log.2. */
const NUMBERED = /^(.+\.)(\d{1,2})$/;

/**
 * Yields the paths that the file at `path` may be a copy of, by its name: app.log of app.log.1, app-20260101.log,
 * app.log.bak and app.1.log.gz. Names that only share a beginning aren't copies: run.1.log and run.2.log are two runs.
 */
function* originalsOf(path: string, isArchive: boolean): Generator<string> {
  const folder = path.slice(0, path.length - basename(path).length);
  const name = basename(path);
  for (let length = 1; length < name.length; length++)
    if (SUFFIXES.test(name.slice(length))) yield folder + name.slice(0, length);
  const plain = name.replace(COMPRESSED, "");
  const [, stem, extension] = STAMPED.exec(plain) ?? [];
  if (stem !== undefined) yield `${folder}${stem}${extension}`;
  const [, before, number] = isArchive ? (NUMBERED.exec(plain) ?? []) : [];
  for (let each = 1; each < Number(number ?? 0); each++) yield `${folder}${before}${each}`;
}

/** Returns true if a name marks the file as a copy: app.log.bak, app.log.copy2, app.log~. */
export function isNamedAsCopy(path: string): boolean {
  return NAMED_AS_COPY.test(path);
}

/** Returns true if a copy's name is that of its original with a suffix: app.log.1, app.log.bak. */
export function isNamedAfter(original: string, copy: string): boolean {
  return copy.length > original.length && copy.startsWith(original);
}
