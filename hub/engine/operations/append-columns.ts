/**
 * New documents of a message as columns (DocAppends in proto/log.proto): checked, and read in place. Documents and ids may be
 * packed as LZ4 blocks: documents of a message are much alike, packed they take a fifth, and the log's bytes cost more on
 * their way through sockets, nats-server and disk than packing and unpacking them.
 */

import { packLz4, unpackLz4To } from "#hub/engine/encoding/lz4.ts";
import { AppError } from "#proto/kit/errors.ts";
import { DocAppends, type tailrace } from "#proto/messages.ts";

const UINT32_BYTES = 4;
const FLOAT64_BYTES = 8;

/** Bytes of a part before packing, except the last one: they stay in the processor's cache while they are packed. */
const PART_BYTES = 256 * 1024;

/** Below it a message costs about the same whatever its size. */
const LEAST_BYTES = 4 * 1024;

/** More than the largest message has before packing; a larger size is damage. */
const MAX_BYTES = 16 * 1024 ** 2;

/** Documents that are hardly smaller packed are sent as they are. */
const WORTHWHILE = 0.9;

/** See the file's comment. Document i is documents[(i === 0 ? 0 : ends[i - 1] + gap)..ends[i]). */
interface AppendColumns {
  readonly count: number;
  /** Documents and ids were packed: they have memory of their own. */
  readonly isPacked: boolean;
  readonly documents: Uint8Array;
  readonly ends: Uint32Array;
  readonly gap: number;
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

/**
 * Reads the columns. Documents and ids share memory with each other: with `bytes`, or where they were packed with nothing
 * else. Throws data_corrupt where they don't fit together.
 */
export function readAppends(bytes: Uint8Array): AppendColumns {
  const appends = decode(bytes);
  const { gap, ordinals, sourceIndices, offsets } = appends;
  const ends = uint32s(appends.ends);
  const count = ends.length;
  const isPacked = appends.packed.length > 0;
  const { documents, ids } = isPacked ? unpacked(appends, ends.at(-1) ?? 0) : appends;
  const columns = {
    count,
    isPacked,
    documents,
    ends,
    gap,
    ids,
    idBytes: count === 0 ? 0 : ids.length / count,
    ordinals: ordinals.length === 0 ? null : uint32s(ordinals),
    sourceIndices: sourceIndices.length === 0 ? null : uint32s(sourceIndices),
    offsets: offsets.length === 0 ? null : float64s(offsets),
  };
  if (!fits(columns)) throw corrupt();
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

/** Documents and ids that were packed. */
function unpacked(
  { packed, packedBytes, documents, ids }: tailrace.DocAppends,
  documentBytes: number,
): Pick<AppendColumns, "documents" | "ids"> {
  if (documents.length > 0 || ids.length > 0 || documentBytes > packedBytes) throw corrupt();
  const plain = unpackParts(packed, packedBytes);
  return { documents: plain.subarray(0, documentBytes), ids: plain.subarray(documentBytes) };
}

function fits({ count, documents, ends, gap, ids, idBytes, ...others }: AppendColumns): boolean {
  if (!Number.isInteger(idBytes) || (count === 0 && ids.length > 0)) return false;
  for (const column of [others.ordinals, others.sourceIndices, others.offsets])
    if (column !== null && column.length !== count) return false;
  let start = 0;
  for (const end of ends) {
    if (end < start) return false;
    start = end + gap;
  }
  return start - gap <= documents.length || count === 0;
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

/** Returns the packed parts of `bytes`; null where they are hardly smaller. */
export function packParts(bytes: Uint8Array): Uint8Array[] | null {
  if (bytes.length < LEAST_BYTES || bytes.length > MAX_BYTES) return null;
  const parts: Uint8Array[] = [];
  let packedBytes = 0;
  for (let from = 0; from < bytes.length; from += PART_BYTES) {
    const part = Buffer.from(packLz4(bytes.subarray(from, from + PART_BYTES)));
    parts.push(part);
    packedBytes += part.length;
    if (packedBytes > WORTHWHILE * Math.min(from + PART_BYTES, bytes.length)) return null;
  }
  return parts;
}

/** Returns the `sizeBytes` bytes of packed parts. Throws data_corrupt. */
function unpackParts(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  if (sizeBytes > MAX_BYTES || parts.length !== Math.ceil(sizeBytes / PART_BYTES)) throw corrupt();
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  for (const [nth, part] of parts.entries()) {
    const at = nth * PART_BYTES;
    if (!unpackLz4To(part, Math.min(PART_BYTES, sizeBytes - at), bytes, at)) throw corrupt();
  }
  return bytes;
}
