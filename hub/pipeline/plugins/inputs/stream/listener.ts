/** Listens for connections and gives each to a handler; all of them end with it. */

import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { AppError, systemCode } from "#proto/kit/errors.ts";

/** Connections at a time; others are refused. */
const MAX_CONNECTIONS = 2_000;

/** Bytes that connections hold together of messages which aren't whole; beyond it the one that holds most is ended. */
const MAX_HELD_BYTES = 256 * 1024 * 1024;

/** Notes how many bytes a connection holds of messages that aren't whole. */
export type NoteHeld = (bytes: number) => void;

export interface ListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsOptions | undefined;
  /** Serves a connection until its end; what it throws ends the connection. */
  readonly serve: (socket: Socket, held: NoteHeld) => Promise<void>;
  /** Hears why a connection ended early. */
  readonly onFault: (error: Error) => void;
  /** For tests. */
  readonly maxHeldBytes?: number;
}

export class Listener {
  readonly #options: ListenerOptions;
  /** Connections with the bytes that they hold. */
  readonly #sockets = new Map<Socket, number>();
  #heldBytes = 0;
  readonly #serving = new Set<Promise<void>>();
  #server: Server | undefined;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** The port listened at, where 0 let the system choose. */
  get port(): number {
    return listenedPort(this.#server, this.#options.port);
  }

  /** Throws port_taken, unavailable. */
  async start(): Promise<void> {
    const { host, port, tls } = this.#options;
    const server =
      tls === undefined
        ? createServer((socket) => this.#take(socket))
        : createTlsServer(tls, (socket) => this.#take(socket));
    server.maxConnections = MAX_CONNECTIONS;
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
    for (const socket of this.#sockets.keys()) socket.destroy();
    await Promise.allSettled(this.#serving);
    await closed;
  }

  #take(socket: Socket): void {
    this.#sockets.set(socket, 0);
    // An error also ends the reading, which tells it.
    socket.on("error", () => undefined);
    const served = this.#options
      .serve(socket, (bytes) => this.#note(socket, bytes))
      .catch((error: unknown) => this.#options.onFault(error as Error))
      .finally(() => {
        socket.destroy();
        this.#note(socket, 0);
        this.#sockets.delete(socket);
        this.#serving.delete(served);
      });
    this.#serving.add(served);
  }

  /** Notes what a connection holds. Where all hold too much, the one with most, whose sender may send it again, ends. */
  #note(socket: Socket, bytes: number): void {
    this.#heldBytes += bytes - (this.#sockets.get(socket) ?? 0);
    this.#sockets.set(socket, bytes);
    if (this.#heldBytes <= (this.#options.maxHeldBytes ?? MAX_HELD_BYTES)) return;
    let [most, mostBytes] = [socket, bytes];
    for (const [each, held] of this.#sockets) if (held > mostBytes) [most, mostBytes] = [each, held];
    this.#heldBytes -= mostBytes;
    this.#sockets.set(most, 0);
    most.destroy(new AppError("overloaded", "connections hold too many bytes of messages that aren't whole"));
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
      `${host}:${port} can't be listened at (${isTaken ? "the port is taken" : (error as Error).message})`,
      { cause: error },
    );
  } finally {
    server.off("error", reject);
  }
}

/** Returns the port listened at, where 0 let the system choose; else `port`. */
export function listenedPort(server: Server | undefined, port: number): number {
  const address = server?.address();
  return typeof address === "object" && address !== null ? address.port : port;
}
