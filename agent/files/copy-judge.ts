/**
 * Decides whether a new file is the copy of one already read. Rotation by copy and truncation, or by compression,
 * creates such files, people copy files by hand, and programs may begin their files with the same lines. Repeating
 * lines is better than losing them: bytes are dropped only if the name, the bytes and the history show a copy. Decision
 * table: README.md.
 */

import { closeSync, constants, fstatSync, openSync } from "node:fs";
import type { Harvester } from "#agent/harvester/harvester.ts";
import { birthMsOf, HEAD_BYTES, sameHead } from "#agent/harvester/identity.ts";
import type { Registry } from "#agent/registry/registry.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type Candidate, CopyFinder, isNamedAfter, isNamedAsCopy, type Original } from "./copy-finder.ts";

export interface CopyJudgeOptions {
  readonly inputId: string;
  readonly registry: Pick<Registry, "get">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns where a file, named by its key, is; undefined if no scan since the start has found it. */
  readonly whereIs: (key: string) => Whereabouts | undefined;
}

/** What scans found of a file. Times are those of the file system, ms since 1970-01-01 UTC. */
export type Whereabouts =
  /** `path`: null if it was moved out of the patterns. */
  | { readonly isThere: true; readonly path: string | null }
  /** It was there until `seenMs` at least, and gone at `goneMs` at the latest. */
  | { readonly isThere: false; readonly seenMs: number; readonly goneMs: number };

/** A copy whose original isn't truncated within this time was made by hand. */
const COPY_HELD_MS = 10_000;
const COPIES_HELD_MAX = 10_000;
/** Precision of birth times in keys; a file born in the same tick as the deletion is younger. */
const PRECISION_MS = 1;

export class CopyJudge {
  readonly #options: CopyJudgeOptions;
  readonly #finder: CopyFinder;
  /** When copies were seen first whose original isn't truncated yet, by file key. */
  readonly #heldSinceMs = new Map<string, number>();

  constructor(options: CopyJudgeOptions) {
    this.#options = options;
    this.#finder = new CopyFinder(options.registry);
  }

  /** Records the fingerprints of a file; to be called whenever its row changes. */
  note(key: string, row: FileRow): void {
    this.#finder.note(key, row);
  }

  /** Forgets a file. */
  forget(key: string): void {
    this.#finder.forget(key);
    this.#heldSinceMs.delete(key);
  }

  /** See CopyFinder. */
  formerKey(key: string, path: string): string | null {
    return this.#finder.formerKey(key, path);
  }

  /**
   * Returns the row that a copy continues with, "other" for a file of its own, "wait" while that isn't clear. `others`:
   * open files, which may be originals.
   */
  judge(candidate: Candidate, others: Iterable<Harvester>): FileRow | "other" | "wait" {
    const { key } = candidate;
    const original = this.#finder.find(candidate);
    const verdict = original === null ? "other" : this.#compare(candidate, original, others);
    if (verdict !== "wait") this.#heldSinceMs.delete(key);
    else if (!this.#heldSinceMs.has(key)) {
      if (this.#heldSinceMs.size >= COPIES_HELD_MAX) return "other";
      this.#heldSinceMs.set(key, this.#options.clock.monotonic());
    }
    return verdict;
  }

  #compare(
    candidate: Candidate,
    original: Original,
    others: Iterable<Harvester>,
  ): FileRow | "other" | "wait" {
    const { generation, row, key } = original;
    const open = [...others].find((each) => each.key === key);
    if (generation.generation < row.generation) {
      const isSettled = open?.settled(generation.generation) ?? true;
      return isSettled ? this.#continued(candidate, original) : "wait";
    }
    const where = this.#options.whereIs(key);
    const path = where?.isThere === true ? where.path : null;
    const isShort = candidate.size < HEAD_BYTES && candidate.archive === null;
    if (isShort && (path === null || !isReplaced(path, row))) return "other";
    const sinceMs = this.#heldSinceMs.get(candidate.key);
    if (sinceMs === undefined) return "wait"; // the scan under way may still find the original, or its truncation
    const isOld = this.#options.clock.monotonic() - sinceMs > COPY_HELD_MS;
    if (where?.isThere === true)
      return isOld && this.#stays(candidate, original, open)
        ? this.#besideOriginal(candidate, original, path)
        : "wait";
    if (!wasCopied(candidate, original, where)) return "other";
    if (open !== undefined) return "wait";
    if (generation.offset <= candidate.size) return this.#continued(candidate, original);
    return isOld ? "other" : "wait";
  }

  /** True if the original won't be truncated because of this copy any more, and the content of both is acknowledged. */
  #stays({ size }: Candidate, { row }: Original, open: Harvester | undefined): boolean {
    const hasPassed = row.sent > size; // a program that truncates a file after copying it has copied all of it
    return hasPassed || open === undefined || (open.quiet && !open.deleted);
  }

  /**
   * Returns the row of a file beside its original: it continues after the original if it is named after it, else it
   * starts at 0.
   */
  #besideOriginal(
    candidate: Candidate,
    { row, generation, proven }: Original,
    path: string | null,
  ): FileRow | "other" {
    if (!proven || path === null || !isNamedAfter(path, candidate.path)) return "other";
    return this.#newRow(candidate, row.path, generation.offset);
  }

  /** Returns the row of a copy that continues under the name of its original, which was truncated or is gone. */
  #continued(candidate: Candidate, { row, generation }: Original): FileRow {
    const { source, committed, anchor, head, offset } = generation;
    const made = this.#newRow(candidate, row.path, Math.min(offset, candidate.size));
    return { ...made, source, committed: Math.min(committed, made.sent), anchor, head };
  }

  #newRow({ path }: Candidate, original: string, offset: number): FileRow {
    const { inputId, clock, log } = this.#options;
    log.info({ path, original, offset }, "file is the copy of one already read; continuing after that");
    return newRow(inputId, path, offset, clock.now());
  }
}

/**
 * Returns true if the file at `path` lost the bytes that were sent of it, and wasn't read since: it is shorter, or it
 * was truncated and has grown beyond that already, with another beginning.
 */
function isReplaced(path: string, { sent, head }: FileRow): boolean {
  try {
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      return fstatSync(fd).size < sent || !sameHead(fd, head);
    } finally {
      closeSync(fd);
    }
  } catch {
    return false; // it is gone, which the next scan finds
  }
}

/** Returns true if the candidate may have been made while the original, which is gone, was there. */
function wasCopied(
  { key, path, archive }: Candidate,
  { generation }: Original,
  where: { readonly seenMs: number; readonly goneMs: number } | undefined,
): boolean {
  const isMadeOfIt = archive !== null || isNamedAsCopy(path);
  if (where === undefined) return isMadeOfIt || generation.offset === 0;
  const bornMs = birthMsOf(key);
  if (bornMs === 0) return isMadeOfIt;
  return isMadeOfIt ? bornMs <= where.goneMs : bornMs < where.seenMs - PRECISION_MS;
}
