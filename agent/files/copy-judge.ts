/**
 * Decides what a file is that looks like the copy of one already read: rotation by copy and truncation, or by
 * compression, leaves such files, people make them by hand, and programs begin their files with the same lines.
 *
 * What holds, whatever is truncated, deleted, killed or lost meanwhile:
 * - A copy must not be read while it can still be proven to be one: it waits, `held`.
 * - A copy of content that was truncated or deleted goes on under that content's name at the hub, from a place that is
 *   acknowledged at most: the hub drops what it has of it, so nothing arrives twice and nothing is missed.
 * - For that the original's row must outlive its file by some time, though its inode is another file's at once. Files
 *   are compared by their keys therefore, never by inodes.
 * - A file beside one that stays is never taken for its copy, but where its name says so: nothing else
 *   distinguishes two programs that print the same, and repeating lines is better than losing them.
 */

import type { Harvester } from "#agent/harvester/harvester.ts";
import type { Registry } from "#agent/registry/registry.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type Candidate, CopyFinder, isNamedAfter, type Original } from "./copy-finder.ts";

export interface CopyJudgeOptions {
  readonly inputId: string;
  readonly registry: Pick<Registry, "get">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Returns true for a file, named by its key, that the last search found. */
  readonly isPresent: (key: string) => boolean;
}

/** A copy whose original isn't truncated within this time was made by hand. */
const COPY_HELD_MS = 10_000;
const COPIES_HELD_MAX = 10_000;

export class CopyJudge {
  readonly #options: CopyJudgeOptions;
  readonly #finder: CopyFinder;
  /** When copies were seen first whose original isn't truncated yet, by file key. */
  readonly #heldSinceMs = new Map<string, number>();

  constructor(options: CopyJudgeOptions) {
    this.#options = options;
    this.#finder = new CopyFinder(options.registry);
  }

  /** Notes the fingerprints of a file; to be called whenever its row changes. */
  note(key: string, row: FileRow): void {
    this.#finder.note(key, row);
  }

  /** Forgets a file. `row`: what the registry had of it. */
  forget(key: string, row: FileRow | undefined): void {
    if (row !== undefined) this.#finder.forget(key, row);
    this.#heldSinceMs.delete(key);
  }

  /**
   * Returns the row that a copy goes on with, "other" for a file of its own, "wait" while that isn't clear. `others`:
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
    const sinceMs = this.#heldSinceMs.get(candidate.key);
    if (sinceMs === undefined) return "wait"; // the search under way may still find the original, or its truncation
    const isOld = this.#options.clock.monotonic() - sinceMs > COPY_HELD_MS;
    if (open !== undefined || this.#options.isPresent(key))
      return isOld && this.#stays(candidate, original, open) ? this.#besideIt(candidate, original) : "wait";
    // What has its path and no more in it was written anew: no rotation leaves a copy there.
    if (candidate.path === row.path && generation.offset >= candidate.size) return "other";
    // A file that is gone proves nothing; the hub drops repeats by the content's name.
    if (generation.offset <= candidate.size) return this.#continued(candidate, original);
    return isOld ? "other" : "wait";
  }

  /** True where the original won't be truncated because of this copy any more, and all that both have is acknowledged. */
  #stays({ size }: Candidate, { row }: Original, open: Harvester | undefined): boolean {
    const hasPassed = row.sent > size; // whoever truncates a file behind its copy has copied all of it
    return hasPassed || open === undefined || (open.quiet && !open.deleted);
  }

  /** Returns the row of a file beside its original: behind that where it is named after it, from its start otherwise. */
  #besideIt(candidate: Candidate, { row, generation, proven }: Original): FileRow | "other" {
    if (!proven || !isNamedAfter(row.path, candidate.path)) return "other";
    return this.#newRow(candidate, row.path, generation.offset);
  }

  /** Returns the row of a copy that goes on under the name of its original, which was truncated or is gone. */
  #continued(candidate: Candidate, { row, generation }: Original): FileRow {
    const { source, committed, anchor, head, offset } = generation;
    const made = this.#newRow(candidate, row.path, Math.min(offset, candidate.size));
    return { ...made, source, committed: Math.min(committed, made.sent), anchor, head };
  }

  #newRow({ path }: Candidate, original: string, offset: number): FileRow {
    const { inputId, clock, log } = this.#options;
    log.info({ path, original, offset }, "file is the copy of one already read; going on behind that");
    return newRow(inputId, path, offset, clock.now());
  }
}
