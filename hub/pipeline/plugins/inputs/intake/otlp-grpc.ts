/**
 * OTLP over gRPC: the one method LogsService/Export, as gRPC maps it onto HTTP/2
 * (github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
 */

import {
  constants,
  createSecureServer,
  createServer,
  type Http2Server,
  type Http2Session,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { TlsOptions } from "node:tls";
import type { IntakeShares } from "#hub/pipeline/plugins/input.ts";
import { unpacked } from "#hub/pipeline/plugins/inputs/stream/http-body.ts";
import { addPart } from "#proto/kit/byte-parts.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Holding } from "#proto/kit/fair-shares.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { ConnectionPlaces } from "../stream/connection-place.ts";
import { HANDSHAKE_MS, listen, listenedPort } from "../stream/listener.ts";
import type { SignIn } from "../stream/sign-in.ts";
import type { TakeEvents } from "./http-intake.ts";
import { decodeOtlpProtobuf, otlpEvents } from "./otlp-logs.ts";

const EXPORT = "/opentelemetry.proto.collector.logs.v1.LogsService/Export";

/** Before each message: one byte for compression, four for the length. */
const FRAME_HEAD_BYTES = 5;

/** Encodings of messages that are taken. */
const ENCODINGS = ["gzip", "deflate", "zstd", "snappy"];

/** Time for the message of a call to come, as for a request over HTTP, ms. */
const MESSAGE_MS = 300_000;

/** Time for the sender to take its last answers, ms. */
const LINGER_MS = 1_000;

/** Status codes of gRPC. */
const OK = 0;
const INVALID_ARGUMENT = 3;
const RESOURCE_EXHAUSTED = 8;
const UNIMPLEMENTED = 12;
const UNAVAILABLE = 14;
const UNAUTHENTICATED = 16;

/** Codes of permanent refusals; for anything else the sender retries. */
const CODES: Readonly<Record<string, number>> = {
  parsing: INVALID_ARGUMENT,
  request_too_large: RESOURCE_EXHAUSTED,
};

export interface OtlpGrpcOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  /** Longest message, packed or not, bytes. */
  readonly maxBodyBytes: number;
  /** Maximum number of calls at a time; others are refused as retryable. */
  readonly maxRequests: number;
  readonly signIn: SignIn;
  readonly shares: IntakeShares;
  readonly take: TakeEvents;
  readonly now: () => number;
}

/** Ends a connection once its answers are sent: destroyed immediately, it would lose them. */
async function ended(session: Http2Session): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LINGER_MS);
  session.once("close", () => resolve());
  session.close();
  await promise;
  clearTimeout(timer);
  session.destroy();
}

class CallFailure extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export class OtlpGrpcServer implements Component {
  readonly #options: OtlpGrpcOptions;
  readonly #sessions = new Set<Http2Session>();
  readonly #calls = new Set<Promise<void>>();
  /** Calls whose message isn't whole: nothing of it was taken. */
  readonly #reading = new Set<ServerHttp2Stream>();
  #server: Http2Server | undefined;
  #isStopping = false;

  constructor(options: OtlpGrpcOptions) {
    this.#options = options;
  }

  /** The port in use, if 0 let the system choose. */
  get port(): number {
    return listenedPort(this.#server, this.#options.port);
  }

  /** Throws port_taken, unavailable. */
  async start(): Promise<void> {
    const { host, port, tls, maxRequests, shares } = this.#options;
    const settings = { maxConcurrentStreams: maxRequests };
    const server =
      tls === undefined
        ? createServer({ settings })
        : createSecureServer({ ...tls, settings, ALPNProtocols: ["h2"], handshakeTimeout: HANDSHAKE_MS });
    new ConnectionPlaces(shares).limit(server);
    server.on("session", (session: Http2Session) => {
      this.#sessions.add(session);
      session.on("error", () => undefined);
      session.once("close", () => this.#sessions.delete(session));
    });
    server.on("stream", (stream, headers) => this.#accept(stream, headers));
    this.#server = server;
    await listen(server, host, port);
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    this.#isStopping = true;
    for (const stream of this.#reading) stream.close(constants.NGHTTP2_CANCEL);
    await Promise.allSettled(this.#calls);
    await Promise.all(Array.from(this.#sessions, ended));
    await closed;
  }

  #accept(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    stream.on("error", () => undefined);
    const { bytes, proxies } = this.#options.shares;
    const ip = proxies.clientOf(stream.session?.socket.remoteAddress ?? "", headers["x-forwarded-for"]);
    const held = bytes.holding(ip);
    const call = this.#call(stream, headers, ip, held)
      .finally(() => held.release())
      .then(() => respond(stream, OK, ""))
      .catch((error: unknown) => {
        if (error instanceof CallFailure) respond(stream, error.code, error.message);
        else {
          const { code, message } = toAppError(error);
          respond(stream, CODES[code] ?? UNAVAILABLE, message);
        }
      })
      .finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  async #call(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    ip: string,
    held: Holding,
  ): Promise<void> {
    const { maxRequests, signIn, take, now } = this.#options;
    if (this.#calls.size >= maxRequests) throw new AppError("overloaded", "too many calls are in progress");
    if (headers[":path"] !== EXPORT)
      throw new CallFailure(UNIMPLEMENTED, `only logs are taken, by ${EXPORT}`);
    if (!(await signIn.accepts(headers.authorization, ip)))
      throw new CallFailure(UNAUTHENTICATED, "sign in: send authorization metadata that this input takes");
    const message = await this.#message(stream, headers["grpc-encoding"], held);
    const logs = decodeOtlpProtobuf(message);
    if (logs === undefined)
      throw new CallFailure(INVALID_ARGUMENT, "the message isn't an ExportLogsServiceRequest");
    await take(otlpEvents(logs, now()).events);
  }

  /** Returns the one message of a call, unpacked. */
  async #message(
    stream: ServerHttp2Stream,
    encoding: string | string[] | undefined,
    held: Holding,
  ): Promise<Buffer> {
    const { maxBodyBytes } = this.#options;
    // While the sender was looked up, the input may have been stopped.
    if (this.#isStopping) stream.close(constants.NGHTTP2_CANCEL);
    this.#reading.add(stream);
    const timer = setTimeout(() => stream.close(constants.NGHTTP2_CANCEL), MESSAGE_MS);
    const whole = await readMessage(stream, maxBodyBytes, held).finally(() => {
      clearTimeout(timer);
      this.#reading.delete(stream);
    });
    if (whole.length < FRAME_HEAD_BYTES || whole.readUInt32BE(1) !== whole.length - FRAME_HEAD_BYTES)
      throw new CallFailure(INVALID_ARGUMENT, "a call has one message, which ends with it");
    const message = whole.subarray(FRAME_HEAD_BYTES);
    if (whole[0] === 0) return message;
    if (typeof encoding !== "string" || !ENCODINGS.includes(encoding))
      throw new CallFailure(
        UNIMPLEMENTED,
        `messages packed by ${String(encoding)} aren't read; ${ENCODINGS.join(", ")} are`,
      );
    try {
      return await unpacked(message, encoding, maxBodyBytes, held);
    } catch (error) {
      if (error instanceof AppError && error.code !== "request_invalid") throw error;
      throw new CallFailure(INVALID_ARGUMENT, `the message isn't ${encoding}`);
    }
  }
}

/** Returns what a call brings until its end. */
async function readMessage(stream: ServerHttp2Stream, maxBytes: number, held: Holding): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Left early, the stream must stay for the answer.
  for await (const chunk of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes + FRAME_HEAD_BYTES)
      throw new CallFailure(RESOURCE_EXHAUSTED, `a message may have ${maxBytes} bytes at most`);
    held.take(chunk.length);
    addPart(chunks, chunk);
  }
  return Buffer.concat(chunks);
}

/** Answers a call; one that succeeded has an empty ExportLogsServiceResponse, so that nothing was rejected. */
function respond(stream: ServerHttp2Stream, code: number, message: string): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return;
  const status = {
    "grpc-status": String(code),
    ...(message !== "" && { "grpc-message": encodeURI(message) }),
  };
  const head = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "grpc-accept-encoding": ENCODINGS.join(","),
  };
  if (code !== OK) {
    stream.respond({ ...head, ...status }, { endStream: true });
    // What wasn't read of the call isn't wanted.
    stream.resume();
    return;
  }
  stream.respond(head, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers(status));
  stream.end(Buffer.alloc(FRAME_HEAD_BYTES));
}
