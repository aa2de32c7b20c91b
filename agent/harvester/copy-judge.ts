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
 * - A copy of a file that stays has a name of its own, and begins where it was the same.
 */

import type { Registry } from "#agent/registry/registry.ts";
import { type FileRow, newRow } from "#agent/registry/row.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import { type Candidate, CopyFinder, type Original } from "./copies.ts";
import type { Harvester } from "./harvester.ts";

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
    const original = this.#finder.find(candidate);
    const kind = original === null ? "other" : this.#kindOf(candidate, original, others);
    if (kind === "wait") return "wait";
    if (original !== null && kind === "copy") return this.#copyRow(candidate, original, others) ?? "wait";
    this.#heldSinceMs.delete(candidate.key);
    return "other";
  }

  /**
   * Tells whether a file that may be a copy is to be taken for one: "wait" while that may still be proven. An
   * original that is gone proves nothing any more; its name at the hub tells then what is a repeat.
   */
  #kindOf(
    { key, size }: Candidate,
    original: Original,
    others: Iterable<Harvester>,
  ): "copy" | "other" | "wait" {
    if (original.proven) return "copy";
    const now = this.#options.clock.monotonic();
    const sinceMs = this.#heldSinceMs.get(key);
    const open = [...others].find((each) => each.key === original.key);
    const isGone = open === undefined && !this.#options.isPresent(original.key);
    if (isGone && sinceMs !== undefined && original.generation.offset <= size) return "copy";
    if (sinceMs === undefined && this.#heldSinceMs.size >= COPIES_HELD_MAX) return "other";
    this.#heldSinceMs.set(key, sinceMs ?? now);
    const isAwaited = open !== undefined && !open.idle;
    return isAwaited || now - (sinceMs ?? now) <= COPY_HELD_MS ? "wait" : "other";
  }

  /**
   * Returns the row of a copy of a file already read: it goes on where that ended. Where the original was
   * truncated since or is gone, it goes on under the original's name, so that the hub knows what it has of it,
   * whatever a crash kept from being recorded. Null while it isn't settled what becomes of the original.
   */
  #copyRow(
    { key, path, size }: Candidate,
    { key: originalKey, row, generation }: Original,
    others: Iterable<Harvester>,
  ): FileRow | null {
    const { inputId, clock, log } = this.#options;
    const open = [...others].find((harvester) => harvester.key === originalKey);
    const truncated = generation.generation < row.generation;
    const now = clock.monotonic();
    const sinceMs = this.#heldSinceMs.get(key) ?? now;
    const seenBefore = this.#heldSinceMs.has(key);
    const isSettled = truncated
      ? (open?.settled(generation.generation) ?? true)
      : open === undefined && seenBefore;
    const covered = !truncated && now - sinceMs > COPY_HELD_MS && row.sent >= size;
    if (!isSettled && !covered) {
      if (this.#heldSinceMs.size < COPIES_HELD_MAX) this.#heldSinceMs.set(key, sinceMs);
      return null;
    }
    this.#heldSinceMs.delete(key);
    const offset = covered ? size : Math.min(generation.offset, size);
    log.info(
      { path, original: row.path, offset },
      "file is the copy of one already read; going on behind that",
    );
    const made = newRow(inputId, path, offset, clock.now());
    if (covered || (!truncated && this.#options.isPresent(originalKey))) return made;
    const { source, committed, anchor, head } = generation;
    return { ...made, source, committed: Math.min(committed, offset), anchor, head };
  }
}
