/** The hub's connection to NATS: it is kept for ever, and tells when it is gone and back. */

import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  connect,
  credsAuthenticator,
  errors,
  type NatsConnection,
  type NodeConnectionOptions,
  nkeyAuthenticator,
} from "@nats-io/transport-node";
import { HUB_USER } from "#hub/journal/server/server-config.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { receiveRoomily } from "./nats-receive-buffer.ts";
import { sendUncopied } from "./nats-zero-copy.ts";
import { abortable } from "./waits.ts";

/** Shortest wait between tries: a server that is started again is back within 50 ms. */
const SHORTEST_WAIT_MS = 50;

/** Longest wait between tries to reach a server that stays away. */
const LONGEST_WAIT_MS = 2_000;

/** A wait is this part of the time the server has been away, so that waits grow with it. */
const WAIT_SHARE = 0.25;

/** Dead peers that close no socket are noticed after two of these. */
const PING_MS = 10_000;

/** How long `start` tries before it gives up: NATS may start after the hub does. */
const CONNECT_TIMEOUT_MS = 10_000;

/** The connection was lost and is back while a call waited. */
const CHANGED = Symbol("changed");

/** A NATS server or cluster, and what the hub shows to be let in. */
export interface NatsTarget {
  /** nats://host:port; several of one cluster. */
  readonly servers: readonly string[];
  readonly token?: string;
  readonly user?: string;
  readonly password?: string;
  /** Seed of an nkey, as text. */
  readonly nkeySeed?: string;
  /** Contents of a credentials file (JWT and seed). */
  readonly credentials?: string;
  /** PEM files' paths. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** PEM file with the very certificate the server shows, whatever name is in it; read at each connection. */
  readonly pinnedFile?: string;
}

export interface ConnectionOptions {
  /** Asked at each `start`. */
  readonly target: () => NatsTarget;
  /** Name shown by NATS' own tools. */
  readonly name: string;
  readonly log: Logger;
  readonly clock?: Clock;
}

/** A change of the connection. `lost` and `restored` alternate. */
export type ConnectionEvent = "lost" | "restored";

/** Connects at `start` and reconnects for ever. Subscriptions live on over reconnects. */
export class Connection implements Component {
  readonly #options: ConnectionOptions;
  readonly #listeners = new Set<(event: ConnectionEvent) => void>();
  #nats: NatsConnection | undefined;
  #watching: Promise<void> | undefined;
  #restored = Promise.withResolvers<void>();
  #connected = false;
  #stopping = false;
  #awaySince = 0;
  readonly #clock: Clock;

  constructor(options: ConnectionOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** The client's connection. Throws `closed` before `start` and after `stop`. */
  get nats(): NatsConnection {
    if (this.#nats === undefined) throw closed();
    return this.#nats;
  }

  get connected(): boolean {
    return this.#connected;
  }

  /** Throws unavailable or nats_refused with the address and the reason. */
  async start(): Promise<void> {
    this.#stopping = false;
    this.#restored = Promise.withResolvers();
    this.#nats = await this.#connect();
    this.#connected = true;
    this.#restored.resolve();
    this.#watching = this.#watch(this.#nats);
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const nats = this.#nats;
    const wasConnected = this.#connected;
    this.#nats = undefined;
    this.#connected = false;
    if (wasConnected) this.#tell("lost");
    this.#restored.promise.catch(() => undefined); // perhaps nobody waits
    this.#restored.reject(closed());
    await nats?.close();
    await this.#watching;
  }

  /** Tells `listener` of every change until the returned function is called. Listeners must not throw. */
  onChange(listener: (event: ConnectionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when connected; at once where it is. Rejects with the reason of `signal`, or `closed` at `stop`. */
  async whenConnected(signal?: AbortSignal): Promise<void> {
    if (this.#connected) return;
    if (this.#nats === undefined) throw closed();
    await (signal === undefined ? this.#restored.promise : abortable(this.#restored.promise, signal));
  }

  /**
   * Makes a call that may be made twice, and makes it again at once where its answer was lost with the connection.
   * Waits while disconnected. Rejects with the reason of `signal` when that is aborted, else as the call does.
   */
  async repeatable<T>(
    call: (nats: NatsConnection) => Promise<T>,
    signal?: AbortSignal,
    onRepeat?: () => void,
  ): Promise<T> {
    for (;;) {
      await this.whenConnected(signal);
      signal?.throwIfAborted();
      const result = await this.#untilChanged(call(this.nats), signal);
      if (result !== CHANGED) return result;
      onRepeat?.();
    }
  }

  /** Settles like `answer`, with CHANGED when the connection came back first, or with the reason of `signal`. */
  #untilChanged<T>(answer: Promise<T>, signal: AbortSignal | undefined): Promise<T | typeof CHANGED> {
    return new Promise((resolve, reject) => {
      const abort = (): void => end(reject, signal?.reason);
      const unwatch = this.onChange((event) => event === "restored" && end(resolve, CHANGED));
      const end = <V>(settle: (value: V) => void, value: V): void => {
        unwatch();
        signal?.removeEventListener("abort", abort);
        settle(value);
      };
      signal?.addEventListener("abort", abort, { once: true });
      answer.then(
        (value) => end(resolve, value),
        (error: unknown) => end(reject, error),
      );
    });
  }

  async #connect(): Promise<NatsConnection> {
    const target = this.#options.target();
    const { servers } = target;
    const options: NodeConnectionOptions = {
      servers: [...servers],
      name: this.#options.name,
      maxReconnectAttempts: -1,
      reconnectDelayHandler: () => this.#wait(),
      ignoreAuthErrorAbort: true, // a token may be changed on the server before it is here
      pingInterval: PING_MS,
      maxPingOut: 2,
      timeout: CONNECT_TIMEOUT_MS,
      noAsyncTraces: true,
      ...authentication(target),
    };
    this.#awaySince = this.#clock.monotonic();
    for (;;) {
      try {
        const nats = await connect(options);
        sendUncopied(nats);
        receiveRoomily(nats);
        return nats;
      } catch (error) {
        const waitedMs = this.#clock.monotonic() - this.#awaySince;
        if (error instanceof errors.AuthorizationError || waitedMs > CONNECT_TIMEOUT_MS)
          throw refused(servers, error);
      }
      await this.#clock.sleep(this.#wait());
    }
  }

  /** Wait before the next try, ms, with jitter so that hubs don't come back all at once. */
  #wait(): number {
    const share = (this.#clock.monotonic() - this.#awaySince) * WAIT_SHARE * (0.5 + Math.random());
    return Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, share));
  }

  /** Follows the client's status until it is closed. */
  async #watch(nats: NatsConnection): Promise<void> {
    const { log } = this.#options;
    for await (const status of nats.status()) {
      if (status.type === "disconnect" && this.#connected) {
        this.#connected = false;
        this.#awaySince = this.#clock.monotonic();
        this.#restored = Promise.withResolvers();
        if (!this.#stopping) log.warn({ server: status.server }, "the connection to NATS is lost");
        this.#tell("lost");
      } else if (status.type === "reconnect" && !this.#stopping) {
        this.#connected = true;
        this.#restored.resolve();
        log.info({ server: status.server }, "the connection to NATS is back");
        this.#tell("restored");
      } else if (status.type === "error") {
        log.warn({ err: status.error }, "NATS reports an error");
      }
    }
    if (!this.#stopping) log.error("the client gave the connection to NATS up; restart the hub");
  }

  #tell(event: ConnectionEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

function authentication(target: NatsTarget): NodeConnectionOptions {
  const { token, user, password, nkeySeed, credentials, tls, pinnedFile } = target;
  return {
    // Another hub's own server knows its token as the password of that hub's user.
    ...(token === undefined || token === "" ? {} : { token, user: HUB_USER, pass: token }),
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { pass: password }),
    ...(nkeySeed === undefined ? {} : { authenticator: nkeyAuthenticator(Buffer.from(nkeySeed.trim())) }),
    ...(credentials === undefined ? {} : { authenticator: credsAuthenticator(Buffer.from(credentials)) }),
    ...(tls === undefined ? {} : { tls }),
    ...(pinnedFile === undefined ? {} : { tls: pinned(pinnedFile) }),
  };
}

/**
 * Our own server, reached by an address that its certificate needn't name: nobody else has that certificate's key. What
 * stands behind it in the file is an authority, which has signed others too.
 */
function pinned(path: string): NonNullable<NodeConnectionOptions["tls"]> {
  const options = {
    get ca(): string {
      return new X509Certificate(readFileSync(path)).toString();
    },
    allowPartialTrustChain: true,
    checkServerIdentity: () => undefined,
  };
  return options;
}

function closed(): AppError {
  return new AppError("closed", "the connection to NATS isn't open");
}

function refused(servers: readonly string[], error: unknown): AppError {
  const where = servers.join(", ");
  const cause = { cause: error };
  if (error instanceof errors.AuthorizationError) {
    return new AppError(
      "nats_refused",
      `NATS at ${where} refuses the hub's credentials; check nats.token`,
      cause,
    );
  }
  const why = error instanceof Error ? error.message : String(error);
  return new AppError("unavailable", `can't connect to NATS at ${where}: ${why}; check nats.servers`, cause);
}
