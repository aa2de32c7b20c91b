/** Reads request bodies within limits for one body and for all bodies in memory. */

import type { IncomingMessage } from "node:http";
import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { GrowingBytes } from "./growable-buffer.ts";

/** Limit of all bodies in memory; a request beyond it is refused with a retryable error. */
export const MAX_BODIES_BYTES = 256 * 1024 * 1024;

/** Unpacked at a time. */
const UNPACK_BYTES = 256 * 1024;

const UNPACK: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip({ chunkSize: UNPACK_BYTES }),
  "x-gzip": () => createGunzip({ chunkSize: UNPACK_BYTES }),
  deflate: () => createInflate({ chunkSize: UNPACK_BYTES }),
  br: () => createBrotliDecompress({ chunkSize: UNPACK_BYTES }),
};

/** A body that was read; `release` gives its memory back to the budget. */
export interface ReadBody {
  readonly bytes: Buffer;
  release(): void;
}

const NOTHING: ReadBody = { bytes: Buffer.alloc(0), release() {} };

/** Bodies of one principal, or of one address without a sign-in: the rest stays for the others. One body always fits. */
const MAX_OWNER_BYTES = 128 * 1024 * 1024;
/** Wait that a refused client is asked for. */
const RETRY_AFTER_SECONDS = 1;

export class BodyReader {
  #inWorkBytes = 0;
  /** Bytes by owner, of those that hold some. */
  readonly #byOwner = new Map<string, number>();
  readonly #onRefused: () => void;

  constructor(metrics: Metrics) {
    metrics.gauge("tailrace_api_bodies_bytes", "memory of request bodies in work", [], (gauge) =>
      gauge.set(this.#inWorkBytes),
    );
    const refused = metrics.counter(
      "tailrace_api_bodies_refused_total",
      "requests refused because all bodies in work are too large together",
    );
    this.#onRefused = () => refused.inc();
  }

  /** `owner`: whose budget the body is charged to. Throws request_too_large, overloaded, media_type (unknown packing), request_invalid (broken packing), cancelled. */
  async read(message: IncomingMessage, limitBytes: number, owner: string): Promise<ReadBody> {
    const { headers } = message;
    const length = headers["content-length"];
    if (length === "0" || (length === undefined && headers["transfer-encoding"] === undefined))
      return NOTHING;
    const held = new Held((bytes) => this.#take(bytes, owner));
    try {
      const announced = Number(length ?? 0);
      if (announced > limitBytes) throw tooLarge(limitBytes);
      const packed = await receive(message, held, announced, limitBytes);
      const bytes = await unpack(packed, headers["content-encoding"], held, limitBytes);
      return { bytes, release: () => held.release() };
    } catch (error) {
      held.release();
      if (error instanceof AppError) throw error;
      throw new AppError("cancelled", "the client went away before its request was complete", {
        cause: error,
      });
    }
  }

  #take(bytes: number, owner: string): void {
    const owned = (this.#byOwner.get(owner) ?? 0) + bytes;
    if (bytes > 0 && this.#inWorkBytes + bytes > MAX_BODIES_BYTES)
      throw this.#refusal("the bodies of all requests in work", MAX_BODIES_BYTES);
    if (bytes > 0 && owned > MAX_OWNER_BYTES)
      throw this.#refusal("the bodies of your requests in work", MAX_OWNER_BYTES);
    this.#inWorkBytes += bytes;
    if (owned > 0) this.#byOwner.set(owner, owned);
    else this.#byOwner.delete(owner);
  }

  #refusal(what: string, limitBytes: number): AppError {
    this.#onRefused();
    return new AppError(
      "overloaded",
      `${what} would exceed ${limitBytes} bytes; send it again a little later`,
      {
        data: { retryAfterSeconds: RETRY_AFTER_SECONDS },
      },
    );
  }
}

/** Reads to the end. Fast path: a small body usually arrives with its head and is taken at once. */
function receive(
  message: IncomingMessage,
  held: Held,
  length: number,
  limitBytes: number,
): Buffer | Promise<Buffer> {
  if (message.readableLength !== length || length === 0) return receiveRest(message, held, limitBytes);
  held.take(length);
  return message.read() as Buffer;
}

/** By events: an iterator over the stream costs as much as a small request. */
function receiveRest(message: IncomingMessage, held: Held, limitBytes: number): Promise<Buffer> {
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
        if (bytes.length + chunk.length > limitBytes) throw tooLarge(limitBytes);
        held.take(chunk.length);
        bytes.take(chunk);
      } catch (error) {
        end(error as AppError);
      }
    };
    message.on("data", take).on("end", onEnd).on("error", end).on("close", onClose);
  });
}

/** The share of one body in the budget. */
class Held {
  #bytes = 0;
  readonly #change: (bytes: number) => void;

  constructor(change: (bytes: number) => void) {
    this.#change = change;
  }

  take(bytes: number): void {
    this.#change(bytes);
    this.#bytes += bytes;
  }

  release(): void {
    this.#change(-this.#bytes);
    this.#bytes = 0;
  }
}

/** Unpacks within the limit and the budget, which is charged while the bytes come. */
async function unpack(
  packed: Buffer,
  encoding: string | undefined,
  held: Held,
  limitBytes: number,
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
      if (bytes.length + chunk.length > limitBytes) throw tooLarge(limitBytes);
      held.take(chunk.length);
      bytes.take(chunk);
    }
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("request_invalid", `the body is no valid ${encoding} data`, { cause: error });
  } finally {
    stream.destroy();
  }
  freeBytes(packed);
  return bytes.view;
}

function tooLarge(limitBytes: number): AppError {
  return new AppError(
    "request_too_large",
    `the request body is larger than ${limitBytes} bytes; send it in several requests`,
  );
}
