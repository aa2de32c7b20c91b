/** An HTTP server with bounded bodies, for inputs: it answers once a request's events are in the log. */

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { TlsOptions } from "node:tls";
import type { IntakeShares } from "#hub/pipeline/plugins/input.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Holding } from "#proto/kit/fair-shares.ts";
import { ConnectionPlaces } from "./connection-place.ts";
import { bodyOf, unpackedStream } from "./http-body.ts";
import { HANDSHAKE_MS, listen, listenedPort, type NoteHeld } from "./listener.ts";
import type { SignIn } from "./sign-in.ts";

export interface HttpServerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  /** Longest body, packed or not, bytes. */
  readonly maxBodyBytes: number;
  /** Maximum of concurrent requests; others are answered 429. */
  readonly maxRequests: number;
  /** Checks who may send. */
  readonly signIn: SignIn;
  readonly shares: IntakeShares;
  /** Returns true for requests that need no credentials; their bodies aren't read. */
  readonly isOpen?: (method: string, url: string) => boolean;
  /** Serves a request; what it throws is the answer. */
  readonly serve: (request: HttpRequest) => Promise<HttpAnswer>;
  /** Returns the refusal of a request in the form that its sender reads; without it that is text. */
  readonly refusal?: (url: string, refusal: HttpRefusal) => HttpAnswer;
}

/** A server whose handler reads bodies of any length as they come. */
export interface StreamServerOptions
  extends Omit<HttpServerOptions, "serve" | "isOpen" | "maxBodyBytes" | "refusal"> {
  readonly serveStream: (request: StreamedRequest) => Promise<HttpAnswer>;
}

interface HttpRequestHead {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly httpVersion: string;
  /** As trusted proxies name it. */
  readonly remoteAddress: string;
}

export interface HttpRequest extends HttpRequestHead {
  readonly body: Buffer;
}

export interface StreamedRequest extends HttpRequestHead {
  /** Unpacked. */
  readonly body: AsyncIterable<Buffer>;
  /** Records how many bytes are kept of what isn't whole. */
  readonly held: NoteHeld;
}

/**
 * A connection that neither sends nor is answered for this long is closed, ms. Time in which the log is full counts.
 */
const STREAM_IDLE_MS = 600_000;

export interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** Why a request isn't served. */
export interface HttpRefusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

const UNKNOWN: HttpRefusal = {
  status: 401,
  headers: { "WWW-Authenticate": 'Basic realm="tailrace", Bearer realm="tailrace"' },
  message: "sign in: send an Authorization header that this input takes",
};

export class HttpServer {
  readonly #options: HttpServerOptions | StreamServerOptions;
  readonly #working = new Set<Promise<void>>();
  /** Requests whose bodies aren't whole: nothing of them was taken. */
  readonly #reading = new Set<IncomingMessage>();
  #server: Server | undefined;
  #isStopping = false;

  constructor(options: HttpServerOptions | StreamServerOptions) {
    this.#options = options;
  }

  /** The port in use, if 0 let the system choose. */
  get port(): number {
    return listenedPort(this.#server, this.#options.port);
  }

  /** Throws port_taken, unavailable. */
  async start(): Promise<void> {
    const { host, port, tls } = this.#options;
    const take: RequestListener = (request, response) => this.#take(request, response);
    const server =
      tls === undefined
        ? createServer(take)
        : createTlsServer({ ...tls, handshakeTimeout: HANDSHAKE_MS }, take);
    new ConnectionPlaces(this.#options.shares).limit(server);
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
    this.#isStopping = true;
    if ("serveStream" in this.#options) server.closeAllConnections();
    else server.closeIdleConnections();
    for (const request of this.#reading) request.destroy();
    await Promise.allSettled(this.#working);
    server.closeAllConnections();
    await closed;
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const client = clientOf(request, this.#options.shares);
    const held = this.#options.shares.bytes.holding(client);
    const work = this.#answer(request, client, held)
      .finally(() => held.release())
      .catch((error: unknown): HttpAnswer => {
        const { status, message, retryable } = toAppError(error);
        const headers: Record<string, string> = retryable ? { "Retry-After": "1" } : {};
        return this.#refusal(request, { status, message, headers });
      })
      .then((answer) => {
        // What wasn't read of a body would be taken for the next request; and at a stop none may come.
        if (!request.complete || this.#isStopping) response.setHeader("Connection", "close");
        response.writeHead(answer.status, answer.headers);
        response.end(answer.body);
      })
      .catch(() => void response.destroy())
      .finally(() => this.#working.delete(work));
    this.#working.add(work);
  }

  async #answer(request: IncomingMessage, remoteAddress: string, held: Holding): Promise<HttpAnswer> {
    const { maxRequests } = this.#options;
    if (this.#working.size >= maxRequests)
      throw new AppError("overloaded", "too many requests are in progress");
    const head: HttpRequestHead = {
      method: request.method ?? "GET",
      url: request.url ?? "/",
      headers: request.headers,
      httpVersion: request.httpVersion,
      remoteAddress,
    };
    if ("isOpen" in this.#options && this.#options.isOpen?.(head.method, head.url) === true)
      return this.#options.serve({ ...head, body: Buffer.alloc(0) });
    if (!(await this.#options.signIn.accepts(request.headers.authorization, remoteAddress)))
      return this.#refusal(request, UNKNOWN);
    if ("serveStream" in this.#options)
      return this.#options.serveStream({
        ...head,
        body: unpackedStream(request),
        held: (bytes) => held.set(bytes),
      });
    const { serve, maxBodyBytes } = this.#options;
    this.#reading.add(request);
    const body = await bodyOf(request, maxBodyBytes, held).finally(() => this.#reading.delete(request));
    return serve({ ...head, body });
  }

  #refusal(request: IncomingMessage, refusal: HttpRefusal): HttpAnswer {
    const options = this.#options;
    if ("refusal" in options && options.refusal !== undefined)
      return options.refusal(request.url ?? "/", refusal);
    return textRefusal(refusal);
  }
}

/** Returns a refusal as a line of text. */
export function textRefusal({ status, message, headers }: HttpRefusal): HttpAnswer {
  return { status, headers, body: `${message}\n` };
}

/** Returns the address of the sender of a request, as trusted proxies name it. */
function clientOf({ socket, headers }: IncomingMessage, { proxies }: IntakeShares): string {
  return proxies.clientOf(socket.remoteAddress ?? "", headers["x-forwarded-for"]);
}
