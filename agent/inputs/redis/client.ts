/**
 * One connection to a Redis server: commands in order, each with its reply, all within time limits.
 *
 * The hub's plugins use ioredis. The agent doesn't: measured as bundles, ioredis needs 8 MB more of the 128 MB of
 * memory that a container gives the agent, and adds 190 KB to its bundle of 1.3 MB; and it doesn't limit the length of
 * a reply. Only one connection is needed here, without a cluster or pipelining, and the input reconnects.
 */

import { readFileSync } from "node:fs";
import { connect as connectPlain, type Socket } from "node:net";
import { connect as connectSecure } from "node:tls";
import { type Reply, ReplyError, ReplyReader } from "./reply.ts";

export interface RedisOptions {
  readonly host: string;
  readonly port: number;
  /** Empty: none. */
  readonly username: string;
  /** Empty: none. */
  readonly password: string;
  readonly database: number;
  readonly timeoutMs: number;
  /** Files, PEM; undefined: no TLS. */
  readonly tls: { readonly ca?: string; readonly certificate?: string; readonly key?: string } | undefined;
}

export type Argument = string | number | Buffer;

interface Waiting {
  readonly resolve: (reply: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** Silence after which the system asks whether the server is still there. */
const KEEP_ALIVE_MS = 30_000;

export class RedisClient {
  readonly #socket: Socket;
  readonly #options: RedisOptions;
  readonly #reader = new ReplyReader();
  readonly #waiting: Waiting[] = [];
  readonly #closed = Promise.withResolvers<void>();
  /** Set while subscribed: replies are messages then. */
  #onPush: ((reply: Reply) => void) | undefined;
  #failure: Error | undefined;

  private constructor(socket: Socket, options: RedisOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.setKeepAlive(true, KEEP_ALIVE_MS); // a subscriber only listens, and would never notice a dead path
    socket.on("data", (chunk) => this.#receive(chunk));
    socket.on("error", (error) => this.#fail(error));
    socket.on("close", () => {
      this.#fail(new Error("the connection was closed"));
      this.#closed.resolve();
    });
  }

  /** Connects, signs in and selects the database. Throws the error of the system or the server. */
  static async connect(options: RedisOptions, signal: AbortSignal): Promise<RedisClient> {
    const socket = await open(options, signal);
    const client = new RedisClient(socket, options);
    try {
      const { username, password, database } = options;
      if (password !== "") await client.command("AUTH", ...(username === "" ? [] : [username]), password);
      if (database !== 0) await client.command("SELECT", database);
      return client;
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  /** Resolves when the connection has ended. */
  get closed(): Promise<void> {
    return this.#closed.promise;
  }

  /** Sends a command; throws a ReplyError where the server refuses it. `blockMs`: how long the server may take by itself. */
  async command(name: string, ...args: readonly Argument[]): Promise<Reply> {
    return await this.blocking(0, name, ...args);
  }

  /** Sends a command that the server answers after up to `blockMs`. */
  async blocking(blockMs: number, name: string, ...args: readonly Argument[]): Promise<Reply> {
    const timeoutMs = this.#options.timeoutMs + blockMs;
    const timer = setTimeout(
      () => this.#fail(new Error(`${name} was not answered within ${timeoutMs} ms`)),
      timeoutMs,
    );
    try {
      const reply = await this.#send(encode([name, ...args]));
      if (reply instanceof ReplyError) throw reply;
      return reply;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Subscribes; from then on the connection carries only messages. */
  async subscribe(
    command: "SUBSCRIBE" | "PSUBSCRIBE",
    channels: readonly string[],
    onPush: (reply: Reply) => void,
  ): Promise<void> {
    const first = this.command(command, ...channels);
    this.#onPush = onPush;
    await first;
  }

  /** Ends the connection; commands under way fail. */
  async close(): Promise<void> {
    this.#socket.destroy();
    await this.closed;
  }

  /** Makes the server wait: nothing is read until `resume`. */
  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  #send(bytes: Buffer): Promise<Reply> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#socket.write(bytes);
    });
  }

  #receive(chunk: Buffer): void {
    try {
      for (const reply of this.#reader.push(chunk)) {
        const waiting = this.#waiting.shift();
        if (waiting !== undefined) waiting.resolve(reply);
        else this.#onPush?.(reply);
      }
    } catch (error) {
      this.#fail(error as Error);
    }
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#socket.destroy();
    for (const { reject } of this.#waiting.splice(0)) reject(this.#failure);
  }
}

async function open({ host, port, tls, timeoutMs }: RedisOptions, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket =
    tls === undefined
      ? connectPlain({ host, port })
      : connectSecure({
          host,
          port,
          ...(tls.ca === undefined ? {} : { ca: readFileSync(tls.ca) }),
          ...(tls.certificate === undefined ? {} : { cert: readFileSync(tls.certificate) }),
          ...(tls.key === undefined ? {} : { key: readFileSync(tls.key) }),
        });
  const abort = (): void => void socket.destroy(new Error("stopped"));
  const timer = setTimeout(() => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  signal.addEventListener("abort", abort, { once: true });
  socket.once(tls === undefined ? "connect" : "secureConnect", resolve);
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("the connection was closed")));
  if (signal.aborted) abort();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    socket.removeAllListeners("error").removeAllListeners("close");
    socket.on("error", () => undefined);
  }
  return socket;
}

/** Writes a command: an array of bulk strings. */
function encode(args: readonly Argument[]): Buffer {
  const parts: Buffer[] = [Buffer.from(`*${args.length}\r\n`)];
  for (const argument of args) {
    const bytes = Buffer.isBuffer(argument) ? argument : Buffer.from(String(argument));
    parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from("\r\n"));
  }
  return Buffer.concat(parts);
}
