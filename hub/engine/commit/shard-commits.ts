/**
 * The files of a shard on disk: successive manifests, and the removal of files that no manifest needs any more. When a
 * shard is committed: hub/cluster/shards/shard-upkeep.ts.
 */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import { systemReason } from "#proto/kit/system-reason.ts";
import { type Manifest, writeManifest } from "./manifest.ts";
import type { ShardSegment } from "./shard-segment.ts";

/** Smaller segments delay a commit little, and a merge may replace them before it. */
const AHEAD_BYTES = 1024 * 1024;

/** Belongs to the shard's thread. */
export class ShardCommits {
  readonly #folder: string;
  /** Name of the index, for messages. */
  readonly #index: string;
  #generation: number;
  /** Files that the next commit won't name, and those that only the previous manifest names. */
  #obsolete: string[] = [];
  #fallbackOnly: string[] = [];

  /** `generation`: that of the newest manifest in `folder`, 0 for none. */
  constructor(folder: string, index: string, generation: number) {
    this.#folder = folder;
    this.#index = index;
    this.#generation = generation;
  }

  /** Of the newest manifest; 0 for none. */
  get generation(): number {
    return this.#generation;
  }

  /** Files are kept that the newest manifest doesn't name. */
  get keepsFallback(): boolean {
    return this.#fallbackOnly.length > 0;
  }

  /** Releases a segment; readers that have it keep it. Its files go after the next commits. */
  retire(segment: ShardSegment): void {
    this.#obsolete.push(...segment.fileNames());
    segment.release();
  }

  /** Begins to make a fresh segment durable where it is large, so that the next commit takes less time. */
  writeAhead(segment: ShardSegment): void {
    if (segment.imageBytes < AHEAD_BYTES) return;
    try {
      segment.writeAhead(this.#folder);
    } catch {
      // The segment stays in memory. The commit tries again and throws why it fails.
    }
  }

  /** Makes `segments` durable, then the manifest of the next generation that names them. Throws disk_full; try again. */
  write(segments: readonly ShardSegment[], manifest: (generation: number) => Manifest): void {
    try {
      for (const segment of segments) this.#obsolete.push(...segment.persist(this.#folder));
      writeManifest(this.#folder, manifest(this.#generation + 1));
    } catch (error) {
      throw this.failure(error);
    }
    this.#generation++;
    for (const name of this.#fallbackOnly) rmSync(join(this.#folder, name), { force: true });
    this.#fallbackOnly = this.#obsolete;
    this.#obsolete = [];
  }

  /** Why the shard's files can't be written. */
  failure(error: unknown): Error {
    return commitError(error, this.#index, this.#folder);
  }
}

/** Returns why the shard of `index` in `folder` can't be written: disk_full where the disk or its quota is full, else internal. */
function commitError(error: unknown, index: string, folder: string): AppError {
  if (error instanceof AppError) return error;
  if (systemCode(error) === "ENOSPC" || systemCode(error) === "EDQUOT") {
    const message = `the disk of ${folder} is full: the shard of [${index}] can't be written; free space or delete old indices`;
    return new AppError("disk_full", message, { cause: error });
  }
  if (systemCode(error) === "") return toAppError(error);
  const message = `the shard of [${index}] can't be written to ${folder}: ${systemReason(error)}`;
  return new AppError("internal", message, { cause: error });
}
