/** A server of requests with bounded bodies, for inputs: answers when what came is in the log. */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { type Duplex, pipeline } from "node:stream";
import type { TlsOptions } from "node:tls";
import { promisify } from "node:util";
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
  gunzip,
  inflate,
  zstdDecompress,
} from "node:zlib";
import { unpackSnappy } from "#hub/pipeline/formats/snappy.ts";
import { AppError, systemCode, toAppError } from "#proto/kit/errors.ts";
import { listen, listenedPort } from "./listener.ts";
import type { SignIn } from "./sign-in.ts";

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  /** Longest body, packed or not, bytes. */
  readonly maxBodyBytes: number;
  /** Requests at work at a time; others are answered 429. */
  readonly maxRequests: number;
  /** Who may send. */
  readonly signIn: SignIn;
  /** Serves a request; what it throws is the answer. */
  readonly serve: (request: HttpRequest) => Promise<HttpAnswer>;
}

/** A server whose handler reads bodies of any length as they come. */
export interface StreamServerOptions extends Omit<HttpServerOptions, "serve" | "maxBodyBytes"> {
  readonly serveStream: (request: StreamedRequest) => Promise<HttpAnswer>;
}

interface HttpRequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly httpVersion: string;
  readonly remoteAddress: string;
}

export interface HttpRequest extends HttpRequestHead {
  readonly body: Buffer;
}

export interface StreamedRequest extends HttpRequestHead {
  /** Unpacked. */
  readonly body: AsyncIterable<Buffer>;
}

/** A connection that neither sends nor is answered for so long is closed, ms. Time in which the log is full counts. */
const STREAM_IDLE_MS = 600_000;

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

type Unpack = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const ENCODINGS: Readonly<Record<string, Unpack>> = {
  gzip: promisify(gunzip) as Unpack,
  deflate: promisify(inflate) as Unpack,
  br: promisify(brotliDecompress) as Unpack,
  zstd: promisify(zstdDecompress) as Unpack,
  snappy: async (body, { maxOutputLength }) => unpackSnappy(body, maxOutputLength),
};

const STREAM_ENCODINGS: Readonly<Record<string, () => Duplex>> = {
  gzip: createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

const UNKNOWN: HttpAnswer = {
  status: 401,
  headers: { "WWW-Authenticate": 'Basic realm="tailrace", Bearer realm="tailrace"' },
  body: "sign in: send an Authorization header that this input takes\n",
};

export class HttpServer {
  readonly #options: HttpServerOptions | StreamServerOptions;
  readonly #working = new Set<Promise<void>>();
  #server: Server | undefined;

  constructor(options: HttpServerOptions | StreamServerOptions) {
    this.#options = options;
  }

  /** The port listened at, where 0 let the system choose. */
  get port(): number {
    return listenedPort(this.#server, this.#options.port);
  }

  /** Throws port_taken, unavailable. */
  async start(): Promise<void> {
    const { host, port, tls } = this.#options;
    const take: RequestListener = (request, response) => this.#take(request, response);
    const server = tls === undefined ? createServer(take) : createTlsServer(tls, take);
    this.#server = server;
    if ("serveStream" in this.#options) {
      server.requestTimeout = 0;
      server.setTimeout(STREAM_IDLE_MS);
    }
    await listen(server, host, port);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    if ("serveStream" in this.#options) server.closeAllConnections();
    else server.closeIdleConnections();
    await Promise.allSettled(this.#working);
    server.closeAllConnections();
    await closed;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const work = this.#answer(request)
      .catch((error: unknown): HttpAnswer => {
        const { status, message, retryable } = toAppError(error);
        return { status, body: `${message}\n`, ...(retryable && { headers: { "Retry-After": "1" } }) };
      })
      .then((answer) => {
        // What wasn't read of a body would be taken for the next request.
        if (!request.complete) response.setHeader("Connection", "close");
        response.writeHead(answer.status, answer.headers);
        response.end(answer.body);
      })
      .catch(() => void response.destroy())
      .finally(() => this.#working.delete(work));
    this.#working.add(work);
  }

  async #answer(request: IncomingMessage): Promise<HttpAnswer> {
    const { maxRequests } = this.#options;
    if (this.#working.size >= maxRequests) throw new AppError("overloaded", "too many requests are at work");
    const remoteAddress = request.socket.remoteAddress ?? "";
    if (!(await this.#options.signIn.accepts(request.headers.authorization, remoteAddress))) return UNKNOWN;
    const head: HttpRequestHead = {
      method: request.method ?? "GET",
      url: request.url ?? "/",
      headers: request.headers,
      httpVersion: request.httpVersion,
      remoteAddress,
    };
    if ("serveStream" in this.#options)
      return this.#options.serveStream({ ...head, body: unpackedStream(request) });
    const { serve, maxBodyBytes } = this.#options;
    return serve({ ...head, body: await this.#body(request, maxBodyBytes) });
  }

  async #body(request: IncomingMessage, maxBodyBytes: number): Promise<Buffer> {
    const tooLarge = new AppError("request_too_large", `a body may have ${maxBodyBytes} bytes at most`);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > maxBodyBytes) throw tooLarge;
      chunks.push(chunk);
    }
    const encoding = request.headers["content-encoding"] ?? "identity";
    const whole = Buffer.concat(chunks);
    if (encoding === "identity") return whole;
    const unpack = ENCODINGS[encoding];
    if (unpack === undefined) throw new AppError("request_invalid", `the encoding ${encoding} isn't known`);
    try {
      return await unpack(whole, { maxOutputLength: maxBodyBytes });
    } catch (error) {
      if (systemCode(error) === "ERR_BUFFER_TOO_LARGE") throw tooLarge;
      if (error instanceof AppError) throw error;
      throw new AppError("request_invalid", `the body is no ${encoding}`, { cause: error });
    }
  }
}

/** Returns a body as it comes, unpacked. Throws request_invalid for an encoding that isn't known; reading, where it is damaged. */
function unpackedStream(request: IncomingMessage): AsyncIterable<Buffer> {
  const encoding = request.headers["content-encoding"] ?? "identity";
  if (encoding === "identity") return request;
  const make = STREAM_ENCODINGS[encoding];
  if (make === undefined)
    throw new AppError(
      "request_invalid",
      `the encoding ${encoding} isn't known; this input takes ${Object.keys(STREAM_ENCODINGS).join(", ")}`,
    );
  return unpackedChunks(request, make(), encoding);
}

async function* unpackedChunks(
  request: IncomingMessage,
  unpacking: Duplex,
  encoding: string,
): AsyncGenerator<Buffer> {
  // A failure of either ends the other; reading throws it.
  pipeline(request, unpacking, () => undefined);
  try {
    for await (const chunk of unpacking as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    throw new AppError("request_invalid", `the body is no ${encoding}`, { cause: error });
  }
}
