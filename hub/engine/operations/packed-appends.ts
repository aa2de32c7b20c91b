/**
 * Documents and ids of a message as LZ4 blocks (DocAppends.packed in proto/log.proto). Documents of a message are much
 * alike: packed they are a fifth, and the log's bytes cost more on their way through sockets, nats-server and disk than
 * packing and unpacking them does.
 */

import { packLz4, unpackLz4To } from "#hub/engine/encoding/lz4.ts";
import { AppError } from "#proto/kit/errors.ts";

/** Bytes of a part before packing, but of the last one: they stay in the processor's cache while they are packed. */
const PART_BYTES = 256 * 1024;

/** Below it a message costs about the same whatever its size. */
const LEAST_BYTES = 4 * 1024;

/** More than a message of the largest size has before packing: what says so is damaged. */
const MAX_BYTES = 16 * 1024 ** 2;

/** Documents that are hardly smaller packed are sent as they are. */
const WORTHWHILE = 0.9;

/** Returns the packed parts of `bytes`; null where that brings nothing. */
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
export function unpackParts(parts: readonly Uint8Array[], sizeBytes: number): Uint8Array {
  if (sizeBytes > MAX_BYTES || parts.length !== Math.ceil(sizeBytes / PART_BYTES)) throw corrupt();
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  for (const [nth, part] of parts.entries()) {
    const at = nth * PART_BYTES;
    if (!unpackLz4To(part, Math.min(PART_BYTES, sizeBytes - at), bytes, at)) throw corrupt();
  }
  return bytes;
}

function corrupt(): AppError {
  return new AppError("data_corrupt", "the packed documents of a message of the log can't be unpacked");
}
