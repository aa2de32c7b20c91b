/**
 * Stored bytes of several segments behind each other. Blocks that were made to last are taken over as they are, so that a
 * document is packed by zstd once, however often it is merged.
 */

import type { SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { isLasting, openBlock, type StoredEntry, StoredWriter } from "#hub/engine/stored/stored.ts";
import type { StoredBlock } from "#hub/engine/stored/stored-blocks.ts";
import type { MergeInput } from "./merge-input.ts";

/** Larger blocks and a higher level than in fresh segments: merged ones stay. */
const SOURCE_BLOCK_BYTES = 256 * 1024;
const ID_BLOCK_BYTES = 32 * 1024;
const ZSTD_LEVEL = 3;

/** Documents between two pauses where they are looked at one by one. */
const PAUSE_EVERY = 1024;

/** Called for each id that is taken over, ids[from..to), in the order of the documents. */
export type IdSink = (ids: Uint8Array, from: number, to: number) => void;

/** Merges the documents as they were sent; yields between blocks. Throws data_corrupt. */
export function* mergeSources(
  inputs: readonly MergeInput[],
  file: SegmentFileWriter,
): Generator<void, StoredEntry> {
  const writer = new StoredWriter(SOURCE_BLOCK_BYTES, ZSTD_LEVEL, file);
  for (const input of inputs) yield* copyBlocks(input, "source", writer, null);
  return writer.finish(file);
}

/** Merges the ids, which `sink` gets as well. The file is written to by the returned function only. */
export function* mergeIds(
  inputs: readonly MergeInput[],
  sink: IdSink,
): Generator<void, (file: SegmentFileWriter) => StoredEntry> {
  const writer = new StoredWriter(ID_BLOCK_BYTES, ZSTD_LEVEL);
  for (const input of inputs) yield* copyBlocks(input, "ids", writer, sink);
  return (file) => writer.finish(file);
}

function* copyBlocks(
  input: MergeInput,
  part: "source" | "ids",
  writer: StoredWriter,
  sink: IdSink | null,
): Generator<void, void> {
  const stored = input.segment.stored(part);
  const last = stored.blockCount - 1;
  for (let number = 0; number <= last; number++) {
    const packed = stored.packed(number);
    const first = stored.firstDoc(number);
    // The last one may be short: what follows fills it up.
    const isCopied = input.live === null && number < last && isLasting(packed);
    if (isCopied) writer.addPacked(packed, stored.firstDoc(number + 1) - first);
    if (!isCopied || sink !== null) {
      const block = openBlock(packed);
      if (input.live !== null) yield* copyLive(block, first, input.newDocs, writer, sink);
      else {
        if (!isCopied) writer.addAll(block);
        if (sink !== null) showAll(block, sink);
      }
    }
    yield;
  }
}

function* copyLive(
  { documents, ends }: StoredBlock,
  firstDoc: number,
  newDocs: Int32Array,
  writer: StoredWriter,
  sink: IdSink | null,
): Generator<void, void> {
  for (let place = 0, from = 0; place < ends.length; place++) {
    const to = ends[place]!;
    if (newDocs[firstDoc + place]! >= 0) {
      writer.add(documents, from, to);
      sink?.(documents, from, to);
    }
    from = to;
    if (place % PAUSE_EVERY === PAUSE_EVERY - 1) yield;
  }
}

function showAll({ documents, ends }: StoredBlock, sink: IdSink): void {
  for (let place = 0, from = 0; place < ends.length; place++) {
    sink(documents, from, ends[place]!);
    from = ends[place]!;
  }
}
