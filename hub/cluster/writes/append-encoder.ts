/**
 * New documents as the columns of a DocBatch (DocAppends in proto/log.proto), written into the message in one go: no object is
 * made for a document. Documents and ids are packed together where that makes them smaller. DocBatchView of the engine
 * reads them.
 */

import { packParts } from "#hub/engine/operations/append-columns.ts";
import { type DocumentBatch, documentStart } from "#proto/document-batch.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";

const NOTHING = new Uint8Array(0);

/** The columns of a message, cut to its documents. */
interface MessageColumns {
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

/** Memory that is kept for packing; a request's message may be larger, a pipeline's seldom is. */
const KEPT_BYTES = 2 * 1024 ** 2;

/**
 * Returns a DocBatch of `head`, an encoded one without operations, and the documents at `places`, ascending; without places
 * all. They have ids of one length.
 */
export function encodeAppends(head: Uint8Array, documents: DocumentBatch, places?: Uint32Array): Buffer {
  const columns = columnsOf(documents, places);
  const { put, ends, gap, ids, ordinals, sourceIndices, offsets } = columns;
  const packed = packedTexts(columns);
  const documentBytes = packed === null ? columns.documentBytes : 0;
  const packedBytes = packed === null ? 0 : columns.documentBytes + ids.length;
  const rest: readonly (readonly [tag: number, bytes: Uint8Array])[] = [
    [ENDS, bytesOf(ends)],
    [IDS, packed === null ? ids : NOTHING],
    [ORDINALS, bytesOf(ordinals)],
    [SOURCE_INDICES, bytesOf(sourceIndices)],
    [OFFSETS, bytesOf(offsets)],
    ...(packed ?? []).map((part) => [PACKED, part] as const),
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
    out.set(bytes, at);
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
  // Neighbours: their bytes are copied in one go, with what is between them.
  const idBytes = ids.length / Math.max(1, ends.length);
  const start = documentStart(documents, first);
  const stop = count === 0 ? start : ends[last - 1]!;
  return {
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

/** Documents with others between them. */
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

/** Memory in which documents and ids are packed: new memory for each message would touch each page once more. */
let scratch = new Uint8Array(0);

/** Documents and ids packed together; null where that makes them hardly smaller. */
function packedTexts({ documentBytes, put, ids }: MessageColumns): Uint8Array[] | null {
  const size = documentBytes + ids.length;
  if (size <= KEPT_BYTES && size > scratch.length) scratch = new Uint8Array(Math.min(KEPT_BYTES, 2 * size));
  const plain = size > KEPT_BYTES ? new Uint8Array(size) : scratch.subarray(0, size);
  put(plain, 0);
  plain.set(ids, documentBytes);
  const parts = packParts(plain);
  if (size > KEPT_BYTES) freeBytes(plain);
  return parts;
}

/** The memory of a column: the machines that run this are little-endian, as the format is. */
function bytesOf(column: Uint32Array | Float64Array | undefined): Uint8Array {
  if (column === undefined) return NOTHING;
  return new Uint8Array(column.buffer, column.byteOffset, column.byteLength);
}

function fieldBytes(length: number): number {
  return length === 0 ? 0 : 1 + varintBytes(length) + length;
}

/** Bytes of a number's field; a zero has none. */
function numberBytes(value: number): number {
  return value === 0 ? 0 : 1 + varintBytes(value);
}

function putNumber(out: Uint8Array, at: number, tag: number, value: number): number {
  return value === 0 ? at : putVarint(out, putTag(out, at, tag), value);
}

function putTag(out: Uint8Array, at: number, tag: number): number {
  out[at] = tag;
  return at + 1;
}

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest >>>= 7) bytes++;
  return bytes;
}

/** `value`: below 2^31. */
function putVarint(out: Uint8Array, from: number, value: number): number {
  let at = from;
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) out[at++] = (rest & 0x7f) | 0x80;
  out[at++] = rest;
  return at;
}
