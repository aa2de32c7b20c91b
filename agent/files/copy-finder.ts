/**
 * Recognises a file that is the copy of one already read, as log rotation by copy and truncation leaves it.
 * Its content must not arrive twice; what was written after the last read and before the truncation stands
 * only in the copy and must arrive.
 */

import { basename, dirname } from "node:path";
import type { ArchiveStat } from "#agent/harvester/archives.ts";
import { HEAD_BYTES, readHead, sameBefore } from "#agent/harvester/identity.ts";
import type { Registry } from "#agent/registry/registry.ts";
import { type EarlierGeneration, type FileRow, sourceOf } from "#agent/registry/row.ts";

/** The file a new one was copied from. */
export interface Original {
  readonly key: string;
  readonly row: FileRow;
  /** The generation that was copied, and up to where it is sent. */
  readonly generation: EarlierGeneration;
  /**
   * False where the first bytes are the same and nothing further can be compared yet: the copy is still being
   * made, or too little of the original is acknowledged.
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
  /** The file on disk where that is an archive of the content. */
  readonly archive: ArchiveStat | null;
}

/** Finds originals by the fingerprint of their first bytes. */
export class CopyFinder {
  readonly #registry: Pick<Registry, "get">;
  readonly #keysByHead = new Map<string, Set<string>>();

  constructor(registry: Pick<Registry, "get">) {
    this.#registry = registry;
  }

  /** Notes the fingerprints of a file; to be called whenever its row changes. */
  note(key: string, row: FileRow): void {
    this.#noteHead(key, row.head);
    for (const { head } of row.earlier) this.#noteHead(key, head);
  }

  /** Forgets a file. */
  forget(key: string, row: FileRow): void {
    for (const { hash } of [row.head, ...row.earlier.map(({ head }) => head)]) {
      const keys = this.#keysByHead.get(hash);
      keys?.delete(key);
      if (keys?.size === 0) this.#keysByHead.delete(hash);
    }
  }

  /**
   * Returns the file that `candidate` is a copy of, or may be one of, or null. Asked for: a related name in the
   * same folder, the same first 1,024 bytes, and the same bytes before the place up to which the original was
   * sent; where that isn't known, after a crash or a loss of the hub's log, an original that was replaced
   * meanwhile must do. Files with less content are never taken for copies: repeating some lines is better than
   * losing them.
   */
  find(candidate: Candidate): Original | null {
    if (candidate.size < HEAD_BYTES || this.#keysByHead.size === 0) return null;
    const head = readHead(candidate.fd, HEAD_BYTES);
    let possible: Original | null = null;
    for (const key of this.#keysByHead.get(head.hash) ?? []) {
      const row = this.#registry.get(key);
      if (row === undefined || key === candidate.key || !related(row.path, candidate.path)) continue;
      for (const generation of generations(key, row)) {
        const { offset, anchor } = generation;
        const isCurrent = generation.generation === row.generation;
        if (generation.head.hash !== head.hash || (offset > candidate.size && !isCurrent)) continue;
        const isComparable = offset >= HEAD_BYTES && anchor.bytes > 0 && offset <= candidate.size;
        if (isCurrent && !isComparable) possible ??= { key, row, generation, proven: false };
        else if (sameBefore(candidate.fd, offset, anchor)) return { key, row, generation, proven: true };
      }
    }
    return possible;
  }

  #noteHead(key: string, head: FileRow["head"]): void {
    if (head.bytes < HEAD_BYTES) return;
    const keys = this.#keysByHead.get(head.hash);
    if (keys === undefined) this.#keysByHead.set(head.hash, new Set([key]));
    else keys.add(key);
  }
}

function generations(key: string, row: FileRow): EarlierGeneration[] {
  const { generation, committed, anchor, head } = row;
  const source = sourceOf(key, row);
  return [{ generation, source, offset: row.sent, committed, anchor, head }, ...row.earlier];
}

/** What rotation and compression put behind a name. */
const ROTATED = /(\.(gz|zst|xz|bz2)|\.\d{1,4}|[-_.]\d{6,}([-_.T:]?\d+)*)$/;
const EXTENSION = /(?<=.)\.[^.]*$/;

/** True for files of one folder whose names begin alike: app.log and app.log.1, app-20260101.log, app.copy.log. */
function related(original: string, copy: string): boolean {
  return dirname(original) === dirname(copy) && basename(copy).startsWith(stemOf(basename(original)));
}

/** app of app.log, of app.log.1.gz and of app-20260101.log; worker-1 of worker-1.log. */
function stemOf(name: string): string {
  let stem = name;
  while (ROTATED.test(stem.slice(1))) stem = stem.replace(ROTATED, "");
  stem = stem.replace(EXTENSION, "");
  while (ROTATED.test(stem.slice(1))) stem = stem.replace(ROTATED, "");
  return stem;
}

/** True where a copy says in its name what it is a copy of: app.log.1, app.log.bak. */
export function isNamedAfter(original: string, copy: string): boolean {
  return copy.length > original.length && copy.startsWith(original);
}
