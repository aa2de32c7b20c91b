/**
 * Writes the live documents of several segments as one: dictionaries merged term by term, postings renumbered, columns
 * and stored documents copied. A generator, so that its owner decides when it continues.
 */

import { Bitset } from "#hub/engine/bytes/bitset.ts";
import { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { type ByteSink, SegmentFileWriter } from "#hub/engine/files/segment-file.ts";
import { type DocumentColumns, isColumnar, KernelColumns } from "#hub/engine/stored/columnar-packing.ts";
import {
  isLasting,
  openBlock,
  openPlain,
  type StoredEntry,
  StoredWriter,
} from "#hub/engine/stored/stored.ts";
import { PlainBlock } from "#hub/engine/stored/stored-blocks.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";
import type { FieldEntry, SegmentDirectory } from "../segment/directory.ts";
import { hashId, newIdSeed, writeIdIndex } from "../segment/id-index.ts";
import { type PresenceEntry, writePresenceSet } from "../segment/presence.ts";
import { mergeKernel } from "./kernel-merge.ts";
import { columnKindOf, hasOrdinals, mergeColumn, mergeDocumentColumn } from "./merge-columns.ts";
import { type MergeInput, mergedDocCount } from "./merge-input.ts";
import { mergeTerms, type TermsMerge } from "./merge-terms.ts";

/** Larger blocks than in fresh segments: merged ones stay. `columnar-packing.ts` packs them. */
const MERGED_SOURCE_BLOCK_BYTES = 256 * 1024;
const ID_BLOCK_BYTES = 32 * 1024;

/** Documents between two pauses where they are looked at one by one. */
const PAUSE_EVERY = 1024;

/** How segments are merged. */
export interface MergeOptions {
  /** False for a merge that the kernel's memory is too small for: documents aren't cut into columns then. */
  readonly usesKernel: boolean;
  /** Where nothing is, beside the segment: blocks of terms are put aside there; without it they stay in memory. */
  readonly spoolPath?: string;
  /** What cuts the documents instead of the kernel. */
  readonly columns?: DocumentColumns;
}

/**
 * Writes the merged segment to `sink`; yields often, and must be ended by `return` where it isn't run to its end. The bytes
 * are complete when it returns. Throws data_corrupt, memory_limit of the kernel.
 */
export function* mergeSegments(
  inputs: readonly MergeInput[],
  sink: ByteSink,
  options: MergeOptions = { usesKernel: true },
): Generator<void, void> {
  const { usesKernel, spoolPath = null } = options;
  const docCount = mergedDocCount(inputs);
  const file = new SegmentFileWriter(sink);
  const source = yield* mergeSources(inputs, file, options);
  const ids = yield* mergeIds(inputs, file, docCount);
  const fields: Record<string, FieldEntry> = {};
  const names = new Set(inputs.flatMap(({ segment }) => segment.fieldNames()));
  for (const name of names) {
    const entry = yield* mergeField(name, inputs, file, { docCount, usesKernel, spoolPath });
    if (entry !== null) fields[name] = entry;
  }
  const directory: SegmentDirectory = {
    docs: docCount,
    version: yield* mergeDocumentColumn("version", inputs, docCount, file),
    seqNo: yield* mergeDocumentColumn("seqNo", inputs, docCount, file),
    source,
    ...ids,
    fields,
  };
  file.finish(directory);
}

/** Null where no live document has the field. */
function* mergeField(
  name: string,
  inputs: readonly MergeInput[],
  file: SegmentFileWriter,
  { docCount, ...how }: Pick<TermsMerge, "usesKernel" | "spoolPath"> & { readonly docCount: number },
): Generator<void, FieldEntry | null> {
  const presence = mergePresence(name, inputs, file, docCount);
  if (presence.count === 0) return null;
  const entry: { -readonly [K in keyof FieldEntry]: FieldEntry[K] } = { presence };
  yield;
  const norms = mergeNorms(name, inputs, docCount);
  const kind = columnKindOf(name, inputs);
  const terms = yield* mergeTerms({
    name,
    inputs,
    norms,
    file,
    hasOrdinals: hasOrdinals(kind),
    ...how,
  });
  if (terms.entry !== null) entry.terms = terms.entry;
  if (norms !== null) {
    entry.norms = file.write(norms);
    freeBytes(norms);
  }
  const column = yield* mergeColumn(name, inputs, docCount, file, terms.ordinals);
  for (const ordinals of terms.ordinals) if (ordinals !== null) freeBytes(ordinals);
  if (column !== undefined) entry.column = column;
  yield;
  return entry;
}

function mergePresence(
  name: string,
  inputs: readonly MergeInput[],
  file: SegmentFileWriter,
  docCount: number,
): PresenceEntry {
  const docs = new Bitset(docCount);
  for (const { segment, live, newDocs, firstDoc } of inputs) {
    const presence = segment.presence(name);
    if (presence === undefined) continue;
    if (live !== null) addLive(docs, presence, newDocs);
    else if (presence === null) docs.addRange(firstDoc, firstDoc + newDocs.length);
    else docs.addMoved(presence, firstDoc);
  }
  return writePresenceSet(file, docs);
}

/** Adds the live documents of a segment that have a field, null for all, under their new numbers. */
function addLive(docs: Bitset, presence: Bitset | null, newDocs: Int32Array): void {
  for (let doc = 0; doc < newDocs.length; doc++)
    if (newDocs[doc]! >= 0 && (presence === null || presence.has(doc))) docs.add(newDocs[doc]!);
}

function mergeNorms(name: string, inputs: readonly MergeInput[], docCount: number): Uint8Array | null {
  let merged: Uint8Array | null = null;
  for (const { segment, newDocs, live, firstDoc } of inputs) {
    const norms = segment.norms(name);
    if (norms === null) continue;
    merged ??= new Uint8Array(docCount);
    if (live === null) merged.set(norms, firstDoc);
    else
      for (let doc = 0; doc < newDocs.length; doc++)
        if (newDocs[doc]! >= 0) merged[newDocs[doc]!] = norms[doc]!;
  }
  return merged;
}

/** Hashes of the ids that are taken over, in the order of the documents. */
interface IdHashes {
  readonly seed: number;
  readonly values: Uint32Array;
  count: number;
}

/** Merges the documents as they were sent; yields between blocks. Throws data_corrupt, memory_limit. */
function* mergeSources(
  inputs: readonly MergeInput[],
  file: SegmentFileWriter,
  { usesKernel, columns }: MergeOptions,
): Generator<void, StoredEntry> {
  const own = columns === undefined && usesKernel ? new KernelColumns(mergeKernel()) : null;
  try {
    const writer = new StoredWriter(MERGED_SOURCE_BLOCK_BYTES, own ?? columns ?? "zstd", file);
    const rooms = { packed: new ByteBuffer(), plain: new ByteBuffer() };
    for (const input of inputs) yield* copySources(input, rooms, writer);
    return writer.finish(file);
  } finally {
    own?.release();
  }
}

/** Memory for a block as it is read, packed and unpacked. */
interface BlockRooms {
  readonly packed: ByteBuffer;
  readonly plain: ByteBuffer;
}

/** Copies columnar blocks as they are, and makes such of others. */
function* copySources(
  { segment, live, newDocs }: MergeInput,
  rooms: BlockRooms,
  writer: StoredWriter,
): Generator<void, void> {
  const stored = segment.stored("source");
  const last = stored.blockCount - 1;
  for (let number = 0; number <= last; number++) {
    const packed = stored.packed(number, rooms.packed);
    const first = stored.firstDoc(number);
    const block =
      live === null && number < last && isColumnar(packed) ? null : openBlock(packed, rooms.plain);
    // The last one may be short: what follows fills it up.
    if (block === null) writer.addPacked(packed, stored.firstDoc(number + 1) - first);
    else if (live === null && block instanceof PlainBlock) writer.addAll(block);
    else
      for (let index = 0; index < block.count; index++) {
        if (newDocs[first + index]! >= 0) writer.add(block.document(index));
        if (index % PAUSE_EVERY === PAUSE_EVERY - 1) yield;
      }
    if (block instanceof PlainBlock) block.free();
    yield;
  }
}

/** Merges the ids and their index; yields between blocks. Throws data_corrupt. */
function* mergeIds(
  inputs: readonly MergeInput[],
  file: SegmentFileWriter,
  docCount: number,
): Generator<void, Pick<SegmentDirectory, "ids" | "idIndex">> {
  const writer = new StoredWriter(ID_BLOCK_BYTES, "zstd", file);
  const seed = newIdSeed();
  const hashes: IdHashes = { seed, values: new Uint32Array(docCount), count: 0 };
  const rooms = { packed: new ByteBuffer(), plain: new ByteBuffer() };
  for (const input of inputs) yield* copyIds(input, rooms, writer, hashes);
  const ids = writer.finish(file);
  const idIndex = writeIdIndex(file, seed, hashes.values);
  freeBytes(hashes.values);
  return { ids, idIndex };
}

function* copyIds(
  { segment, live, newDocs }: MergeInput,
  rooms: BlockRooms,
  writer: StoredWriter,
  hashes: IdHashes,
): Generator<void, void> {
  const stored = segment.stored("ids");
  const last = stored.blockCount - 1;
  for (let number = 0; number <= last; number++) {
    const packed = stored.packed(number, rooms.packed);
    const first = stored.firstDoc(number);
    const isCopied = live === null && number < last && isLasting(packed);
    const block = openPlain(packed, rooms.plain);
    if (isCopied) writer.addPacked(packed, block.count);
    else if (live === null) writer.addAll(block);
    if (live === null) hashIds(block, hashes);
    else yield* copyLive(block, first, newDocs, writer, hashes);
    block.free();
    yield;
  }
}

/** Hashes all ids of a block. */
function hashIds({ documents, ends }: PlainBlock, hashes: IdHashes): void {
  const { seed, values } = hashes;
  let { count } = hashes;
  for (let index = 0, from = 0; index < ends.length; index++) {
    const to = ends[index]!;
    values[count++] = hashId(documents, from, to, seed);
    from = to;
  }
  hashes.count = count;
}

/** Takes over the ids of a block's live documents. */
function* copyLive(
  { documents, ends }: PlainBlock,
  firstDoc: number,
  newDocs: Int32Array,
  writer: StoredWriter,
  hashes: IdHashes,
): Generator<void, void> {
  for (let index = 0, from = 0; index < ends.length; index++) {
    const to = ends[index]!;
    if (newDocs[firstDoc + index]! >= 0) {
      writer.add(documents, from, to);
      hashes.values[hashes.count++] = hashId(documents, from, to, hashes.seed);
    }
    from = to;
    if (index % PAUSE_EVERY === PAUSE_EVERY - 1) yield;
  }
}
