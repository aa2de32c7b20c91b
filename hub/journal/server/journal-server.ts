/**
 * The NATS server of the log: embedded, or an external one named in the settings. A server that won't come back is removed
 * from the JetStream cluster: it no longer counts towards the majority, and others get its replicas.
 */

import { connect, type NatsConnection } from "@nats-io/transport-node";
import { type Connection, type NatsTarget, targetOptions } from "#hub/journal/connection/connection.ts";
import { toJournalError } from "#hub/journal/connection/nats-errors.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";
import { type ClusterMember, EmbeddedServer, ownTarget } from "./embedded-server.ts";
import { type AgentUser, MAX_PAYLOAD_BYTES, type ServerTls, SYSTEM_USER } from "./server-config.ts";
import {
  checkServerVersion,
  type Durability,
  formatVersion,
  mayCluster,
  parseServerVersion,
  type ServerVersion,
} from "./server-program.ts";
import { ServerWatchdog, type WatchdogTimes, whySilent } from "./server-watchdog.ts";

/** Answered only by the leader. Source: nats-server, server/jetstream_api.go, JSApiRemoveServer. */
const SUBJECT = "$JS.API.SERVER.REMOVE";
const TIMEOUT_MS = 10_000;
/** Answered by every server whose name contains the request's. Source: nats-server, server/events.go, serverPingReqSubj. */
const PING = "$SYS.REQ.SERVER.PING";
/** Time in which a running server answers. */
const PING_MS = 3_000;
/** err_code for a name that no server of the cluster has. */
const NOT_MEMBER = 10_044;

interface Answer {
  readonly success?: boolean;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

interface Statistics {
  readonly server?: { readonly name?: string };
}

export interface JournalServerOptions {
  /** The hub's data folder. */
  readonly dataDir: string;
  /** Address and port of the embedded server; port 0: the system chooses. */
  readonly host: string;
  readonly port: number;
  /** Set: the embedded server speaks TLS. */
  readonly tls?: ServerTls;
  /** Set: the embedded server is a member of a cluster. */
  readonly cluster?: ClusterMember;
  /** Set: this NATS is used instead of an embedded one. */
  readonly external?: NatsTarget;
  readonly log: Logger;
  /** Times of the embedded server's watchdog; defaults without it. */
  readonly watchdog?: WatchdogTimes;
  readonly clock?: Clock;
  readonly env?: NodeJS.ProcessEnv;
}

/** Where agents connect to NATS. */
export interface JournalAddress {
  readonly url: string;
  /** Empty if clients need other credentials or none. */
  readonly token: string;
  /** File with the token, readable by this user; empty with an external NATS. */
  readonly tokenFile: string;
}

/** Hides whether the server is embedded, except for operations that only an embedded server has. */
export class JournalServer {
  readonly #options: JournalServerOptions;
  readonly #embedded: EmbeddedServer | undefined;

  /** `onRestart` is called at every restart after a death. */
  constructor(options: JournalServerOptions, onRestart: () => void) {
    this.#options = options;
    this.#embedded = options.external === undefined ? embeddedServer(options, onRestart) : undefined;
  }

  /** Starts the embedded server as a part of `lifecycle`. Throws as EmbeddedServer.start does. */
  async start(lifecycle: Lifecycle): Promise<void> {
    if (this.#embedded !== undefined) await lifecycle.start("nats-server", this.#embedded);
  }

  /** Ends the embedded server, even if it doesn't listen yet. */
  async stop(): Promise<void> {
    await this.#embedded?.stop();
  }

  /** Throws nats_refused if the connected server, which may be external, lacks features that the log needs. */
  check({ nats }: Connection): void {
    const where = this.address.url;
    const version = parseServerVersion(nats.info?.version ?? "");
    const clustered = (nats.info?.cluster ?? "") !== "";
    if (version !== undefined) {
      checkServerVersion(version, where, clustered && this.embeds);
      if (clustered && !this.embeds) this.#warnOfOld(version);
    }
    if (nats.info?.jetstream !== true) {
      throw new AppError("nats_refused", `NATS at ${where} has JetStream disabled; start it with "-js"`);
    }
    this.#checkPayload(nats.info.max_payload ?? MAX_PAYLOAD_BYTES);
  }

  /**
   * An agent makes batches of up to 1 MiB before it has a connection: a server that refuses them would hold them up
   * indefinitely.
   */
  #checkPayload(maxPayloadBytes: number): void {
    if (maxPayloadBytes >= MAX_PAYLOAD_BYTES) return;
    const { url } = this.address;
    const text = `NATS at ${url} accepts messages of ${maxPayloadBytes} bytes only: set max_payload: ${MAX_PAYLOAD_BYTES}`;
    if (maxPayloadBytes < MIB) throw new AppError("nats_refused", text);
    this.#options.log.warn(`${text}; larger documents and batches are refused until then`);
  }

  /** Only warns: an operator's own cluster may have worked so far. */
  #warnOfOld(version: ServerVersion): void {
    if (mayCluster(version)) return;
    const server = { url: this.address.url, version: formatVersion(version) };
    this.#options.log.warn(
      server,
      "the servers of this NATS cluster are older than 2.10.23 and can lose a whole stream: upgrade them, best to 2.10.27 or newer",
    );
  }

  /** Connection target of the hub itself. Valid after `start`. */
  get target(): NatsTarget {
    return this.#options.external ?? ownTarget(this.#embedded!, this.#options.tls);
  }

  /** Where agents connect. Valid after `start`. */
  get address(): JournalAddress {
    const server = this.#embedded;
    if (server !== undefined) return { url: server.url, token: server.token, tokenFile: server.tokenFile };
    const { servers, token = "" } = this.#options.external!;
    return { url: servers.join(","), token, tokenFile: "" };
  }

  /** True when the hub runs its own nats-server; `setAgents` and `reload` require it. */
  get embeds(): boolean {
    return this.#embedded !== undefined;
  }

  /** True when the embedded server is a member of a cluster. */
  get clustered(): boolean {
    return this.#embedded !== undefined && this.#options.cluster !== undefined;
  }

  /** Addresses of all known servers that store the log. Valid after `start`. */
  get servers(): readonly string[] {
    return this.#options.external?.servers ?? this.#options.cluster?.routes() ?? this.target.servers;
  }

  /** Durability of an acknowledgement; "process" for an external NATS, whose configuration is unknown. */
  get durability(): Durability {
    return this.#embedded?.durability ?? "process";
  }

  /** Process id of the embedded server while it runs. */
  get pid(): number | undefined {
    return this.#embedded?.pid;
  }

  /** Number of starts of the embedded server. */
  get starts(): number {
    return this.#embedded?.starts ?? 0;
  }

  /** Messages that a stream had when the server started; undefined if unknown, for example for an external server. */
  restoredMessages(stream: string): number | undefined {
    return this.#embedded?.restoredMessages(stream);
  }

  /** Removes the server of another hub from the cluster permanently; false if there is none. Throws unavailable, timeout. */
  removePeer(name: string): Promise<boolean> {
    return removePeer(this.target, name);
  }

  /** Returns whether the server of another hub answers. Throws unavailable, timeout. */
  isPeerUp(name: string): Promise<boolean> {
    return isPeerUp(this.target, name);
  }

  /** See EmbeddedServer.setAgents. */
  setAgents(agents: readonly AgentUser[]): void {
    this.#embedded?.setAgents(agents);
  }

  /** Returns the watchdog of the embedded server; undefined for an external NATS. */
  watchdog(probe: () => Promise<void>): Component | undefined {
    if (this.#embedded === undefined) return undefined;
    const { dataDir, log, clock = systemClock, watchdog } = this.#options;
    return new ServerWatchdog({ ...watchdog, server: this.#embedded, probe, folder: dataDir, clock, log });
  }

  /** Returns the error of a start; instead of one that says that the embedded server didn't answer, the reason if it is known. */
  whySilent(error: unknown): unknown {
    if (this.#embedded === undefined) return error;
    const { crash, streamsFolder } = this.#embedded;
    return whySilent(error, { folder: this.#options.dataDir, crash, streamsFolder });
  }

  /** Makes the embedded server reload its certificate. */
  reload(): void {
    this.#embedded?.reload();
  }
}

function embeddedServer(options: JournalServerOptions, onRestart: () => void): EmbeddedServer {
  const { dataDir, host, port, tls, cluster, log, clock, env } = options;
  return new EmbeddedServer({
    dataDir,
    host,
    port,
    log,
    onRestart,
    ...(tls === undefined ? {} : { tls }),
    ...(cluster === undefined ? {} : { cluster }),
    ...(clock === undefined ? {} : { clock }),
    ...(env === undefined ? {} : { env }),
  });
}

/** Returns false if no server has that name. Throws unavailable, timeout. */
async function removePeer(target: NatsTarget, name: string): Promise<boolean> {
  const what = `removal of the server ${name}`;
  const answer = await asSystem(target, what, async (nats) => {
    const reply = await nats.request(SUBJECT, JSON.stringify({ peer: name }), { timeout: TIMEOUT_MS });
    return reply.json<Answer>();
  });
  if (answer.success === true) return true;
  if (answer.error?.err_code === NOT_MEMBER) return false;
  throw new AppError(
    "unavailable",
    `${what} was refused by NATS: ${answer.error?.description ?? "no reason"}`,
  );
}

/** Returns whether a server of that name answers. Throws unavailable, timeout. */
export function isPeerUp(target: NatsTarget, name: string): Promise<boolean> {
  const what = `question whether the server ${name} runs`;
  return asSystem(target, what, async (nats) => {
    const parts = JSON.stringify({ server_name: name });
    for await (const answer of await nats.requestMany(PING, parts, { strategy: "timer", maxWait: PING_MS }))
      if (answer.json<Statistics>().server?.name === name) return true;
    return false;
  });
}

/** Runs `run` with a connection to the servers' own account. Throws unavailable, timeout. */
async function asSystem<T>(
  { token, ...target }: NatsTarget,
  what: string,
  run: (nats: NatsConnection) => Promise<T>,
): Promise<T> {
  const options = targetOptions({ ...target, user: SYSTEM_USER, password: token ?? "" });
  try {
    const nats = await connect({ ...options, servers: [...target.servers], reconnect: false });
    try {
      return await run(nats);
    } finally {
      await nats.close();
    }
  } catch (error) {
    throw toJournalError(error, what);
  }
}
