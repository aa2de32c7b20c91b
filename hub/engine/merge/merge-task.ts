/** One merge in slices: writes the new segment's file while the shard goes on, then takes over deletions made meanwhile. */

import { rmSync } from "node:fs";
import { join } from "node:path";
import { ShardSegment, segmentFileName } from "#hub/engine/commit/shard-segment.ts";
import { FileSink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import { comparePositions } from "#proto/position.ts";
import { Segment } from "../segment/segment.ts";
import { type MergeInput, numberDocuments } from "./merge-input.ts";
import { mergeSegments } from "./merge-segments.ts";

/** How long a slice works before it lets others go on. */
const SLICE_MS = 5;

/** Made for chosen segments; `step` until it is true, then `finish`. */
export class MergeTask {
  readonly inputs: readonly ShardSegment[];
  readonly usesKernel: boolean;
  readonly #name: string;
  readonly #path: string;
  readonly #sink: FileSink;
  readonly #merging: readonly MergeInput[];
  readonly #work: Generator<void, void>;

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
    this.#work = mergeSegments(this.#merging, this.#sink, usesKernel);
  }

  uses(entry: ShardSegment): boolean {
    return this.inputs.includes(entry);
  }

  /** Works for a few ms; true when all is written. Throws what reading and writing throw. */
  step(): boolean {
    const until = performance.now() + SLICE_MS;
    while (performance.now() < until) if (this.#work.next().done === true) return true;
    return false;
  }

  /** The merged segment with the deletions made since the start; null where no document is left. */
  finish(): ShardSegment | null {
    this.#sink.finish();
    this.#releaseInputs();
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
    for (const { segment } of this.#merging) segment.release();
  }
}
