/**
 * Encodes new documents as the columns of a DocBatch (DocAppends in proto/log.proto), written straight into the message: no
 * object is made for a document. Documents and ids are packed if that makes them smaller: many documents as the blocks that
 * a segment has, fewer ones together with their ids. DocBatchView of the engine reads them.
 */

import { KernelStored } from "#hub/engine/buffer/kernel-stored.ts";
import { copyBytes } from "#hub/engine/bytes/bytes.ts";
import { MAX_DOCUMENT_BYTES } from "#hub/engine/kernel/assembly/layout.ts";
import type { DocumentRun } from "#hub/engine/kernel/document-run.ts";
import { threadKernel } from "#hub/engine/kernel/kernel.ts";
import { MAX_BYTES, packParts, WORTHWHILE } from "#hub/engine/operations/append-columns.ts";
import { SOURCE_BLOCK_BYTES } from "#hub/engine/stored/stored.ts";
import { type DocumentBatch, documentStart } from "#proto/document-batch.ts";
import { AppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";

const NOTHING = new Uint8Array(0);

/** The columns of a message, reduced to its documents. */
interface MessageColumns {
  readonly run: DocumentRun;
  readonly ends: Uint32Array;
  readonly gap: number;
  readonly ids: Uint8Array;
  readonly ordinals: Uint32Array | undefined;
  readonly sourceIndices: Uint32Array | undefined;
  readonly offsets: Float64Array | undefined;
  readonly documentBytes: number;
  /** Writes the documents at `at`, one after another with `gap` bytes between two. */
  readonly put: (out: Uint8Array, at: number) => void;
}

/** Documents and ids as they are in the message. */
interface Texts extends Pick<MessageColumns, "documentBytes" | "gap" | "ids"> {
  readonly ends: Uint32Array | undefined;
  readonly packed?: readonly Uint8Array[];
  readonly packedBytes: number;
  readonly blocks?: Uint8Array;
  readonly blockOffsets?: Uint32Array;
}

/** Tags: number << 3 | wire type. */
const APPENDS = 0x6a;
const DOCUMENTS = 0x0a;
const ENDS = 0x12;
const GAP = 0x18;
const IDS = 0x22;
const ORDINALS = 0x2a;
const SOURCE_INDICES = 0x32;
const OFFSETS = 0x3a;
const PACKED = 0x42;
const PACKED_BYTES = 0x48;
const BLOCKS = 0x52;
const BLOCK_OFFSETS = 0x5a;

/** Fewer bytes of documents would make blocks too small for a segment. */
const LEAST_BLOCKS_BYTES = SOURCE_BLOCK_BYTES / 2;

/** Memory kept for packing, bytes; a request's message may be larger, a pipeline's rarely is. */
const KEPT_BYTES = 2 * 1024 ** 2;

/** Whether all hubs that read the log support documents as blocks; for this thread. */
let areBlocksKnown = true;

/** See `allowBlocks`. */
export function blocksAllowed(): boolean {
  return areBlocksKnown;
}

/** Sets, for this thread, whether messages may contain documents as blocks: a hub of an earlier version would reject them. */
export function allowBlocks(areKnown: boolean): void {
  areBlocksKnown = areKnown;
}

/**
 * Returns a DocBatch of `head`, an encoded one without operations, and the documents at `places`, ascending; all documents
 * without `places`. Their ids have one length. Throws internal for documents with `starts`: clients chose their ids, so they
 * may replace others, and encodeOperations writes them.
 */
export function encodeAppends(head: Uint8Array, documents: DocumentBatch, places?: Uint32Array): Buffer {
  if (documents.starts !== undefined)
    throw new AppError("internal", "documents with chosen ids can't be written as new ones");
  const columns = columnsOf(documents, places);
  const { put, ordinals, sourceIndices, offsets } = columns;
  const texts = (areBlocksKnown ? inBlocks(columns) : null) ??
    packedTexts(columns) ?? { ...columns, packedBytes: 0 };
  const { documentBytes, gap, packedBytes } = texts;
  const rest: readonly (readonly [tag: number, bytes: Uint8Array])[] = [
    [ENDS, bytesOf(texts.ends)],
    [IDS, texts.ids],
    [ORDINALS, bytesOf(ordinals)],
    [SOURCE_INDICES, bytesOf(sourceIndices)],
    [OFFSETS, bytesOf(offsets)],
    ...(texts.packed ?? []).map((part) => [PACKED, part] as const),
    [BLOCKS, texts.blocks ?? NOTHING],
    [BLOCK_OFFSETS, bytesOf(texts.blockOffsets)],
  ];
  let size = fieldBytes(documentBytes) + numberBytes(gap) + numberBytes(packedBytes);
  for (const [, bytes] of rest) size += fieldBytes(bytes.length);
  const out = Buffer.allocUnsafeSlow(head.length + fieldBytes(size));
  out.set(head);
  let at = putVarint(out, putTag(out, head.length, APPENDS), size);
  if (documentBytes > 0) {
    at = putVarint(out, putTag(out, at, DOCUMENTS), documentBytes);
    put(out, at);
    at += documentBytes;
  }
  at = putNumber(out, at, GAP, gap);
  for (const [tag, bytes] of rest) {
    if (bytes.length === 0) continue;
    at = putVarint(out, putTag(out, at, tag), bytes.length);
    copyBytes(bytes, 0, bytes.length, out, at);
    at += bytes.length;
  }
  putNumber(out, at, PACKED_BYTES, packedBytes);
  return out;
}

/** Returns the columns of the documents at `places`. */
function columnsOf(documents: DocumentBatch, places?: Uint32Array): MessageColumns {
  const { bytes, ends, gap, ids = NOTHING, ordinals, sourceIndices, offsets } = documents;
  const first = places?.[0] ?? 0;
  const count = places?.length ?? ends.length;
  const last = first + count;
  if (count > 0 && places !== undefined && places[count - 1] !== last - 1) return gathered(documents, places);
  // Adjacent documents: their bytes are copied in one go, with what is between them.
  const idBytes = ids.length / Math.max(1, ends.length);
  const start = documentStart(documents, first);
  const stop = count === 0 ? start : ends[last - 1]!;
  return {
    run: extentsOf(documents, (nth) => first + nth),
    documentBytes: stop - start,
    put: (out, at) => out.set(bytes.subarray(start, stop), at),
    ends: ends.subarray(first, last).map((end) => end - start),
    gap,
    ids: ids.subarray(first * idBytes, last * idBytes),
    ordinals: ordinals?.slice(first, last),
    sourceIndices: sourceIndices?.slice(first, last),
    offsets: offsets?.slice(first, last),
  };
}

/** Documents that aren't adjacent. */
function gathered(documents: DocumentBatch, places: Uint32Array): MessageColumns {
  const { bytes, ids = NOTHING, ordinals, sourceIndices, offsets } = documents;
  const idBytes = ids.length / documents.ends.length;
  const ends = new Uint32Array(places.length);
  const someIds = new Uint8Array(places.length * idBytes);
  let documentBytes = 0;
  for (let nth = 0; nth < places.length; nth++) {
    const place = places[nth]!;
    documentBytes += documents.ends[place]! - documentStart(documents, place);
    ends[nth] = documentBytes;
    const from = place * idBytes;
    for (let at = 0; at < idBytes; at++) someIds[nth * idBytes + at] = ids[from + at]!;
  }
  const put = (out: Uint8Array, at: number): void => {
    const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let to = at;
    for (const place of places)
      to += source.copy(out, to, documentStart(documents, place), documents.ends[place]);
  };
  return {
    run: extentsOf(documents, (nth) => places[nth]!),
    documentBytes,
    put,
    ends,
    gap: 0,
    ids: someIds,
    ordinals: ordinals && places.map((place) => ordinals[place]!),
    sourceIndices: sourceIndices && places.map((place) => sourceIndices[place]!),
    offsets: offsets && Float64Array.from(places, (place) => offsets[place]!),
  };
}

/** Which documents of the batch are meant: all of them without `placeOf`, else the nth is at the index that it returns. */
export function extentsOf(
  documents: Pick<DocumentBatch, "bytes" | "start" | "starts" | "ends" | "gap">,
  placeOf: (nth: number) => number = (nth) => nth,
): DocumentRun {
  return {
    bytes: documents.bytes,
    sourceStart: (nth) => documentStart(documents, placeOf(nth)),
    sourceStop: (nth) => documents.ends[placeOf(nth)]!,
  };
}

/** Packs blocks. Reused: new memory, about a message's packed bytes, would have to be touched for each message. */
let writer: KernelStored | undefined;

/** Documents as blocks, ids packed separately; null if the documents are too few, too large, or hardly smaller when packed. */
function inBlocks({ run, ends, documentBytes, ids }: MessageColumns): Texts | null {
  if (documentBytes < LEAST_BLOCKS_BYTES || documentBytes > MAX_BYTES / 2) return null;
  for (let nth = 0; nth < ends.length; nth++)
    if (run.sourceStop(nth) - run.sourceStart(nth) > MAX_DOCUMENT_BYTES) return null;
  writer ??= new KernelStored(threadKernel(), SOURCE_BLOCK_BYTES);
  writer.clear();
  writer.addRun(run, 0, ends.length);
  // These bytes stay valid until the message is made: packing ids uses other buffers of the kernel.
  const { blocks, offsets } = writer.blocks();
  if (blocks.length > WORTHWHILE * documentBytes) return null;
  const packed = packParts(ids);
  const rest = packed === null ? { ids, packedBytes: 0 } : { ids: NOTHING, packed, packedBytes: ids.length };
  return { documentBytes: 0, gap: 0, ends: undefined, blocks, blockOffsets: offsets, ...rest };
}

/** Memory in which documents and ids are packed. Reused: new memory would have to be touched page by page for each message. */
let scratch = new Uint8Array(0);

/** Documents and ids packed together; null if that makes them hardly smaller. */
function packedTexts({ documentBytes, put, ends, gap, ids }: MessageColumns): Texts | null {
  const size = documentBytes + ids.length;
  if (size <= KEPT_BYTES && size > scratch.length) scratch = new Uint8Array(Math.min(KEPT_BYTES, 2 * size));
  const plain = size > KEPT_BYTES ? new Uint8Array(size) : scratch.subarray(0, size);
  put(plain, 0);
  plain.set(ids, documentBytes);
  const packed = packParts(plain);
  if (size > KEPT_BYTES) freeBytes(plain);
  return packed && { documentBytes: 0, gap, ends, ids: NOTHING, packed, packedBytes: size };
}

/** The memory of a column: the supported machines are little-endian, like the format. */
function bytesOf(column: Uint32Array | Float64Array | undefined): Uint8Array {
  if (column === undefined) return NOTHING;
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

/** Size of a field of `length` bytes, with its tag; an empty one has none. */
export function fieldBytes(length: number): number {
  return length === 0 ? 0 : 1 + varintBytes(length) + length;
}

/** Size of a number's field, bytes; a zero has no field. */
export function numberBytes(value: number): number {
  return value === 0 ? 0 : 1 + varintBytes(value);
}

/** Writes a number's field at `at`; returns the offset after it. */
export function putNumber(out: Uint8Array, at: number, tag: number, value: number): number {
  return value === 0 ? at : putVarint(out, putTag(out, at, tag), value);
}

export function putTag(out: Uint8Array, at: number, tag: number): number {
  out[at] = tag;
  return at + 1;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest >>>= 7) bytes++;
  return bytes;
}

/** `value`: below 2^31. */
export function putVarint(out: Uint8Array, from: number, value: number): number {
  let at = from;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) out[at++] = (rest & 0x7f) | 0x80;
  out[at++] = rest;
  return at;
}
