/**
 * New documents as the columns of a DocBatch (DocAppends in proto/log.proto), written into the message at once: a
 * document's bytes are copied once and nothing is made for each. The reader is the engine's DocBatchView.
 */

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

/** Returns a DocBatch of `head`, an encoded one without operations, and the documents. */
export function encodeAppends(head: Uint8Array, columns: DocumentColumns): Buffer {
  const { documentBytes, put, ends, gap, ids, ordinals, sourceIndices, offsets } = columns;
  const rest: readonly (readonly [tag: number, bytes: Uint8Array])[] = [
    [ENDS, bytesOf(ends)],
    [IDS, ids],
    [ORDINALS, bytesOf(ordinals)],
    [SOURCE_INDICES, bytesOf(sourceIndices)],
    [OFFSETS, bytesOf(offsets)],
  ];
  let size = fieldBytes(documentBytes) + (gap === 0 ? 0 : 1 + varintBytes(gap));
  for (const [, bytes] of rest) size += fieldBytes(bytes.length);
  const out = Buffer.allocUnsafeSlow(head.length + fieldBytes(size));
  out.set(head);
  let at = putVarint(out, putTag(out, head.length, APPENDS), size);
  if (documentBytes > 0) {
    at = putVarint(out, putTag(out, at, DOCUMENTS), documentBytes);
    put(out, at);
    at += documentBytes;
  }
  if (gap > 0) at = putVarint(out, putTag(out, at, GAP), gap);
  for (const [tag, bytes] of rest) {
    if (bytes.length === 0) continue;
    at = putVarint(out, putTag(out, at, tag), bytes.length);
    out.set(bytes, at);
    at += bytes.length;
  }
  return out;
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
