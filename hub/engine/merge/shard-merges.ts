/** The merges of a shard, one at a time: which are worth it, their slices, the place that their results take. */

import { setImmediate } from "node:timers/promises";
import type { ShardSegment } from "#hub/engine/commit/shard-segment.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { chooseMerge } from "./merge-policy.ts";
import { MergeTask } from "./merge-task.ts";

/** The segments that are merged. */
export interface MergedSegments {
  /** Oldest documents first; replaced where a merge has ended. */
  segments: ShardSegment[];
  /** Returns the name of the segment to be made. */
  newName(): string;
}

/** See the file's comment. Belongs to the shard's thread. */
export class ShardMerges {
  readonly #folder: string;
  readonly #documents: MergedSegments;
  readonly #merged: (inputs: readonly ShardSegment[]) => void;
  #task: MergeTask | null = null;
  #isClosed = false;

  /** `merged` takes the segments in whose place another one is now. */
  constructor(folder: string, documents: MergedSegments, merged: (inputs: readonly ShardSegment[]) => void) {
    this.#folder = folder;
    this.#documents = documents;
    this.#merged = merged;
  }

  /** True where the merge at hand reads a segment. */
  uses(segment: ShardSegment): boolean {
    return this.#task?.uses(segment) ?? false;
  }

  /** Does a slice of work (a few ms), of a new merge where one is worth it; true where there is more. Throws what writing throws. */
  step(): boolean {
    if (this.#task !== null) return this.#step(this.#task);
    const chosen = chooseMerge(this.#documents.segments);
    return chosen.length > 0 && this.#step(this.#start(chosen));
  }

  /** Merges until there are at most `maxSegments`, at least one, giving way to other work between slices. */
  async force(maxSegments: number): Promise<void> {
    const kept = Math.max(1, maxSegments);
    await this.#end();
    while (!this.#isClosed && this.#documents.segments.length > kept) {
      this.#start(this.#documents.segments.slice(kept - 1));
      await this.#end();
    }
  }

  /** Gives up the merge at hand for good, and removes what it wrote. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    this.#task?.abandon();
    this.#task = null;
  }

  #start(inputs: readonly ShardSegment[], usesKernel = true): MergeTask {
    this.#task = new MergeTask(this.#folder, this.#documents.newName(), inputs, usesKernel);
    return this.#task;
  }

  async #end(): Promise<void> {
    while (this.#task !== null) {
      this.#step(this.#task);
      await setImmediate();
    }
  }

  /** One slice of the merge at hand; true where there is more to do, of it or of another. */
  #step(task: MergeTask): boolean {
    const documents = this.#documents;
    try {
      if (!task.step()) return true;
    } catch (error) {
      this.#task = null;
      task.abandon();
      if (!task.usesKernel || toAppError(error).code !== "memory_limit") throw error;
      // Slower, and without a memory of its own that can be too small.
      this.#start(task.inputs, false);
      return true;
    }
    this.#task = null;
    const merged = task.finish();
    const at = documents.segments.indexOf(task.inputs[0]!);
    documents.segments = documents.segments.filter((entry) => !task.inputs.includes(entry));
    if (merged !== null) documents.segments.splice(at, 0, merged);
    this.#merged(task.inputs);
    return chooseMerge(documents.segments).length > 0;
  }
}
