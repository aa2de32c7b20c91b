/** The hub's connection to NATS. It reconnects without limit and reports losses and recoveries. */

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
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { closeNats, leaveServer, unsentBytes } from "#proto/kit/net/nats-socket.ts";
import { ENDLESS_PINGS, PingWatch } from "#proto/kit/net/ping-watch.ts";
import { abortable } from "./waits.ts";

/** User name of the hub at its embedded server; the password is the token. */
export const HUB_USER = "tailrace";

/** Shortest wait between attempts: a restarted server is back within 50 ms. */
const SHORTEST_WAIT_MS = 50;

/** Longest wait between attempts to reach a server that stays unreachable. */
const LONGEST_WAIT_MS = 2_000;

/** Each wait is this fraction of the outage so far, so waits grow with the outage. */
const WAIT_SHARE = 0.25;

/**
 * A dead server that closed no socket is detected after two pings without any answer. Where there are others the connection moves
 * before a lease has passed; a single one, which may only be slow, is worth waiting for.
 */
const PING_MS = { single: 4_000, several: 1_000 } as const;

/** How long `start` keeps trying: NATS may start after the hub. */
const CONNECT_TIMEOUT_MS = 10_000;

/** How long one of several servers has to greet: one that hangs accepts connections and sends nothing. */
const GREETING_MS = 2_000;

/** The connection was lost and restored while a call waited. */
const CHANGED = Symbol("changed");

/** A NATS server or cluster, and the credentials for it. */
export interface NatsTarget {
  /** nats://host:port; more than one for a cluster. */
  readonly servers: readonly string[];
  readonly token?: string;
  readonly user?: string;
  readonly password?: string;
  /** Seed of an nkey, as text. */
  readonly nkeySeed?: string;
  /** Contents of a credentials file (JWT and seed). */
  readonly credentials?: string;
  /** Paths of PEM files. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
  /** PEM file with the exact certificate of the server, whatever names it contains; read at each connection. */
  readonly pinnedFile?: string;
}

export interface ConnectionOptions {
  /** Called at each `start`. */
  readonly target: () => NatsTarget;
  /** Name that NATS' own tools show. */
  readonly name: string;
  readonly log: Logger;
  readonly clock?: Clock;
}

/** `lost` and `restored` alternate. */
export type ConnectionEvent = "lost" | "restored";

/** Connects at `start` and reconnects without limit. Subscriptions survive reconnects. */
export class Connection implements Component {
  readonly #options: ConnectionOptions;
  readonly #listeners = new Set<(event: ConnectionEvent) => void>();
  #nats: NatsConnection | undefined;
  #watching: Promise<void> | undefined;
  #restored = Promise.withResolvers<void>();
  #connected = false;
  #stopping = false;
  #awaySince = 0;
  readonly #pings = new PingWatch();
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

  /** Bytes that wait in this process until the server takes them. */
  get unsentBytes(): number {
    return unsentBytes(this.nats);
  }

  /** True where the server is one of a cluster: others may store what it answers for. */
  get clustered(): boolean {
    return (this.#nats?.info?.cluster ?? "") !== "";
  }

  /** To be called when the server answered a message of this connection or delivered one that was pulled: it isn't lost. */
  answered(): void {
    this.#pings.answered();
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
    if (wasConnected) this.#notify("lost");
    this.#restored.promise.catch(() => undefined); // there may be no waiter
    this.#restored.reject(closed());
    if (nats !== undefined) await closeNats(nats);
    await this.#watching;
  }

  /** Calls `listener` at each change until the returned function is called. Listeners must not throw. */
  onChange(listener: (event: ConnectionEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Resolves when connected. Rejects with the reason of `signal`, or with `closed` at `stop`. */
  async whenConnected(signal?: AbortSignal): Promise<void> {
    if (this.#connected) return;
    if (this.#nats === undefined) throw closed();
    await (signal === undefined ? this.#restored.promise : abortable(this.#restored.promise, signal));
  }

  /**
   * Makes an idempotent call, and repeats it at once if its answer was lost with the connection. Waits while disconnected.
   * Rejects with the reason of `signal` when it is aborted, else like the call.
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
      if (result !== CHANGED) {
        this.answered();
        return result;
      }
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
      ignoreAuthErrorAbort: true, // a token may change on the server before it changes here
      pingInterval: servers.length > 1 ? PING_MS.several : PING_MS.single,
      maxPingOut: ENDLESS_PINGS,
      timeout: servers.length > 1 ? GREETING_MS : CONNECT_TIMEOUT_MS,
      noAsyncTraces: true,
      ...targetOptions(target),
    };
    this.#awaySince = this.#clock.monotonic();
    for (let tries = 1; ; tries++) {
      try {
        const nats = await connect(options);
        nats.setServers([...servers]); // the library forgets servers that were unreachable before it connected
        return nats;
      } catch (error) {
        const waitedMs = this.#clock.monotonic() - this.#awaySince;
        // One attempt that is late may only mean that this process was paused: while it loads, on a busy machine.
        const isOver = tries > 1 && waitedMs > CONNECT_TIMEOUT_MS;
        if (error instanceof errors.AuthorizationError || isOver) throw refused(servers, error);
      }
      await this.#clock.sleep(this.#wait());
    }
  }

  /** Returns the wait before the next attempt, ms, with jitter so that hubs don't reconnect in step. */
  #wait(): number {
    const share = (this.#clock.monotonic() - this.#awaySince) * WAIT_SHARE * (0.5 + Math.random());
    return Math.min(LONGEST_WAIT_MS, Math.max(SHORTEST_WAIT_MS, share));
  }

  /** Follows the client's status events until the client is closed. */
  async #watch(nats: NatsConnection): Promise<void> {
    const { log } = this.#options;
    this.#pings.connected();
    for await (const status of nats.status()) {
      if (status.type === "disconnect" && this.#connected) {
        this.#connected = false;
        this.#awaySince = this.#clock.monotonic();
        this.#restored = Promise.withResolvers();
        if (!this.#stopping) log.warn({ server: status.server }, "the connection to NATS is lost");
        this.#notify("lost");
      } else if (status.type === "reconnect" && !this.#stopping) {
        this.#connected = true;
        this.#pings.connected();
        this.#restored.resolve();
        log.info({ server: status.server }, "the connection to NATS is back");
        this.#notify("restored");
      } else if (status.type === "ping") {
        if (this.#pings.pinged(status.pendingPings)) await leaveServer(nats);
      } else if (status.type === "error") {
        log.warn({ err: status.error }, "NATS reports an error");
      }
    }
    if (!this.#stopping) log.error("the NATS client gave up the connection; restart the hub");
  }

  #notify(event: ConnectionEvent): void {
    for (const listener of this.#listeners) listener(event);
  }
}

/** Returns the options by which a client signs in to a server. */
export function targetOptions(target: NatsTarget): NodeConnectionOptions {
  const { token, user, password, nkeySeed, credentials, tls, pinnedFile } = target;
  return {
    // Another hub's embedded server expects the token as the password of that hub's user.
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
 * Pins the certificate of the embedded server. The hub may reach the server by an address that the certificate doesn't name;
 * only the server has its key. Any further certificate in the file belongs to an authority, which may have signed others,
 * and isn't trusted.
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
  return new AppError("closed", "the connection to NATS is not open");
}

function refused(servers: readonly string[], error: unknown): AppError {
  const where = servers.join(", ");
  const cause = { cause: error };
  if (error instanceof errors.AuthorizationError) {
    return new AppError(
      "nats_refused",
      `NATS at ${where} rejects the hub's credentials; check nats.token`,
      cause,
    );
  }
  const why = error instanceof Error ? error.message : String(error);
  return new AppError("unavailable", `can't connect to NATS at ${where}: ${why}; check nats.servers`, cause);
}
