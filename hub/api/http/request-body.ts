/** Reads request bodies within limits for one body and for all bodies in memory. */

import type { IncomingMessage } from "node:http";
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { freeBytes } from "#proto/kit/free-bytes.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { GrowingBytes } from "./growable-buffer.ts";

/** Largest body, packed and unpacked: http.max_content_length of 6.5. */
export const MAX_BODY_BYTES = 100 * 1024 * 1024;
/** Limit of all bodies in memory; a request beyond it is refused with a retryable error. */
const MAX_BODIES_BYTES = 256 * 1024 * 1024;

const UNPACK: Readonly<
  Record<string, (packed: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>
> = {
  gzip: promisify(gunzip),
  "x-gzip": promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** A body that was read; `release` gives its memory back to the budget. */
export interface ReadBody {
  readonly bytes: Buffer;
  release(): void;
}

const NOTHING: ReadBody = { bytes: Buffer.alloc(0), release() {} };

export class BodyReader {
  #inWorkBytes = 0;
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

  /** Throws request_too_large, overloaded, media_type (unknown packing), request_invalid (broken packing), cancelled. */
  async read(message: IncomingMessage): Promise<ReadBody> {
    const { headers } = message;
    const length = headers["content-length"];
    if (length === "0" || (length === undefined && headers["transfer-encoding"] === undefined))
      return NOTHING;
    const held = new Held((bytes) => this.#take(bytes));
    try {
      const announced = Number(length ?? 0);
      if (announced > MAX_BODY_BYTES) throw tooLarge();
      const packed = await receive(message, held, announced);
      const bytes = await unpack(packed, headers["content-encoding"]);
      if (bytes !== packed) {
        held.take(bytes.length);
        freeBytes(packed);
      }
      return { bytes, release: () => held.release() };
    } catch (error) {
      held.release();
      if (error instanceof AppError) throw error;
      throw new AppError("cancelled", "the client went away before its request was complete", {
        cause: error,
      });
    }
  }

  #take(bytes: number): void {
    if (bytes > 0 && this.#inWorkBytes + bytes > MAX_BODIES_BYTES) {
      this.#onRefused();
      throw new AppError(
        "overloaded",
        `the bodies of all requests in work would exceed ${MAX_BODIES_BYTES} bytes; send it again a little later`,
      );
    }
    this.#inWorkBytes += bytes;
  }
}

/** Reads to the end. Fast path: a small body usually arrives with its head and is taken at once. */
function receive(message: IncomingMessage, held: Held, length: number): Buffer | Promise<Buffer> {
  if (message.readableLength !== length || length === 0) return receiveRest(message, held);
  held.take(length);
  return message.read() as Buffer;
}

/** By events: an iterator over the stream costs as much as a small request. */
function receiveRest(message: IncomingMessage, held: Held): Promise<Buffer> {
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
        if (bytes.length + chunk.length > MAX_BODY_BYTES) throw tooLarge();
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

async function unpack(packed: Buffer, encoding = "identity"): Promise<Buffer> {
  if (encoding === "identity" || encoding === "") return packed;
  const unpacker = Object.hasOwn(UNPACK, encoding) ? UNPACK[encoding] : undefined;
  if (unpacker === undefined)
    throw new AppError("media_type", `Content-Encoding [${encoding}] is not supported; use gzip or none`);
  try {
    return await unpacker(packed, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new AppError("request_invalid", `the body is no valid ${encoding} data`, { cause: error });
  }
}

function tooLarge(): AppError {
  return new AppError(
    "request_too_large",
    `the request body is larger than ${MAX_BODY_BYTES} bytes; send it in several requests`,
  );
}
