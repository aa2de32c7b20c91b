/** Blocks of about ten thousand bytes, packed by zstd. */

import { constants, zstdCompressSync } from "node:zlib";
import type { ByteBuffer } from "#hub/engine/bytes/byte-buffer.ts";
import { freeBytes } from "#proto/kit/large-bytes.ts";

/**
 * Level 5 would save one byte of a hundred, for a tenth of a merge's CPU. Its tables of 16 and 15 bits, which are
 * rebuilt for each block, took half of the time that packing takes; these cost half a percent of the bytes of columns,
 * and nothing of ids.
 */
const PARAMETERS = {
  [constants.ZSTD_c_compressionLevel]: 3,
  [constants.ZSTD_c_hashLog]: 13,
  [constants.ZSTD_c_chainLog]: 12,
};
/** Smallest buffer that zlib takes. */
const MIN_CHUNK_BYTES = 64;

/** Appends `raw`, packed, to `out`. */
export function appendZstd(raw: Uint8Array, out: ByteBuffer): void {
  const chunkSize = packedBound(raw.length);
  const packed = zstdCompressSync(raw, { params: PARAMETERS, chunkSize });
  out.append(packed);
  // It is a view of all that was reserved. Smaller ones share memory with others.
  if (chunkSize > Buffer.poolSize) freeBytes(new Uint8Array(packed.buffer));
}

/** Most bytes that so many become. With space for them zstd writes to where they stay, and at once. */
function packedBound(bytes: number): number {
  return bytes + (bytes >>> 8) + MIN_CHUNK_BYTES;
}
