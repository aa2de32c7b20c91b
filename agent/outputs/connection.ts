/**
 * The agent's connection to NATS. It retries without end, at the start as well as after a loss, and notifies listeners
 * when it is up or down.
 */

import { readFileSync } from "node:fs";
import { isIP } from "node:net";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import type { Authenticator, NatsConnection, NodeConnectionOptions } from "@nats-io/transport-node";
import {
  connect,
  errors,
  nkeyAuthenticator,
  tokenAuthenticator,
  usernamePasswordAuthenticator,
} from "@nats-io/transport-node";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { plainHost } from "#proto/kit/net/host.ts";
import { closeNats, leaveServer } from "#proto/kit/net/nats-socket.ts";
import { ENDLESS_PINGS, PingWatch } from "#proto/kit/net/ping-watch.ts";
import { Backoff } from "#proto/kit/retry.ts";

export interface ConnectionSettings {
  /** nats:// or tls:// addresses. */
  readonly servers: readonly string[];
  readonly token?: string | undefined;
  /** User whose password the token is, if NATS has users; the hub's own user without it. */
  readonly user?: string | undefined;
  /** File with the token; read at each attempt, as the hub may write it later. */
  readonly tokenFile?: string | undefined;
  readonly nkeySeedFile?: string | undefined;
  readonly tlsCa?: string | undefined;
  readonly tlsCertificate?: string | undefined;
  readonly tlsKey?: string | undefined;
  /** Prefix of the subjects on which the agent is answered; one with credentials of its own may use no others. */
  readonly inboxPrefix?: string | undefined;
}

/** A message as listeners receive it. */
export interface Received {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Status code of the headers, 0 without. */
  readonly status: number;
}

interface Subscription {
  readonly subject: string;
  readonly onMessage: (message: Received) => void;
}

/** Name of the user whose password the hub's own token is, see hub/journal/server/server-config.ts. */
const HUB_USER = "tailrace";
/** The name that Node checks a certificate against if the client named no server. */
const NO_NAME = "localhost";
/** A connection is tried more often than a write: without a connection nothing is sent. */
const CONNECTION_RETRY = { firstMs: 50, capMs: 2_000 };
/**
 * A server that hangs and a dead network path are noticed after two pings without any answer: after 6 to 9 s, or after 2 to 3 s
 * where there are other servers to go to.
 */
const PING_INTERVAL_MS = { single: 3_000, several: 1_000 } as const;
/** A server that hangs accepts connections and sends nothing: trying another one sooner pays off. */
const CONNECT_TIMEOUT_MS = { single: 5_000, several: 2_000 } as const;

export class Connection implements Component {
  readonly #settings: ConnectionSettings;
  readonly #name: string;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #stop = new AbortController();
  readonly #listeners: ((up: boolean) => void)[] = [];
  readonly #subscriptions: Subscription[] = [];
  readonly #retry = new Backoff(CONNECTION_RETRY);
  readonly #pings = new PingWatch();
  #nats: NatsConnection | undefined;
  #up = false;
  #task: Promise<void> | undefined;
  /** Last error that the server sent before it closed the connection; empty if it sent none. */
  #refusal = "";
  #problem = "not connected to the hub yet";

  constructor(settings: ConnectionSettings, name: string, log: Logger, metrics: Metrics, clock: Clock) {
    this.#settings = settings;
    this.#name = name;
    this.#log = log;
    this.#clock = clock;
    metrics.gauge("tailrace_agent_hub_connected", "1 while connected to the hub's NATS.", [], (gauge) =>
      gauge.set(this.#up ? 1 : 0),
    );
  }

  get connected(): boolean {
    return this.#up;
  }

  /** Why there is no connection; empty while there is one. */
  get problem(): string {
    return this.#up ? "" : this.#problem;
  }

  /** Longest message that the server accepts, headers included, bytes; undefined before the first connection. */
  get maxPayloadBytes(): number | undefined {
    return this.#nats?.info?.max_payload;
  }

  /** Calls `listener` whenever the connection is lost or restored. */
  onChange(listener: (up: boolean) => void): void {
    this.#listeners.push(listener);
  }

  /** Listens to `subject` on this and all later connections. Must be called before `start`. */
  subscribe(subject: string, onMessage: (message: Received) => void): void {
    this.#subscriptions.push({ subject, onMessage });
  }

  /** To be called when a message of this connection was answered: its server isn't lost. */
  answered(): void {
    this.#pings.answered();
  }

  /** Returns the connection. Throws `unavailable` while there is none. */
  get nats(): NatsConnection {
    if (!this.#up || this.#nats === undefined) throw new AppError("unavailable", this.#problem);
    return this.#nats;
  }

  /** Begins to connect and doesn't wait for it. Throws settings_invalid for credentials that can't be read. */
  start(): Promise<void> {
    connectionOptions(this.#settings, this.#name);
    this.#task = this.#run();
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    this.#change(false, "stopped");
    if (this.#nats !== undefined) await closeNats(this.#nats);
    await this.#task;
  }

  /** Connects, follows the connection until it is closed permanently, then connects again. */
  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const nats = await connect(connectionOptions(this.#settings, this.#name));
        nats.setServers([...this.#settings.servers]); // the library forgets those that were away before it connected
        this.#nats = nats;
        if (this.#stop.signal.aborted) await nats.close();
        else await this.#follow(nats);
      } catch (error) {
        this.#report(error);
      }
      await this.#clock.sleep(this.#retry.next(), this.#stop.signal);
    }
  }

  async #follow(nats: NatsConnection): Promise<void> {
    for (const { subject, onMessage } of this.#subscriptions) {
      nats.subscribe(subject, {
        callback: (error, message) => {
          if (error !== null) return;
          try {
            onMessage({ subject: message.subject, data: message.data, status: message.headers?.code ?? 0 });
          } catch (thrown) {
            // Passed on, it would end the client library's reading of this connection.
            this.#log.error({ error: thrown, subject }, "a message of the hub could not be handled");
          }
        },
      });
    }
    this.#retry.reset();
    this.#pings.connected();
    this.#change(true, "");
    for await (const status of nats.status()) {
      if (status.type === "disconnect") {
        const why = this.#refusal === "" ? "" : `: ${this.#refusal}`;
        this.#change(false, `lost the connection to the hub at ${status.server}${why}`);
      } else if (status.type === "reconnect") {
        this.#refusal = "";
        this.#pings.connected();
        this.#change(true, "");
      } else if (status.type === "ping") {
        if (this.#pings.pinged(status.pendingPings)) await leaveServer(nats);
      } else if (status.type === "error") this.#reportWhile(status.error);
    }
    const error = await nats.closed();
    this.#change(false, error instanceof Error ? error.message : "the connection to the hub was closed");
  }

  #change(up: boolean, problem: string): void {
    this.#problem = problem;
    if (this.#up === up) return;
    this.#up = up;
    const server = this.#nats?.getServer() ?? "";
    if (up) this.#log.info({ server }, "connected to the hub");
    else if (!this.#stop.signal.aborted) this.#log.info(problem);
    for (const listener of this.#listeners) listener(up);
  }

  /** An error of a connection that the library keeps, or tries to restore by itself. */
  #reportWhile(error: unknown): void {
    const text = explainRefusal(error, this.#settings);
    if (!this.#up && this.#problem === text) return; // each further attempt has the same reason
    this.#log.warn(`the hub's NATS reports an error: ${text}`);
    this.#refusal = text;
    if (!this.#up) this.#problem = text;
  }

  #report(error: unknown): void {
    const text = explainRefusal(error, this.#settings);
    const problem = `cannot connect to the hub at ${this.#settings.servers.join(", ")}: ${text}`;
    if (problem !== this.#problem) this.#log.warn(`${problem}; retrying`);
    this.#problem = problem;
  }
}

/** Returns the options for the client library. Throws settings_invalid for credentials that can't be read. */
export function connectionOptions(settings: ConnectionSettings, name: string): NodeConnectionOptions {
  const retry = new Backoff(CONNECTION_RETRY);
  const { token, tokenFile, user, nkeySeedFile, tlsCa, tlsCertificate, tlsKey, inboxPrefix } = settings;
  const tls = {
    ...(tlsCa === undefined ? {} : { caFile: tlsCa }),
    ...(tlsCertificate === undefined ? {} : { certFile: tlsCertificate }),
    ...(tlsKey === undefined ? {} : { keyFile: tlsKey }),
    checkServerIdentity: (name: string, certificate: PeerCertificate) =>
      checkIdentity(settings.servers, name, certificate),
  };
  const secure =
    [tlsCa, tlsCertificate, tlsKey].some((path) => path !== undefined) ||
    settings.servers.some((server) => server.startsWith("tls:"));
  return {
    name,
    servers: [...settings.servers],
    timeout: settings.servers.length > 1 ? CONNECT_TIMEOUT_MS.several : CONNECT_TIMEOUT_MS.single,
    maxReconnectAttempts: -1,
    reconnectDelayHandler: () => retry.next(),
    // A hub that restarts may refuse the token for a moment; giving up would need an operator.
    ignoreAuthErrorAbort: true,
    pingInterval: settings.servers.length > 1 ? PING_INTERVAL_MS.several : PING_INTERVAL_MS.single,
    maxPingOut: ENDLESS_PINGS,
    ...(secure ? { tls } : {}),
    ...(inboxPrefix === undefined ? {} : { inboxPrefix }),
    ...(token === undefined ? {} : { authenticator: byToken(user, () => token) }),
    ...(tokenFile === undefined ? {} : { authenticator: byToken(user, () => readToken(tokenFile)) }),
    ...(nkeySeedFile === undefined ? {} : { authenticator: nkeyAuthenticator(readSeed(nkeySeedFile)) }),
  };
}

/** A server with accounts, like the hub's own, takes tokens as passwords of users. */
function byToken(user = HUB_USER, token: () => string): Authenticator[] {
  return [tokenAuthenticator(token), usernamePasswordAuthenticator(user, token)];
}

/** The client names no address in the handshake, so that a certificate for one would never fit. */
function checkIdentity(
  servers: readonly string[],
  name: string,
  certificate: PeerCertificate,
): Error | undefined {
  const fault = checkServerIdentity(name, certificate);
  if (fault === undefined || name !== NO_NAME) return fault;
  const addresses = servers.map((server) => plainHost(hostOf(server)));
  const fits = addresses.some((address) => isIP(address) !== 0 && !checkServerIdentity(address, certificate));
  return fits ? undefined : fault;
}

/** Returns the host of a server, which may be written without a scheme. */
function hostOf(server: string): string {
  return new URL(server.includes("://") ? server : `nats://${server}`).hostname;
}

/** Returns a sentence for people on why there is no connection with these settings. */
export function explainRefusal(
  error: unknown,
  { token, tokenFile, nkeySeedFile, tlsCertificate }: ConnectionSettings,
): string {
  const text = error instanceof Error ? error.message : String(error);
  const isRefused =
    error instanceof errors.AuthorizationError ||
    error instanceof errors.UserAuthenticationExpiredError ||
    /authori[sz]ation|authentication/i.test(text);
  if (!isRefused) return text;
  if ([token, tokenFile, nkeySeedFile, tlsCertificate].every((each) => each === undefined))
    return `the hub requires a credential (${text}) and none is set: run tailrace-agent enroll as shown on its page Connect servers`;
  return `the hub refuses the agent's credential (${text}); it is wrong or was revoked: enrol the agent again; until then nothing is lost`;
}

/** Returns the token; empty while the hub hasn't written it, which the server then refuses. */
function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function readSeed(path: string): Uint8Array {
  try {
    return new TextEncoder().encode(readFileSync(path, "utf8").trim());
  } catch (error) {
    throw new AppError(
      "settings_invalid",
      `output.pipeline.nkey_seed_file: cannot read ${path}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}
