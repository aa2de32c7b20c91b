/**
 * New documents of a message as columns (DocAppends in proto/log.proto): checked, and read in place. Documents and ids
 * may be packed as LZ4 blocks: documents of a message are similar, so that they shrink to a fifth, and moving the log's
 * bytes through sockets, nats-server and disk costs more than packing and unpacking them. A message with many documents
 * contains the blocks of a segment: the shard stores these unchanged.
 */

import { ByteReader, grown, readU32 } from "#hub/engine/bytes/byte-buffer.ts";
import { copyBytes } from "#hub/engine/bytes/bytes.ts";
import { type PackedBlock, packLz4, unpackLz4To } from "#hub/engine/encoding/lz4.ts";
import { LZ4_HEADER_BYTES, LZ4_MAGIC } from "#hub/engine/kernel/assembly/layout.ts";
import { AppError } from "#proto/kit/errors.ts";
import { largeBytes } from "#proto/kit/large-bytes.ts";
import { DocAppends, type tailrace } from "#proto/messages.ts";

const UINT32_BYTES = 4;
const FLOAT64_BYTES = 8;

/** Bytes of a part before packing, except the last one: they stay in the processor's cache while they are packed. */
const PART_BYTES = 256 * 1024;

/** Below it a message costs about the same whatever its size. */
const LEAST_BYTES = 4 * 1024;

/** More than the largest message has before packing; a larger size is damage. */
export const MAX_BYTES = 16 * 1024 ** 2;

/** Documents that are hardly smaller packed are sent as they are. */
export const WORTHWHILE = 0.9;

/** See the file's comment. */
interface AppendColumns {
  readonly count: number;
  /** Documents and ids were packed: they have memory of their own. */
  readonly isPacked: boolean;
  /** Document i is documents[starts[i]..stops[i]). */
  readonly documents: Uint8Array;
  readonly starts: Uint32Array;
  readonly stops: Uint32Array;
  /** Blocks that hold all documents; none if the documents came otherwise. */
  readonly blocks: readonly PackedBlock[];
  /** Ids one after another, `idBytes` each. */
  readonly ids: Uint8Array;
  readonly idBytes: number;
  /** Null: 0, 1, 2 … */
  readonly ordinals: Uint32Array | null;
  /** Null: 0 each. */
  readonly sourceIndices: Uint32Array | null;
  /** Null: 0 each. */
  readonly offsets: Float64Array | null;
}

type Documents = Pick<AppendColumns, "isPacked" | "documents" | "starts" | "stops" | "blocks" | "ids">;

/**
 * Reads the columns. Documents and ids share memory with each other: with `bytes`, or where they were packed with
 * nothing else. Throws data_corrupt if they don't fit together.
 */
export function readAppends(bytes: Uint8Array): AppendColumns {
  const appends = decode(bytes);
  const { ordinals, sourceIndices, offsets } = appends;
  const documents = appends.blocks.length > 0 ? fromBlocks(appends) : fromEnds(appends);
  const count = documents.starts.length;
  const columns = {
    ...documents,
    count,
    idBytes: count === 0 ? 0 : documents.ids.length / count,
    ordinals: ordinals.length === 0 ? null : uint32s(ordinals),
    sourceIndices: sourceIndices.length === 0 ? null : uint32s(sourceIndices),
    offsets: offsets.length === 0 ? null : float64s(offsets),
  };
  if (!Number.isInteger(columns.idBytes) || (count === 0 && columns.ids.length > 0)) throw corrupt();
  for (const column of [columns.ordinals, columns.sourceIndices, columns.offsets])
    if (column !== null && column.length !== count) throw corrupt();
  return columns;
}

function decode(bytes: Uint8Array): tailrace.DocAppends {
  try {
    return DocAppends.decode(bytes);
  } catch (error) {
    throw new AppError("data_corrupt", "a message of the log holds columns that can't be read", {
      cause: error,
    });
  }
}

/** Consecutive documents, packed or not. */
function fromEnds(appends: tailrace.DocAppends): Documents {
  const { gap } = appends;
  const stops = uint32s(appends.ends);
  const isPacked = appends.packed.length > 0;
  const { documents, ids } = isPacked ? unpacked(appends, stops.at(-1) ?? 0) : appends;
  const starts = new Uint32Array(stops.length);
  let start = 0;
  for (let index = 0; index < stops.length; index++) {
    const stop = stops[index]!;
    if (stop < start || stop > documents.length) throw corrupt();
    starts[index] = start;
    start = stop + gap;
  }
  return { isPacked, documents, starts, stops, blocks: [], ids };
}

/** Documents and ids that were packed. */
function unpacked(
  { packed, packedBytes, documents, ids }: tailrace.DocAppends,
  documentBytes: number,
): Pick<AppendColumns, "documents" | "ids"> {
  if (documents.length > 0 || ids.length > 0 || documentBytes > packedBytes) throw corrupt();
  const plain = largeBytes(packedBytes > MAX_BYTES ? 0 : packedBytes);
  unpackParts(packed, plain, 0, packedBytes);
  return { documents: plain.subarray(0, documentBytes), ids: plain.subarray(documentBytes, packedBytes) };
}

/** Documents in blocks, with their ids packed separately. */
function fromBlocks(appends: tailrace.DocAppends): Documents {
  const { blocks, blockOffsets, packed, packedBytes, ids } = appends;
  if (appends.documents.length > 0 || appends.ends.length > 0) throw corrupt();
  const offsets = uint32s(blockOffsets);
  const parts = Array.from(offsets, (offset, nth) =>
    blocks.subarray(offset, offsets[nth + 1] ?? blocks.length),
  );
  const isWhole = offsets[0] === 0 && parts.every(({ length }) => length > LZ4_HEADER_BYTES);
  if (!isWhole || parts.some((part) => readU32(part, 0) !== LZ4_MAGIC)) throw corrupt();
  const sizes = parts.map((part) => readU32(part, 4));
  const documentBytes = sizes.reduce((sum, size) => sum + size, 0);
  if (documentBytes + packedBytes > MAX_BYTES || (packedBytes > 0 && ids.length > 0)) throw corrupt();
  const end = documentBytes + packedBytes + ids.length;
  const plain = largeBytes(end);
  const extents = new Extents();
  const found: PackedBlock[] = [];
  let at = 0;
  for (const [nth, part] of parts.entries()) {
    const size = sizes[nth]!;
    if (!unpackLz4To(part.subarray(LZ4_HEADER_BYTES), size, plain, at)) throw corrupt();
    const first = extents.count;
    extents.addBlock(plain, at, at + size);
    found.push({ first, count: extents.count - first, packed: part });
    at += size;
  }
  unpackParts(packed, plain, at, packedBytes);
  plain.set(ids, at + packedBytes);
  const [documents, ownIds] = [plain.subarray(0, at), plain.subarray(at, end)];
  return { isPacked: true, documents, ...extents.all(), blocks: found, ids: ownIds };
}

/** Where documents of blocks are. */
class Extents {
  count = 0;
  #starts = new Uint32Array(1024);
  #stops = new Uint32Array(1024);

  /** Adds the documents of the unpacked block bytes[from..to): its lengths precede the documents. */
  addBlock(bytes: Uint8Array, from: number, to: number): void {
    const lengths = new ByteReader(bytes, from + 4);
    const lengthsBytes = to - from < 4 ? 0 : readU32(bytes, from);
    let start = from + 4 + lengthsBytes;
    const lengthsEnd = start;
    while (lengths.at < lengthsEnd) {
      const stop = start + lengths.varint();
      if (lengths.at > lengthsEnd || stop > to) throw corrupt();
      this.#starts = grown(this.#starts, this.count + 1);
      this.#stops = grown(this.#stops, this.count + 1);
      this.#starts[this.count] = start;
      this.#stops[this.count++] = stop;
      start = stop;
    }
    if (start !== to || lengthsBytes === 0) throw corrupt();
  }

  all(): Pick<AppendColumns, "starts" | "stops"> {
    return { starts: this.#starts.subarray(0, this.count), stops: this.#stops.subarray(0, this.count) };
  }
}

/** Copies: a column may begin at any byte. */
function uint32s(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(aligned(bytes, UINT32_BYTES));
}

function float64s(bytes: Uint8Array): Float64Array {
  return new Float64Array(aligned(bytes, FLOAT64_BYTES));
}

function aligned(bytes: Uint8Array, size: number): ArrayBuffer {
  if (bytes.length % size !== 0) throw corrupt();
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy.buffer;
}

function corrupt(): AppError {
  return new AppError("data_corrupt", "the columns of a message of the log don't fit together");
}

/** Returns the packed parts of `bytes`; null if they are hardly smaller. */
export function packParts(bytes: Uint8Array): Uint8Array[] | null {
  if (bytes.length < LEAST_BYTES || bytes.length > MAX_BYTES) return null;
  const parts: Uint8Array[] = [];
  let packedBytes = 0;
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    const packed = packLz4(bytes.subarray(from, from + PART_BYTES));
    const part = Buffer.allocUnsafe(packed.length);
    copyBytes(packed, 0, packed.length, part, 0);
    parts.push(part);
    packedBytes += part.length;
    if (packedBytes > WORTHWHILE * Math.min(from + PART_BYTES, bytes.length)) return null;
  }
  return parts;
}

/** Writes the `sizeBytes` bytes of packed parts to `out` from `from` on. Throws data_corrupt. */
function unpackParts(parts: readonly Uint8Array[], out: Uint8Array, from: number, sizeBytes: number): void {
  if (sizeBytes > MAX_BYTES || parts.length !== Math.ceil(sizeBytes / PART_BYTES)) throw corrupt();
  for (const [nth, part] of parts.entries()) {
    const at = nth * PART_BYTES;
    if (!unpackLz4To(part, Math.min(PART_BYTES, sizeBytes - at), out, from + at)) throw corrupt();
  }
}
