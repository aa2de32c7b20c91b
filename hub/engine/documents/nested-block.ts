/**
 * Nested objects as documents: each object of a path becomes a document of a segment in memory, made from the sources
 * of the parents when a search first needs it. Parents keep one document each, so that counts, versions and merges are
 * those of whole documents, and a new or deleted parent adds or removes its objects.
 */

import { SegmentBuffer } from "#hub/engine/buffer/segment-buffer.ts";
import { IntList } from "#hub/engine/bytes/byte-buffer.ts";
import { toBytes } from "#hub/engine/bytes/bytes.ts";
import { MemorySink, SegmentFile } from "#hub/engine/files/segment-file.ts";
import { NestedObjects } from "#hub/engine/json/nested-objects.ts";
import { Kernel } from "#hub/engine/kernel/kernel.ts";
import type { Mapping } from "#hub/engine/mapping/mapping.ts";
import type { SegmentReader } from "#hub/engine/searcher/searcher.ts";
import { type NestedBlock, nestedCache } from "#hub/engine/segment/nested-cache.ts";
import { Segment } from "#hub/engine/segment/segment.ts";
import { SnapshotReader } from "#hub/engine/segment/snapshot-reader.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Indexing } from "./document-indexer.ts";
import { DocumentWriter } from "./document-writer.ts";
import { kernelIndexing } from "./kernel-documents.ts";

/** Bytes of a block while it is made, beyond which the search is refused. */
const MAX_BYTES = 256 * 1024 * 1024;

/** Parents between two pauses: a few milliseconds. */
const PARENTS_PER_STEP = 256;

/** Memory beyond which it is given back after a block. */
const KEPT_BYTES = 48 * 1024 * 1024;

/**
 * Steps between which the caller may pause. "waits": nothing can be done before another search has continued. They must
 * run to their end or be ended by `return`.
 */
export type NestedSteps<T> = Generator<undefined | "waits", T>;

/** The thread's kernel for blocks: its memory is not that of indexing, which a large block would take otherwise. */
let ofThread: Kernel | undefined;

/** A block of the thread is being made: one at a time, so that it has all of the memory. */
let isBusy = false;

/**
 * Makes the block of `path` in steps, or returns the one that is cached. `parents` holds the objects of the level above, or
 * whole documents. Waits while another block is made. Throws memory_limit, data_corrupt.
 */
export function* nestedBlock(
  parents: SegmentReader,
  mapping: Mapping,
  path: string,
): NestedSteps<NestedBlock> {
  return yield* derivedBlock(parents, path, (indexing) => makeBlock(parents, mapping, path, indexing));
}

/**
 * Makes in steps what is derived from a segment under the name `key`, or returns what is cached. `make` must use the thread's
 * memory for blocks, which it gets. Waits while another block is made. Throws what `make` throws.
 */
export function* derivedBlock(
  base: SegmentReader,
  key: string,
  make: (indexing: Indexing) => NestedSteps<NestedBlock>,
): NestedSteps<NestedBlock> {
  const owner = ownerOf(base);
  for (;;) {
    const known = nestedCache().get(owner, key);
    if (known !== undefined) return known;
    if (!isBusy) break;
    yield "waits";
  }
  isBusy = true;
  try {
    const made = yield* make(kernelIndexing((ofThread ??= Kernel.load())));
    nestedCache().put(owner, key, made);
    return made;
  } finally {
    isBusy = false;
    if (ofThread !== undefined && ofThread.memory.bytes.length > KEPT_BYTES) ofThread = undefined;
  }
}

/** Blocks are kept for a segment, shared by all its views, until it is closed. */
function ownerOf(base: SegmentReader): object {
  let inner = base;
  while (inner.whole !== undefined) inner = inner.whole;
  return inner instanceof SnapshotReader ? inner.segment : inner;
}

function* makeBlock(
  parents: SegmentReader,
  mapping: Mapping,
  path: string,
  indexing: Indexing,
): NestedSteps<NestedBlock> {
  const buffer = new SegmentBuffer(indexing.newFields());
  const writer = new DocumentWriter(buffer, mapping, indexing);
  const objects = new NestedObjects(path);
  const starts = new Int32Array(parents.docCount + 1);
  const owners = new IntList();
  try {
    for (let parent = 0; parent < parents.docCount; parent++) {
      for (const source of objects.of(parents.source(parent))) {
        addObject(buffer, writer, parents, parent, source);
        owners.push(parent);
      }
      starts[parent + 1] = buffer.docCount;
      if (buffer.sizeBytes > MAX_BYTES) throw tooLarge(path);
      if (parent % PARENTS_PER_STEP === PARENTS_PER_STEP - 1) yield;
    }
    return blockOf(buffer, `${parents.name}/${path}`, starts, owners.view().slice());
  } finally {
    writer.release();
    buffer.release();
  }
}

/** Adds an object under its parent's id, version and routing. Values that don't fit are left out. */
function addObject(
  buffer: SegmentBuffer,
  writer: DocumentWriter,
  parents: SegmentReader,
  parent: number,
  source: Uint8Array,
): void {
  const routing = parents.routing(parent) ?? "";
  const id = toBytes(parents.id(parent));
  const doc = buffer.addDocument(id, source, parents.version(parent), parents.seqNo(parent), routing);
  writer.write(doc, source, routing, true);
}

/** Returns the sealed documents of a buffer. */
export function blockOf(
  buffer: SegmentBuffer,
  name: string,
  starts: Int32Array,
  parents: Int32Array,
): NestedBlock {
  const ownBytes = starts.byteLength + parents.byteLength;
  if (buffer.docCount === 0)
    return { objects: null, starts, parents, sizeBytes: ownBytes, release: () => undefined };
  const sink = new MemorySink(Math.ceil(buffer.sizeBytes / 2));
  buffer.seal(sink);
  const image = sink.buffer.view();
  const segment = new Segment(SegmentFile.ofMemory(name, image));
  return {
    objects: new SnapshotReader(segment, null),
    starts,
    parents,
    sizeBytes: ownBytes + image.length,
    release: () => segment.release(),
  };
}

function tooLarge(path: string): AppError {
  return new AppError(
    "memory_limit",
    `the nested objects at [${path}] of one segment take more than ${MAX_BYTES} bytes; use more shards, or smaller indices`,
  );
}
