/**
 * The WebSocket side of the live socket: checks an upgrade before it answers, counts sockets, keeps them alive and
 * ends them with the hub. No compression: it costs more CPU than the lines themselves.
 */

import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { FairShares } from "#proto/kit/fair-shares.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { CLOSE, DEFAULT_LIMITS, type GapReason, LIVE_PROTOCOL, type LiveLimits } from "#proto/live.ts";
import { Connection } from "./connection.ts";
import type { LiveEvent } from "./filter/event-document.ts";
import { type LiveMetrics, liveMetrics } from "./live-metrics.ts";
import { LiveTail } from "./live-tail.ts";
import { type CompileLogTail, LogTail, LogTails, logTailRequest } from "./log-tail.ts";
import type { RunCall } from "./run-call.ts";
import type { Viewer, ViewerSocketOptions } from "./viewer-socket.ts";

export type { Viewer } from "./viewer-socket.ts";

export interface LiveServerOptions {
  /** The dashboard's addresses as browsers see them. */
  readonly allowedOrigins: readonly string[];
  /** Resolves to the viewer, or undefined without a sign-in. Throws unauthenticated, forbidden, overloaded. */
  readonly authenticate: (request: IncomingMessage) => Promise<Viewer | undefined>;
  /** Calls the listener when viewers may have lost rights. Returns a function that unsubscribes. */
  readonly onRightsChange?: (listener: () => void) => () => void;
  /** Returns the function that runs a viewer's requests of the HTTP API; absent: only live lines are supported. */
  readonly runFor?: (upgrade: IncomingMessage) => RunCall;
  /** Absent: LogQL tails aren't supported. */
  readonly compileLogTail?: CompileLogTail;
  /** See LogTailOptions. */
  readonly makeSearchable?: () => Promise<void>;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly limits?: Partial<LiveLimits>;
  /** Id of the viewer that represents all viewers without authentication. */
  readonly everybody?: string;
}

/** Interval of the checks whether viewers are still signed in: a session may end just by its age. */
const SIGN_IN_CHECK_MS = 60_000;
/** Delay after which viewers reconnect to a hub that restarts. */
const RETRY_AFTER_MS = 2_000;
/** Time for a viewer to answer the close frame at a stop. */
const CLOSE_DEADLINE_MS = 1_000;

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  429: "Too Many Requests",
  503: "Service Unavailable",
};

/** Makes the connection of a socket. */
type Plan = (options: ViewerSocketOptions) => Connection | LogTail;

export class LiveServer implements Component {
  /** Takes the pipeline's events. */
  readonly tail: LiveTail;
  readonly #authenticate: (request: IncomingMessage) => Promise<Viewer | undefined>;
  readonly #isAllowedOrigin: (origin: string) => boolean;
  readonly #runFor: LiveServerOptions["runFor"];
  readonly #compileLogTail: CompileLogTail | undefined;
  readonly #makeSearchable: () => Promise<void>;
  readonly #logTails = new LogTails();
  readonly #metrics: LiveMetrics;
  readonly #log: Logger;
  readonly #limits: LiveLimits;
  readonly #server: WebSocketServer;
  readonly #connections = new Set<Connection | LogTail>();
  /** Tails of both kinds by viewer. */
  readonly #tailShares: FairShares;
  readonly #onRightsChange: NonNullable<LiveServerOptions["onRightsChange"]>;
  #unfollow: () => void = () => undefined;
  #checking = false;
  #checksAgain = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #signInCheck: NodeJS.Timeout | undefined;
  #stopping = false;
  #onClosed: (() => void) | undefined;

  constructor(options: LiveServerOptions) {
    const { allowedOrigins, authenticate, runFor, compileLogTail, metrics, log, limits } = options;
    this.#makeSearchable = options.makeSearchable ?? (() => Promise.resolve());
    this.#authenticate = authenticate;
    this.#runFor = runFor;
    this.#onRightsChange = options.onRightsChange ?? (() => () => undefined);
    this.#compileLogTail = compileLogTail;
    this.#isAllowedOrigin = compileOrigins(allowedOrigins);
    this.#metrics = liveMetrics(metrics);
    this.#log = log;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.tail = new LiveTail(this.#limits, this.#metrics);
    this.#tailShares = new FairShares({
      limit: this.#limits.tailsPerHub,
      what: "tails are open",
      remedy: "close others or try again later",
      everybody: options.everybody,
    });
    this.#server = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      maxPayload: this.#limits.inboundSizeBytes,
      handleProtocols: (protocols) => (protocols.has(LIVE_PROTOCOL) ? LIVE_PROTOCOL : false),
    });
  }

  get openSockets(): number {
    return this.#connections.size;
  }

  /** True while events are wanted. */
  get listening(): boolean {
    return this.tail.listening || this.#logTails.size > 0;
  }

  /** Takes events in order. Their bytes may change after it returns. */
  offer(events: readonly LiveEvent[]): void {
    this.tail.offer(events);
    this.#logTails.offer(events);
  }

  /** Marks in every tail that an unknown number of rows is missing. */
  missed(why: GapReason): void {
    this.tail.missed(why);
    this.#logTails.missed();
  }

  start(): Promise<void> {
    this.#heartbeat = setInterval(() => this.#beat(), this.#limits.heartbeatMs).unref();
    this.#signInCheck = setInterval(() => void this.#checkSignIns(), SIGN_IN_CHECK_MS).unref();
    this.#unfollow = this.#onRightsChange(() => void this.#checkSignIns());
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearInterval(this.#heartbeat);
    clearInterval(this.#signInCheck);
    this.#unfollow();
    this.tail.stop();
    const closed = this.#allClosed();
    for (const connection of this.#connections)
      connection.closeForRestart("the hub restarts", RETRY_AFTER_MS);
    const deadline = setTimeout(() => {
      for (const connection of this.#connections) connection.socket.terminate();
    }, CLOSE_DEADLINE_MS);
    await closed;
    clearTimeout(deadline);
  }

  /** Answers an HTTP upgrade at LIVE_PATH. Never throws; a refused upgrade gets a plain 400, 401, 403, 429 or 503. */
  handleUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#answer(request, socket, head, () => (options) => {
      const run = this.#runFor?.(request);
      const shares = this.#tailShares;
      return new Connection({ ...options, session: randomUUID(), tail: this.tail, run, shares });
    });
  }

  /** Answers an HTTP upgrade at the path of Loki's tail; otherwise as `handleUpgrade`. */
  handleLogTail(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#answer(request, socket, head, (viewer) => this.#planLogTail(request, viewer));
  }

  #answer(request: IncomingMessage, socket: Duplex, head: Buffer, planOf: (viewer: Viewer) => Plan): void {
    socket.on("error", (err) => this.#log.debug({ err }, "live upgrade failed"));
    this.#accept(request, socket, head, planOf).catch((cause: unknown) => {
      const error = toAppError(cause);
      if (error.status in REASONS && error.status < 500)
        return this.#refuse(socket, error.status, error.message);
      this.#log.error({ err: error }, "a live upgrade failed");
      this.#refuse(socket, 503, "the sign-in can't be checked now; try again");
    });
  }

  async #accept(
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
    planOf: (viewer: Viewer) => Plan,
  ): Promise<void> {
    const { origin } = request.headers;
    if (origin !== undefined && !this.#isAllowedOrigin(origin))
      return this.#refuse(
        socket,
        403,
        `origin ${printable(origin)} isn't the dashboard's; set public.url to its address`,
      );
    const viewer = await this.#authenticate(request);
    if (viewer === undefined) return this.#refuse(socket, 401, "sign in first");
    // Browsers always send their origin; without it, any page may have sent the cookie.
    if (origin === undefined && viewer.byCookie)
      return this.#refuse(
        socket,
        403,
        "a session needs an Origin header; use an API key outside of browsers",
      );
    if (this.#stopping) return this.#refuse(socket, 503, "the hub is stopping");
    const connect = planOf(viewer);
    this.#server.handleUpgrade(request, socket, head, (webSocket) =>
      this.#connect(webSocket, viewer, connect),
    );
  }

  /** Checks the query of a tail before its upgrade is answered. Throws request_invalid, overloaded. */
  #planLogTail(upgrade: IncomingMessage, { id }: Viewer): Plan {
    if (this.#compileLogTail === undefined)
      throw new AppError("not_offered", "tails of LogQL aren't offered here");
    const shares = this.#tailShares;
    shares.check(id);
    const request = logTailRequest(upgrade.url ?? "");
    const ended = new AbortController();
    const query = this.#compileLogTail(request.query, ended.signal);
    return (options) => {
      const run = this.#runFor?.(upgrade);
      const makeSearchable = this.#makeSearchable;
      const tail = new LogTail({
        ...options,
        request,
        query,
        ended,
        run,
        makeSearchable,
        shares,
        tails: this.#logTails,
      });
      void tail.start();
      return tail;
    };
  }

  #connect(socket: WebSocket, viewer: Viewer, connect: Plan): void {
    // A browser can read a close code, but not the answer to a refused upgrade.
    const others = [...this.#connections].filter((each) => each.socket.viewer.id === viewer.id).length;
    if (others >= this.#limits.socketsPerViewer) {
      this.#metrics.refused.inc({ reason: "too_many_sockets" });
      socket.on("error", (err) => this.#log.debug({ err }, "live socket failed"));
      socket.close(CLOSE.tooMany, `you have ${others} live pages open, the limit; close some of them`);
      return;
    }
    const connection = this.#opened(socket, viewer, connect);
    if (connection === undefined) return;
    this.#connections.add(connection);
    this.#metrics.sockets.set(this.#connections.size);
    socket.on("close", () => {
      connection.release();
      this.#connections.delete(connection);
      this.#metrics.sockets.set(this.#connections.size);
      this.#onClosed?.();
    });
  }

  /** Returns the connection of a socket; closes a socket that exceeds the limit because several arrived at the same time. */
  #opened(socket: WebSocket, viewer: Viewer, connect: Plan): Connection | LogTail | undefined {
    const [limits, metrics, log] = [this.#limits, this.#metrics, this.#log];
    try {
      return connect({ socket, viewer, limits, metrics, log });
    } catch (cause) {
      socket.on("error", (err) => log.debug({ err }, "live socket failed"));
      socket.close(CLOSE.tooMany, toAppError(cause).message.slice(0, 100));
      return undefined;
    }
  }

  #allClosed(): Promise<void> {
    if (this.#connections.size === 0) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#onClosed = () => {
      if (this.#connections.size === 0) resolve();
    };
    return promise;
  }

  #beat(): void {
    for (const { socket } of this.#connections) socket.beat();
  }

  /** Runs one check of all viewers at a time; a check that is due meanwhile runs after it. */
  async #checkSignIns(): Promise<void> {
    this.#checksAgain = true;
    if (this.#checking) return;
    this.#checking = true;
    while (this.#checksAgain && !this.#stopping) {
      this.#checksAgain = false;
      const checks = [...this.#connections].map(({ socket }) =>
        socket
          .checkSignIn()
          .catch((err: unknown) => this.#log.warn({ err }, "a viewer's sign-in can't be checked")),
      );
      await Promise.all(checks);
    }
    this.#checking = false;
  }

  #refuse(socket: Duplex, status: number, message: string): void {
    this.#metrics.refused.inc({ reason: `http_${status}` });
    const head = `HTTP/1.1 ${status} ${REASONS[status]}\r\nConnection: close\r\nContent-Type: text/plain\r\n`;
    socket.end(`${head}Content-Length: ${Buffer.byteLength(message)}\r\n\r\n${message}`);
  }
}

function printable(origin: string): string {
  return origin.slice(0, 100).replaceAll(/[^\x20-\x7e]/g, "?");
}

/** Returns the origin of an address without a default port; undefined if it has none. */
export function normaliseOrigin(address: string): string | undefined {
  try {
    const { origin } = new URL(address);
    return origin === "null" ? undefined : origin;
  } catch {
    return undefined;
  }
}

/** Returns a test of Origin headers against `allowed` addresses; never against the request's Host header. */
export function compileOrigins(allowed: readonly string[]): (origin: string) => boolean {
  const origins = new Set(allowed.map(normaliseOrigin).filter((origin) => origin !== undefined));
  return (origin) => {
    const normal = normaliseOrigin(origin);
    return normal !== undefined && origins.has(normal);
  };
}
