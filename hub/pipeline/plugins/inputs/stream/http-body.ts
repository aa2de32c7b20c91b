/** Bodies of requests: read and unpacked up to a limit, each byte charged as it comes. */

import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline } from "node:stream";
import {
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createInflateRaw,
  createZstdDecompress,
} from "node:zlib";
import { ZstdFrames, zstdFrames } from "#hub/pipeline/formats/zstd-frames.ts";
import { isFramedSnappy, unpackFramedSnappy, unpackSnappy } from "#proto/codec/snappy.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Holding } from "#proto/kit/fair-shares.ts";

const ENCODINGS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  zlib: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Returns a body, unpacked; its bytes are charged as they come. Throws request_too_large, request_invalid, overloaded. */
export async function bodyOf(request: IncomingMessage, maxBytes: number, held: Holding): Promise<Buffer> {
  const packed = await whole(request, maxBytes, held);
  const encoding = encodingOf(request);
  return encoding === "identity" ? packed : unpacked(packed, encoding, maxBytes, held);
}

/** Returns the name of a body's encoding; empty means none. */
function encodingOf(request: IncomingMessage): string {
  return (request.headers["content-encoding"] ?? "").trim().toLowerCase() || "identity";
}

/** Returns what bytes of an encoding unpack to; they are charged as they come. Throws request_too_large, request_invalid, overloaded. */
export async function unpacked(
  packed: Buffer,
  encoding: string,
  maxBytes: number,
  held: Holding,
): Promise<Buffer> {
  if (SNAPPY.includes(encoding)) {
    // Under both names senders have sent both forms.
    const unpack = isFramedSnappy(packed) ? unpackFramedSnappy : unpackSnappy;
    const body = unpack(packed, maxBytes);
    held.take(body.length);
    return body;
  }
  const make = Object.hasOwn(ENCODINGS, encoding) ? ENCODINGS[encoding] : undefined;
  if (make === undefined)
    throw new AppError("request_invalid", `the encoding ${encoding.slice(0, 100)} isn't known`);
  const unpacking = make === createInflate && !hasZlibHead(packed) ? createInflateRaw() : make();
  const parts = encoding === "zstd" ? new ZstdFrames().cut(packed) : [packed];
  return unpackedBody(parts, unpacking, maxBytes, held).catch((error: unknown) => {
    if (error instanceof AppError) throw error;
    throw new AppError("request_invalid", `the body isn't ${encoding}`, { cause: error });
  });
}

/** Names of snappy as an encoding. */
const SNAPPY = ["snappy", "x-snappy-framed"];

/** Returns true for the two bytes before zlib's data (RFC 1950 §2.2), which some senders of "deflate" leave out. */
function hasZlibHead(bytes: Buffer): boolean {
  return bytes.length >= 2 && (bytes[0]! & 0x0f) === 8 && bytes.readUInt16BE(0) % 31 === 0;
}

/** Returns what the parts of a packed body unpack to; its bytes are charged as they come. Throws request_too_large, overloaded. */
export async function unpackedBody(
  packed: Iterable<Buffer>,
  unpacking: Duplex,
  maxBytes: number,
  held: Pick<Holding, "take">,
): Promise<Buffer> {
  // A failure of either ends the other; reading throws it.
  pipeline(packed, unpacking, () => undefined);
  try {
    return await whole(unpacking, maxBytes, held);
  } finally {
    unpacking.destroy();
  }
}

async function whole(
  chunks: AsyncIterable<Buffer>,
  maxBytes: number,
  held: Pick<Holding, "take">,
): Promise<Buffer> {
  const taken: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > maxBytes)
      throw new AppError("request_too_large", `a body may have ${maxBytes} bytes at most`);
    held.take(chunk.length);
    addPart(taken, chunk);
  }
  return Buffer.concat(taken);
}

/** Returns a body as it comes, unpacked. Throws request_invalid for an encoding that isn't known; reading, where it is damaged. */
export function unpackedStream(request: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = encodingOf(request);
  if (encoding === "identity") return request;
  const make = Object.hasOwn(ENCODINGS, encoding) ? ENCODINGS[encoding] : undefined;
  if (make === undefined)
    throw new AppError(
      "request_invalid",
      `the encoding ${encoding} isn't known; this input takes ${Object.keys(ENCODINGS).join(", ")}`,
    );
  return unpackedChunks(request, make(), encoding);
}

async function* unpackedChunks(
  request: IncomingMessage,
  unpacking: Duplex,
  encoding: string,
): AsyncGenerator<Buffer> {
  // A failure of either ends the other; reading throws it.
  if (encoding === "zstd") pipeline(request, zstdFrames, unpacking, () => undefined);
  else pipeline(request, unpacking, () => undefined);
  try {
    for await (const chunk of unpacking as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw new AppError("request_invalid", `the body isn't ${encoding}`, { cause: error });
  }
}
