/** The merges of a shard, one at a time: the choice of segments, the slices of a merge, and the use of its result. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { ShardSegment, segmentFileName } from "#hub/engine/commit/shard-segment.ts";
import { beginSync } from "#hub/engine/files/early-sync.ts";
import { FileSink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import { Segment } from "#hub/engine/segment/segment.ts";
import { toAppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import { MIB } from "#proto/kit/units.ts";
import { comparePositions } from "#proto/position.ts";
import { chooseFinal, chooseMerge, FINAL_BYTES } from "./merge-choice.ts";
import { type MergeInput, numberDocuments } from "./merge-input.ts";
import { mergeSegments } from "./merge-segments.ts";

/** How long a slice works before it lets others continue. */
const SLICE_MS = 5;

/** So much of a merged file is written before it is made durable while the merge continues: its end then waits for little. */
const SYNC_BYTES = 4 * MIB;

/** Smaller ones aren't looked at for that. */
const LOOKED_AT_BYTES = FINAL_BYTES / 16;

/** The segments that are merged. */
interface MergedSegments {
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
  #isIdle = false;
  #isClosed = false;

  /** `merged` takes the segments that another one replaces now. */
  constructor(folder: string, documents: MergedSegments, merged: (inputs: readonly ShardSegment[]) => void) {
    this.#folder = folder;
    this.#documents = documents;
    this.#merged = merged;
  }

  /** True where the current merge reads a segment. */
  uses(segment: ShardSegment): boolean {
    return this.#task?.uses(segment) ?? false;
  }

  /**
   * Does a slice of work (a few ms), of a new merge where one is worth it; true if there is more. `isIdle`: nothing is
   * written to the shard, so fresh segments get the form that they stay in. Throws what writing throws.
   */
  step(isIdle: boolean): boolean {
    this.#isIdle = isIdle;
    if (this.#task !== null) return this.#step(this.#task);
    const chosen = this.#choose();
    if (chosen.length > 0) return this.#step(this.#start(chosen));
    const unknown = isIdle ? this.#unknown() : undefined;
    // One at a time: a hub that starts may have thousands.
    unknown?.readIsFresh();
    return unknown !== undefined;
  }

  /**
   * Merges until there are at most `maxSegments`, at least one, then writes those with deleted documents again without
   * them, giving way to other work between slices.
   */
  async force(maxSegments: number): Promise<void> {
    const kept = Math.max(1, maxSegments);
    await this.#end();
    while (!this.#isClosed && this.#documents.segments.length > kept) {
      this.#start(this.#documents.segments.slice(kept - 1));
      await this.#end();
    }
    // Each once: documents may be deleted all the time.
    const worn = this.#documents.segments.filter(({ liveCount, segment }) => liveCount < segment.docCount);
    for (const entry of worn) {
      if (this.#isClosed || !this.#documents.segments.includes(entry)) continue;
      this.#start([entry]);
      await this.#end();
    }
  }

  /** Gives up the current merge permanently, and removes what it wrote. Safe to call twice. */
  close(): void {
    this.#isClosed = true;
    this.#task?.abandon();
    this.#task = null;
  }

  #choose(): readonly ShardSegment[] {
    const { segments } = this.#documents;
    const due = chooseMerge(segments);
    const isFinal = due.length === 0 && this.#isIdle && this.#unknown() === undefined;
    return isFinal ? chooseFinal(segments) : due;
  }

  /** A segment of which nobody has looked yet whether it is fresh. */
  #unknown(): Segment | undefined {
    return this.#documents.segments.find(
      ({ segment }) => segment.isFresh === undefined && segment.sizeBytes >= LOOKED_AT_BYTES,
    )?.segment;
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

  /** One slice of the current merge; true if there is more to do, of it or of another. */
  #step(task: MergeTask): boolean {
    const documents = this.#documents;
    let merged: ShardSegment | null;
    try {
      if (!task.step()) return true;
      merged = task.finish();
    } catch (error) {
      this.#task = null;
      task.abandon();
      if (!task.usesKernel || toAppError(error).code !== "memory_limit") throw error;
      // Slower, and without a memory of its own that can be too small.
      this.#start(task.inputs, false);
      return true;
    }
    this.#task = null;
    const at = documents.segments.indexOf(task.inputs[0]!);
    documents.segments = documents.segments.filter((entry) => !task.inputs.includes(entry));
    if (merged !== null) documents.segments.splice(at, 0, merged);
    this.#merged(task.inputs);
    return this.#choose().length > 0;
  }
}

/** Made for chosen segments; `step` until it is true, then `finish`. */
export class MergeTask {
  readonly inputs: readonly ShardSegment[];
  readonly usesKernel: boolean;
  readonly #name: string;
  readonly #path: string;
  readonly #sink: FileSink;
  readonly #merging: readonly MergeInput[];
  readonly #work: Generator<void, void>;
  /** Bytes of the file that are made durable. */
  #syncedBytes = 0;

  /** `usesKernel`: false for a merge that the kernel's memory is too small for. */
  constructor(folder: string, name: string, inputs: readonly ShardSegment[], usesKernel: boolean) {
    this.inputs = inputs;
    this.usesKernel = usesKernel;
    this.#name = name;
    this.#path = join(folder, segmentFileName(name));
    this.#sink = new FileSink(this.#path);
    this.#merging = numberDocuments(
      inputs.map(({ segment, liveDocs }) => ({
        segment: segment.retain(),
        live: liveDocs?.clone() ?? null,
      })),
    );
    this.#work = mergeSegments(this.#merging, this.#sink, {
      usesKernel,
      spoolPath: `${this.#path}.tmp`,
    });
  }

  uses(entry: ShardSegment): boolean {
    return this.inputs.includes(entry);
  }

  /** Works for a few ms; true when all is written. Throws what reading and writing throw. */
  step(): boolean {
    const until = performance.now() + SLICE_MS;
    while (performance.now() < until) if (this.#work.next().done === true) return true;
    this.#syncAhead();
    return false;
  }

  /** The merged segment with the deletions made since the start; null if no document is left. Throws what writing throws. */
  finish(): ShardSegment | null {
    this.#sink.finish();
    const merged = this.#open();
    this.#releaseInputs();
    return merged;
  }

  #syncAhead(): void {
    const { length } = this.#sink;
    if (length - this.#syncedBytes >= SYNC_BYTES && beginSync(this.#path)) this.#syncedBytes = length;
  }

  #open(): ShardSegment | null {
    const segment = new Segment(SegmentFile.open(this.#name, this.#path));
    if (segment.docCount === 0) {
      segment.release();
      rmSync(this.#path, { force: true });
      return null;
    }
    const after = this.inputs
      .map((entry) => entry.after)
      .reduce((lowest, position) => (comparePositions(position, lowest) < 0 ? position : lowest));
    const merged = new ShardSegment(segment, after, null, 0, null);
    for (const [index, entry] of this.inputs.entries()) {
      // The usual case: nothing of it was deleted, before or since.
      if (entry.liveDocs === null) continue;
      const { newDocs } = this.#merging[index]!;
      for (let doc = 0; doc < newDocs.length; doc++) {
        if (newDocs[doc]! >= 0 && !entry.isLive(doc)) merged.kill(newDocs[doc]!);
      }
    }
    return merged;
  }

  /** Gives up and removes what was written. */
  abandon(): void {
    this.#work.return();
    this.#sink.abandon();
    rmSync(this.#path, { force: true });
    this.#releaseInputs();
  }

  #releaseInputs(): void {
    for (const { segment, newDocs } of this.#merging) {
      segment.release();
      freeBytes(newDocs);
    }
  }
}
