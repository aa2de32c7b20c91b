/**
 * Reads request bodies within limits: for one body, for the bodies of one owner, and for all bodies in memory. The
 * memory of a body's chunks is freed immediately.
 */

import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "#proto/kit/errors.ts";
import { FairShares, type Holding } from "#proto/kit/fair-shares.ts";
import { freeBytes, newBytes, recycleBytes, usedBytes } from "#proto/kit/large-bytes.ts";
import type { Metrics } from "#proto/kit/metrics.ts";

/**
 * A Content-Length may be false: memory is allocated only for this many bytes, or for this multiple of the bytes that
 * have arrived.
 */
const TRUSTED_BYTES = 1024 * 1024;
const TRUSTED_TIMES = 8;

const EMPTY = Buffer.alloc(0);

export class GrowingBytes {
  length = 0;
  #bytes: Buffer = EMPTY;
  /** The memory was used before: the process holds all of it, however little has arrived. */
  #isUsed = false;
  readonly #announced: number;

  /** `announced`: Content-Length; 0 if there is none. */
  constructor(announced: number) {
    this.#announced = announced;
  }

  /** All bytes so far. Valid until the next `take`. */
  get view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  /** Memory that the process holds for them. It doesn't decrease. */
  get heldBytes(): number {
    return this.#isUsed ? this.#bytes.length : this.length;
  }

  /** Appends a chunk and takes over its memory. */
  take(chunk: Buffer): void {
    if (this.length === 0 && chunk.length >= this.#announced) {
      this.#bytes = chunk;
      this.length = chunk.length;
      return;
    }
    const length = this.length + chunk.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(chunk, this.length);
    this.length = length;
    freeBytes(chunk);
  }

  #grow(least: number): void {
    const trusted = Math.max(TRUSTED_BYTES, TRUSTED_TIMES * least);
    const isTrusted = this.#announced >= least && this.#announced <= trusted;
    const size = isTrusted ? this.#announced : Math.max(least, 2 * this.length);
    const used = usedBytes(size);
    const larger = used ?? newBytes(size);
    larger.set(this.view);
    recycleBytes(this.#bytes);
    this.#bytes = larger;
    this.#isUsed = used !== undefined;
  }
}

/**
 * Limit of all bodies in memory; a request beyond it is refused with a retryable error. At least twice MAX_BODY_BYTES
 * (route.ts), as one owner gets half.
 */
export const MAX_BODIES_BYTES = 256 * 1024 * 1024;

/** Bytes that are decompressed at a time. */
const UNPACK_BYTES = 256 * 1024;

const UNPACK: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: UNPACK_BYTES }),
  "x-gzip": () => createGunzip({ chunkSize: UNPACK_BYTES }),
  deflate: () => createInflate({ chunkSize: UNPACK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: UNPACK_BYTES }),
};

/** A body that was read; `release` returns its memory to the budget. */
export interface ReadBody {
  readonly bytes: Buffer;
  release(): void;
}

const NOTHING: ReadBody = { bytes: Buffer.alloc(0), release() {} };

export class BodyReader {
  /** An owner is a principal, or without a sign-in an address. One owner may hold half. */
  readonly #shares: FairShares;
  /** What one body may hold, packed and unpacked: the half of one owner. */
  readonly #aloneBytes: number;

  /** `limitBytes`: of all bodies together. */
  constructor(metrics: Metrics, limitBytes = MAX_BODIES_BYTES) {
    this.#aloneBytes = limitBytes / 2;
    this.#shares = new FairShares({
      limit: limitBytes,
      what: "bytes of request bodies are in work",
      remedy: "send it again a little later",
    });
    metrics.gauge("tailrace_api_bodies_bytes", "memory of request bodies in work", [], (gauge) =>
      gauge.set(this.#shares.taken),
    );
    metrics.counter(
      "tailrace_api_bodies_refused_total",
      "requests refused because the bodies in work of their sender, or of all, are too large together",
      [],
      (counter) => {
        counter.reset();
        counter.inc(this.#shares.refused);
      },
    );
  }

  /** `owner`: whose budget the body is charged to. Throws request_too_large, overloaded, media_type (unknown packing or transfer coding), request_invalid (broken packing), cancelled. */
  async read(message: IncomingMessage, limitBytes: number, owner: string): Promise<ReadBody> {
    const { headers } = message;
    const length = headers["content-length"];
    if (length === "0" || (length === undefined && headers["transfer-encoding"] === undefined))
      return NOTHING;
    const coding = headers["transfer-encoding"];
    // RFC 9112 section 6.1: with a further transfer coding, the hub and a proxy could read different bodies.
    if (coding !== undefined && coding.toLowerCase() !== "chunked")
      throw new AppError("media_type", `Transfer-Encoding [${coding}] is not supported; use chunked`);
    const held = this.#shares.holding(owner);
    try {
      const announced = Number(length ?? 0);
      if (announced > limitBytes) throw tooLarge(limitBytes);
      const packed = await receive(message, held, announced, limitBytes);
      const limits = { limitBytes, aloneBytes: this.#aloneBytes };
      const bytes = await unpack(packed, headers["content-encoding"], held, limits);
      return { bytes, release: () => held.release() };
    } catch (error) {
      held.release();
      if (error instanceof AppError) throw error;
      throw new AppError("cancelled", "the client disconnected before its request was complete", {
        cause: error,
      });
    }
  }
}

/** Reads to the end. Fast path: a small body usually arrives together with its head and is read immediately. */
function receive(
  message: IncomingMessage,
  held: Holding,
  length: number,
  limitBytes: number,
): Buffer | Promise<Buffer> {
  if (message.readableLength !== length || length === 0) return receiveRest(message, held, limitBytes);
  held.take(length);
  return message.read() as Buffer;
}

/** Uses events because an iterator over the stream costs as much as a small request. */
function receiveRest(message: IncomingMessage, held: Holding, limitBytes: number): Promise<Buffer> {
  return new Promise((done, fail) => {
    const bytes = new GrowingBytes(Number(message.headers["content-length"] ?? 0));
    const end = (error?: Error): void => {
      message.off("data", take).off("end", onEnd).off("error", end).off("close", onClose);
      if (error === undefined) done(bytes.view);
      else {
        message.pause();
        fail(error);
      }
    };
    const onEnd = (): void => end();
    const onClose = (): void => end(new Error("the connection was closed"));
    const take = (chunk: Buffer): void => {
      try {
        append(bytes, chunk, held, limitBytes);
      } catch (error) {
        end(error as AppError);
      }
    };
    message.on("data", take).on("end", onEnd).on("error", end).on("close", onClose);
  });
}

/** Charges the memory that is held for the bytes, which may be more than have arrived. */
function append(bytes: GrowingBytes, chunk: Buffer, held: Holding, limitBytes: number): void {
  if (bytes.length + chunk.length > limitBytes) throw tooLarge(limitBytes);
  const before = bytes.heldBytes;
  bytes.take(chunk);
  held.take(bytes.heldBytes - before);
}

/**
 * Decompresses within the limit and the budget, which is charged as the bytes arrive. `aloneBytes`: what the packed and
 * the unpacked bytes may hold together. More would be refused as overloaded, however often it is sent.
 */
async function unpack(
  packed: Buffer,
  encoding: string | undefined,
  held: Holding,
  { limitBytes, aloneBytes }: { readonly limitBytes: number; readonly aloneBytes: number },
): Promise<Buffer> {
  if (encoding === undefined || encoding === "identity" || encoding === "") return packed;
  const unpacker = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding] : undefined;
  if (unpacker === undefined)
    throw new AppError("media_type", `Content-Encoding [${encoding}] is not supported; use gzip or none`);
  const stream = unpacker();
  const bytes = new GrowingBytes(0);
  try {
    stream.end(packed);
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      if (packed.length + bytes.heldBytes + chunk.length > aloneBytes)
        throw tooLarge(aloneBytes, ", packed and unpacked together");
      append(bytes, chunk, held, limitBytes);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("request_invalid", `the body isn't valid ${encoding} data`, { cause: error });
  } finally {
    stream.destroy();
  }
  freeBytes(packed);
  return bytes.view;
}

function tooLarge(limitBytes: number, what = ""): AppError {
  return new AppError(
    "request_too_large",
    `the request body is larger than ${limitBytes} bytes${what}; send it in several requests`,
  );
}
