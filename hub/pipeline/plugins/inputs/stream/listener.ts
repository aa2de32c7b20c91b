/** Listens for connections and gives each to a handler; all of them end with it. */

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import type { InputContext, IntakeShares } from "#hub/pipeline/plugins/input.ts";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { ConnectionPlaces } from "./connection-place.ts";

/** Time for a TLS handshake, ms. */
export const HANDSHAKE_MS = 20_000;

/**
 * Records how many bytes a connection holds of messages that aren't whole. Throws overloaded, which is to end the
 * connection.
 */
export type NoteHeld = (bytes: number) => void;

/** Counts a connection and what it holds for the address that a load balancer names. Throws overloaded. */
export type NoteSender = (address: string) => void;

/** Warnings a minute of connections that ended early: a refused sender may reconnect without end. */
const MAX_WARNINGS = 10;
const MINUTE_MS = 60_000;

/** Returns what logs why connections ended early: some a minute; how many were left out is logged with the next one. */
export function faultLog(
  { log, clock, id }: Pick<InputContext, "log" | "clock" | "id">,
  message: string,
): ListenerOptions["onFault"] {
  let sinceMs = Number.NEGATIVE_INFINITY;
  let count = 0;
  return (error) => {
    const nowMs = clock.monotonic();
    if (nowMs - sinceMs >= MINUTE_MS) {
      const leftOut = Math.max(0, count - MAX_WARNINGS);
      if (leftOut > 0) log.warn({ input: id, connections: leftOut }, "more connections ended early");
      sinceMs = nowMs;
      count = 0;
    }
    count++;
    if (count <= MAX_WARNINGS) log.warn({ err: error, input: id }, message);
  };
}

/** An open connection. */
export interface Connection {
  readonly socket: Socket;
  /** What comes, until the sender ends or the listener stops: a chunk that is handled then comes to its end. */
  readonly chunks: AsyncIterable<Buffer>;
  readonly held: NoteHeld;
  readonly sentBy: NoteSender;
}

/** Time for the sender to take its last answers and to end, ms. */
const LINGER_MS = 1_000;

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  /** Serves a connection until its end; what it throws ends the connection. */
  readonly serve: (connection: Connection) => Promise<void>;
  /** Called with the reason why a connection ended early. */
  readonly onFault: (error: Error) => void;
  readonly shares: IntakeShares;
}

/** A sender that has said all still waits for its answers. */
const HALF_OPEN = { allowHalfOpen: true };

/** Ends a connection: resolves when both sides have, or the sender takes too long to. */
async function closed(socket: Socket): Promise<void> {
  if (socket.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, LINGER_MS);
  socket.once("close", () => resolve());
  socket.end();
  // Unread bytes would make the system drop the last answers.
  socket.resume();
  await promise;
  clearTimeout(timer);
}

export class Listener {
  readonly #options: ListenerOptions;
  /** Sockets that wait for a chunk. */
  readonly #idle = new Set<Socket>();
  readonly #serving = new Set<Promise<void>>();
  readonly #places: ConnectionPlaces;
  #server: Server | undefined;
  #isStopping = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
    this.#places = new ConnectionPlaces(options.shares);
  }

  /** The port in use, if 0 let the system choose. */
  get port(): number {
    return listenedPort(this.#server, this.#options.port);
  }

  /** Throws port_taken, unavailable. */
  async start(): Promise<void> {
    const { host, port, tls } = this.#options;
    const server =
      tls === undefined
        ? createServer(HALF_OPEN, (socket) => this.#take(socket))
        : createTlsServer({ ...tls, ...HALF_OPEN, handshakeTimeout: HANDSHAKE_MS }, (socket) =>
            this.#take(socket),
          );
    this.#places.limit(server);
    server.on("tlsClientError", (error: Error) => this.#options.onFault(error));
    this.#server = server;
    await listen(server, host, port);
    server.on("error", (error) => this.#options.onFault(error));
  }

  async stop(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    this.#isStopping = true;
    for (const socket of this.#idle) socket.destroy();
    await Promise.allSettled(this.#serving);
    await closed;
  }

  #take(socket: Socket): void {
    // Refused before.
    if (socket.destroyed) return;
    const { bytes } = this.#options.shares;
    let held = bytes.holding(socket.remoteAddress ?? "");
    const sentBy = (address: string): void => {
      this.#places.move(socket, address);
      held.release();
      held = bytes.holding(address);
    };
    // An error also ends the reading, which reports it.
    socket.on("error", () => undefined);
    const served = this.#options
      .serve({ socket, chunks: this.#chunks(socket), held: (bytes) => held.set(bytes), sentBy })
      .then(() => closed(socket))
      .catch((error: unknown) => this.#options.onFault(error as Error))
      .finally(() => {
        socket.destroy();
        held.release();
        this.#serving.delete(served);
      });
    this.#serving.add(served);
  }

  async *#chunks(socket: Socket): AsyncGenerator<Buffer> {
    if (this.#isStopping) return;
    this.#idle.add(socket);
    try {
      for await (const chunk of socket.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
        this.#idle.delete(socket);
        yield chunk;
        if (this.#isStopping) return;
        this.#idle.add(socket);
      }
    } catch (error) {
      if (!this.#isStopping) throw error;
    } finally {
      this.#idle.delete(socket);
    }
  }
}

/** Resolves when `server` listens. Throws port_taken, unavailable. */
export async function listen(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  try {
    await promise;
  } catch (error) {
    const isTaken = systemCode(error) === "EADDRINUSE";
    throw new AppError(
      isTaken ? "port_taken" : "unavailable",
      `cannot listen on ${host}:${port} (${isTaken ? "the port is taken" : (error as Error).message})`,
      { cause: error },
    );
  } finally {
    server.off("error", reject);
  }
}

/** Returns the port in use if 0 let the system choose, else `port`. */
export function listenedPort(server: Server | undefined, port: number): number {
  const address = server?.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
