/**
 * New documents as the columns of a DocBatch (DocAppends in proto/log.proto), written into the message at once: nothing is
 * made for each document. Documents and ids are packed together where that makes them smaller. The reader is the engine's
 * DocBatchView.
 */

import { packParts } from "#hub/engine/operations/packed-appends.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";

/** Documents with their ids, one entry each, in order. */
export interface DocumentColumns {
  /** Bytes that `put` writes. */
  readonly documentBytes: number;
  /** Writes the documents at `at`, behind each other with `gap` bytes between two. */
  readonly put: (out: Uint8Array, at: number) => void;
  /** Where each ends in what `put` writes. */
  readonly ends: Uint32Array;
  readonly gap: number;
  /** Ids behind each other, all of one length. */
  readonly ids: Uint8Array;
  /** See DocOperation; without them 0, 1, 2 … */
  readonly ordinals?: Uint32Array;
  /** Without them 0 each. */
  readonly sourceIndices?: Uint32Array;
  /** Without them 0 each. */
  readonly offsets?: Float64Array;
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

/** Room for documents that are packed; a request's message may be larger, a pipeline's seldom is. */
const KEPT_BYTES = 2 * 1024 ** 2;

/** Returns a DocBatch of `head`, an encoded one without operations, and the documents. */
export function encodeAppends(head: Uint8Array, columns: DocumentColumns): Buffer {
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

/** Where documents and ids stand while they are packed: made anew for each message, each page would be touched once more. */
let room = new Uint8Array(0);

/** Documents and ids packed together; null where that brings nothing. */
function packedTexts({ documentBytes, put, ids }: DocumentColumns): Uint8Array[] | null {
  const size = documentBytes + ids.length;
  if (size <= KEPT_BYTES && size > room.length) room = new Uint8Array(Math.min(KEPT_BYTES, 2 * size));
  const plain = size > KEPT_BYTES ? new Uint8Array(size) : room.subarray(0, size);
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

const NOTHING = new Uint8Array(0);

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
