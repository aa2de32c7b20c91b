/** One HTTP listener: fastify with what both interfaces share. Its owner registers plugins before `start`. */

import type { IncomingMessage, ServerOptions } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { type SecureContextOptions, Server, type TlsOptions } from "node:tls";
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyServerOptions } from "fastify";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { urlHost } from "#proto/kit/net/host.ts";
import { checkedProxy } from "#proto/kit/net/trusted-proxies.ts";
import { answerBroken } from "./broken-requests.ts";
import { type AnonymousLimits, ConnectionLimits } from "./connection-limits.ts";
import { RequestGuard } from "./request-guard.ts";
import { MAX_BODY_BYTES } from "./route.ts";

export interface ListenerOptions {
  /** Address to bind. */
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  /** Name of the port's setting, for messages. */
  readonly portSetting: string;
  /** Set: it speaks HTTPS. */
  readonly tls?: SecureContextOptions & TlsOptions;
  /** Origins whose pages may send requests that change state. */
  readonly origins: () => readonly string[];
  /** Returns the body of the answer to a request that is refused before routing. */
  readonly errorBody: (error: AppError) => unknown;
  /** Called for each connection that is closed because too many are open. */
  readonly onRefused: () => void;
  /** Addresses and networks of proxies whose X-Forwarded-For is trusted. Absent: none. */
  readonly trustedProxies?: readonly string[];
  /** Sends Strict-Transport-Security: browsers use https for this host from then on (RFC 6797). */
  readonly strictTransport?: boolean;
  /** Limits that differ from the defaults, for tests. */
  readonly limits?: Partial<ListenerLimits>;
  readonly log: Logger;
}

/** Limits of a listener's connections. */
export interface ListenerLimits extends AnonymousLimits {
  /** Time that the head of a request may take; limits clients that send byte by byte. */
  readonly headTimeoutMs: number;
  /** Interval of the checks for overdue requests. */
  readonly checkMs: number;
  /** Open connections; others are closed immediately. */
  readonly connections: number;
  /** Time that a TLS handshake may take. */
  readonly handshakeTimeoutMs: number;
}

/** Takes over an HTTP connection. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

/** Time that a whole request may take, its body included. */
const REQUEST_TIMEOUT_MS = 300_000;
/** Connections: eight times the live-tail viewers that one hub serves; more would use up descriptors that files need. */
const USUAL_LIMITS: ListenerLimits = {
  headTimeoutMs: 20_000,
  checkMs: 5_000,
  connections: 8_192,
  anonymousConnections: 4_096,
  // A proxy or gateway opens the connections of many clients from one address.
  anonymousPerAddress: 1_024,
  handshakeTimeoutMs: 10_000,
};
/** Longer than proxies keep idle connections, so that the proxy closes first. */
const KEEP_ALIVE_MS = 72_000;
/** Time that running requests get to finish at a stop. */
const STOP_DEADLINE_MS = 5_000;
/** A year, the value that RFC 6797 section 6.1.1 shows; subdomains aren't included. */
const STRICT_TRANSPORT = "max-age=31536000";
/** Longest path segment. */
const MAX_SEGMENT_LENGTH = 16_384;

export class Listener implements Component {
  readonly app: FastifyInstance;
  readonly guard: RequestGuard;
  readonly connections: ConnectionLimits;
  /** TLS connections after their handshake: nothing can be answered on the others. */
  readonly #secured = new WeakSet<object>();
  readonly #options: ListenerOptions;
  readonly #upgrades = new Map<string, UpgradeHandler>();
  /** Set while it listens. */
  #port: number | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.guard = new RequestGuard(options);
    const limits = { ...USUAL_LIMITS, ...options.limits };
    this.connections = new ConnectionLimits(limits, options.onRefused);
    this.app = Fastify(this.#serverOptions(limits));
    this.app.addHook("onRequest", (request, reply, done) => {
      if (options.strictTransport === true)
        reply.raw.setHeader("strict-transport-security", STRICT_TRANSPORT);
      try {
        this.guard.check(request.raw);
        done();
      } catch (error) {
        const fault = error as AppError;
        void reply.code(fault.status).send(options.errorBody(fault));
      }
    });
    this.app.server.on("connection", (socket) => this.connections.add(socket));
    this.app.server.on("secureConnection", (socket) => this.#secured.add(socket));
    this.app.server.maxConnections = limits.connections;
    this.app.server.on("drop", options.onRefused);
    this.app.server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Returns the options of the server. */
  #serverOptions({ headTimeoutMs, checkMs, handshakeTimeoutMs }: ListenerLimits): FastifyServerOptions {
    const { tls, errorBody, trustedProxies = [] } = this.#options;
    const answer = answerBroken(errorBody);
    const trusted = trustedProxies.map(checkedProxy);
    const http: ServerOptions = {
      shouldUpgradeCallback: (request) => this.#upgrades.has(pathOf(request)),
      headersTimeout: headTimeoutMs,
      connectionsCheckingInterval: checkMs,
    };
    return {
      // Both servers are used in the same way, so the type of the plain one is used for both.
      ...(tls === undefined
        ? { http }
        : ({ https: { ...tls, ...http, handshakeTimeout: handshakeTimeoutMs } } as object)),
      clientErrorHandler: (error, socket) => {
        if (tls === undefined || this.#secured.has(socket)) answer(error, socket);
        else socket.destroy();
      },
      bodyLimit: MAX_BODY_BYTES,
      ...(trusted.length > 0 && { trustProxy: trusted }),
      requestTimeout: REQUEST_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      forceCloseConnections: "idle",
      routerOptions: { maxParamLength: MAX_SEGMENT_LENGTH },
      frameworkErrors: (error, request, reply) => {
        const reason = `the path of [${request.raw.url}] is not percent-encoded UTF-8`;
        const fault = new AppError("request_invalid", reason, { cause: error });
        const refusal = reply as unknown as FastifyReply;
        void refusal.code(fault.status).send(errorBody(fault));
      },
    };
  }

  /** The port in use. Valid after `start`. */
  get port(): number {
    if (this.#port === undefined) throw new Error("the listener isn't started");
    return this.#port;
  }

  /** Address for people and programs on this machine. Valid after `start`. */
  get url(): string {
    const { host, tls } = this.#options;
    const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
    return `${tls === undefined ? "http" : "https"}://${urlHost(name)}:${this.port}`;
  }

  /** Passes upgrades of exactly `path` to `handler`. On other paths the offer of another protocol (h2c) is ignored. */
  onUpgrade(path: string, handler: UpgradeHandler): void {
    this.#upgrades.set(path, handler);
  }

  /** Uses another certificate for new connections; open ones keep theirs. No effect without HTTPS. */
  useCertificate(tls: SecureContextOptions): void {
    const server: object = this.app.server;
    if (server instanceof Server) server.setSecureContext(tls);
  }

  /** Throws port_taken, or settings_invalid if the address can't be bound. */
  async start(): Promise<void> {
    const { host, port, portSetting } = this.#options;
    try {
      await this.app.listen({ host, port });
      this.#port = (this.app.server.address() as AddressInfo).port;
    } catch (error) {
      throw listenError(error, host, port, portSetting);
    }
  }

  async stop(): Promise<void> {
    const deadline = setTimeout(() => this.app.server.closeAllConnections(), STOP_DEADLINE_MS);
    await this.app.close();
    clearTimeout(deadline);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const handler = this.#upgrades.get(pathOf(request));
    // Node below 24.9 emits `upgrade` without calling shouldUpgradeCallback.
    if (handler === undefined) {
      socket.on("error", (err) => this.#options.log.debug({ err }, "an upgrade failed"));
      socket.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    try {
      this.guard.check(request);
    } catch {
      socket.on("error", (err) => this.#options.log.debug({ err }, "an upgrade failed"));
      socket.end("HTTP/1.1 403 Forbidden\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
      return;
    }
    // The handler has its own limits, for each viewer.
    this.connections.signedIn(request.socket);
    handler(request, socket, head);
  }
}

function pathOf({ url = "" }: IncomingMessage): string {
  return url.split("?", 1)[0]!;
}

function listenError(error: unknown, host: string, port: number, setting: string): unknown {
  const code = systemCode(error);
  if (code === "EADDRINUSE") {
    return new AppError("port_taken", `port ${port} is taken by another process; stop it or set ${setting}`, {
      cause: error,
    });
  }
  if (code === "EACCES") {
    return new AppError(
      "port_taken",
      `port ${port} may not be used by this user; set ${setting} to one above 1023`,
      { cause: error },
    );
  }
  if (code === "EADDRNOTAVAIL" || code === "ENOTFOUND") {
    const key = setting.replace(/port$/, "host");
    return new AppError(
      "settings_invalid",
      `${host} isn't an address of this machine; correct ${key} or network.host`,
      { cause: error },
    );
  }
  return error;
}
