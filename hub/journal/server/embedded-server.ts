/** The embedded nats-server: a private child process that stores the log below the data folder. */

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import type { NatsTarget } from "#hub/journal/connection/connection.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import type { FolderLock } from "#proto/kit/files/folder-lock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { urlHost } from "#proto/kit/net/host.ts";
import { Backoff } from "#proto/kit/retry.ts";
import {
  type AgentUser,
  HUB_ACCOUNT,
  type ServerCluster,
  type ServerTls,
  serverConfigText,
} from "./server-config.ts";
import { keptToken, moveToAccount, preparePortsFolder } from "./server-files.ts";
import type { ServerLog } from "./server-log.ts";
import { type ServerFiles, STOP_GRACE_MS, takeOwnership } from "./server-owner.ts";
import { requireFreePort } from "./server-port.ts";
import { ServerProcess } from "./server-process.ts";
import { type Durability, findServerBinary, knowsSyncInterval, type ServerBinary } from "./server-program.ts";

/** Waits before a dead server is restarted. */
const RESTART = { firstMs: 20, capMs: 5_000 };

/** After this uptime a server counts as healthy: the next death starts with the shortest wait again. */
const HEALTHY_MS = 30_000;

/** Time for a server that doesn't answer to end regularly. */
const UNRESPONSIVE_GRACE_MS = 2_000;

/**
 * Soft limit of the Go runtime, which collects more often near it and exceeds it where more is in use. 5,000 lines a second
 * need 15 to 35 MiB, 1,000 connections as much, bulk indexing 65. A server of a cluster also keeps
 * entries until the others have them.
 */
const GO_MEMORY_LIMIT = { alone: "96MiB", clustered: "128MiB" };

/** The server as one of a cluster. */
export interface ClusterMember extends ServerCluster {
  /** Folder of its part of the store. */
  readonly storeDir: string;
  /** Password of the hubs, the same on all servers. */
  readonly token: string;
}

export interface EmbeddedServerOptions {
  /** The hub's data folder; the server's files are in its `nats` subfolder. */
  readonly dataDir: string;
  readonly host: string;
  /** 0: the system chooses a port, which stays the same until `stop`. */
  readonly port: number;
  readonly log: Logger;
  /** Set: clients must speak TLS. */
  readonly tls?: ServerTls;
  /** Set: the server is a member of a cluster, which shares the store. */
  readonly cluster?: ClusterMember;
  /** Folder of the store; default `store` in the `nats` subfolder. */
  readonly storeDir?: string;
  /** Called at every restart after a death. */
  readonly onRestart?: () => void;
  readonly clock?: Clock;
  /** Environment of the server, and to look up TAILRACE_NATS_SERVER and PATH in. GOMEMLIMIT takes precedence. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * Runs nats-server until stopped; restarts a server that dies on the same port and files. A data folder has one owner: a
 * running hub keeps it, and the server of a dead hub is ended.
 */
export class EmbeddedServer implements Component {
  readonly #options: EmbeddedServerOptions;
  readonly #log: Logger;
  readonly #clock: Clock;
  readonly #folder: string;
  readonly #files: ServerFiles;
  #lock: FolderLock | undefined;
  #binary: ServerBinary | undefined;
  #process: ServerProcess | undefined;
  #port: number;
  #token = "";
  #agents: readonly AgentUser[] = [];
  #listens = false;
  #reloadDue = false;
  #starts = 0;
  #output: ServerLog | undefined;
  #lastCrash = "";
  #stopping = new AbortController();
  #supervision: Promise<void> | undefined;

  constructor(options: EmbeddedServerOptions) {
    this.#options = options;
    this.#log = options.log;
    this.#clock = options.clock ?? systemClock;
    this.#port = options.port === 0 ? -1 : options.port;
    this.#folder = resolve(options.dataDir, "nats");
    this.#files = {
      folder: this.#folder,
      configFile: join(this.#folder, "nats.conf"),
      pidFile: join(this.#folder, "nats.pid"),
    };
  }

  /** URL for agents and hubs: nats://<host>:<port>. Valid after `start`. */
  get url(): string {
    const { host } = this.#options;
    return `nats://${urlHost(host)}:${this.#port}`;
  }

  /** Password of the hub's user, shared with local agents; also stored in `tokenFile`. */
  get token(): string {
    return this.#token;
  }

  /** Readable only by the hub's user. */
  get tokenFile(): string {
    return join(this.#folder, "token");
  }

  /** Number of starts of the server. */
  get starts(): number {
    return this.#starts;
  }

  /** Why a server ended by a fault of its own, the newest; empty: none did since `start`. */
  get crash(): string {
    return this.#output?.crash || this.#lastCrash;
  }

  /** Folder with a folder for each stream. */
  get streamsFolder(): string {
    return join(this.#storeDir, "jetstream", HUB_ACCOUNT, "streams");
  }

  /** Messages that a stream had when the running server started; undefined if the server printed none. */
  restoredMessages(stream: string): number | undefined {
    // In a cluster the leader's count matters, and it may be another server.
    return this.#options.cluster === undefined ? this.#output?.restored.get(stream) : undefined;
  }

  /** Process id of the running server; undefined while there is none. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get durability(): Durability {
    return this.#binary !== undefined && knowsSyncInterval(this.#binary.version) ? "power-loss" : "process";
  }

  /**
   * Throws nats_missing, nats_refused, port_taken, data_locked or unavailable (with the reason why it doesn't start).
   */
  async start(): Promise<void> {
    this.#stopping = new AbortController();
    const { env = process.env, cluster } = this.#options;
    this.#binary = await findServerBinary(env, cluster !== undefined);
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.#lock = await takeOwnership(this.#files, this.#log, this.#clock);
    try {
      this.#token = keptToken(this.tokenFile, cluster?.token);
      moveToAccount(this.#storeDir);
      if (this.#port > 0) await requireFreePort(this.#options.host, this.#port, this.#clock);
      if (cluster !== undefined)
        await requireFreePort(cluster.host, cluster.port, this.#clock, {
          host: "transport.host",
          port: "nats.route_port",
        });
      const first = await this.#launch(this.#binary);
      this.#supervision = this.#supervise(this.#binary, first);
    } catch (error) {
      this.#lock.release();
      throw error;
    }
    const { path } = this.#binary;
    this.#log.info({ url: this.url, program: path, durability: this.durability }, "nats-server runs");
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    if (this.#supervision === undefined) return;
    await this.#supervision;
    this.#supervision = undefined;
    this.#lock?.release();
  }

  /** Admits only these agents, besides clients with the token. Removed agents are disconnected. */
  setAgents(agents: readonly AgentUser[]): void {
    if (this.#agents.length === 0 && agents.length === 0) return;
    this.#agents = agents;
    this.reload();
  }

  /** Makes the server reload its certificate and users; connections that are still allowed stay open. */
  reload(): void {
    this.#reloadDue = true;
    // The signal would end a server that doesn't listen yet; see #launch.
    if (!this.#listens || this.#binary === undefined || this.pid === undefined) return;
    this.#reloadDue = false;
    this.#writeConfig(this.#binary);
    this.#process?.reload();
  }

  /** Ends a server that runs but doesn't answer; it is restarted like one that died. */
  async replace(): Promise<void> {
    if (this.#listens) await this.#process?.terminate(UNRESPONSIVE_GRACE_MS);
  }

  /** Restarts the server each time it dies, until stopped; then ends it. */
  async #supervise(binary: ServerBinary, first: ServerProcess): Promise<void> {
    const { signal } = this.#stopping;
    const backoff = new Backoff(RESTART);
    let running: ServerProcess | undefined = first;
    while (running !== undefined) {
      const startedAt = this.#clock.monotonic();
      await running.ended(signal);
      if (signal.aborted) return this.#end(running);
      if (this.#clock.monotonic() - startedAt > HEALTHY_MS) backoff.reset();
      this.#log.warn(running.exit, "nats-server died; restarting it");
      this.#options.onRestart?.();
      running = await this.#relaunch(binary, backoff);
    }
  }

  /** Retries until a server runs; undefined when stopped before. */
  async #relaunch(binary: ServerBinary, backoff: Backoff): Promise<ServerProcess | undefined> {
    const { signal } = this.#stopping;
    for (;;) {
      await this.#clock.sleep(backoff.next(), signal);
      if (signal.aborted) return undefined;
      try {
        return await this.#launch(binary);
      } catch (error) {
        if (!signal.aborted) this.#log.error({ err: error }, "nats-server does not start; retrying");
      }
    }
  }

  /** Starts a server and resolves when it accepts connections. */
  async #launch(binary: ServerBinary): Promise<ServerProcess> {
    const portsDir = this.#portsDir;
    preparePortsFolder(portsDir);
    this.#listens = false;
    this.#reloadDue = false;
    this.#writeConfig(binary);
    this.#starts++;
    const { env = process.env, cluster } = this.#options;
    const limit = cluster === undefined ? GO_MEMORY_LIMIT.alone : GO_MEMORY_LIMIT.clustered;
    const launched = new ServerProcess({
      program: binary.path,
      configFile: this.#files.configFile,
      env: { GOMEMLIMIT: limit, ...env },
      log: this.#log,
    });
    this.#process = launched;
    const { output } = launched;
    this.#lastCrash = this.crash;
    this.#output = output;
    try {
      this.#port = await launched.listening(portsDir, this.#stopping.signal);
      this.#listens = true;
      if (this.#reloadDue) this.reload();
      return launched;
    } catch (error) {
      await this.#end(launched);
      const why = output.tail === "" ? (error as Error).message : output.tail;
      throw new AppError("unavailable", `${binary.path} does not start: ${why}`, { cause: error });
    }
  }

  async #end(running: ServerProcess): Promise<void> {
    this.#process = undefined;
    await running.terminate(STOP_GRACE_MS);
  }

  get #portsDir(): string {
    return join(this.#folder, "ports");
  }

  get #storeDir(): string {
    const { cluster, storeDir } = this.#options;
    return cluster?.storeDir ?? storeDir ?? join(this.#folder, "store");
  }

  #writeConfig({ version }: ServerBinary): void {
    const text = serverConfigText({
      host: this.#options.host,
      port: this.#port,
      token: this.#token,
      agents: this.#agents,
      tls: this.#options.tls,
      cluster: this.#options.cluster,
      storeDir: this.#storeDir,
      portsDir: this.#portsDir,
      pidFile: this.#files.pidFile,
      version,
    });
    writeFileAtomic(this.#files.configFile, text, 0o600);
  }
}

/** Returns the connection target of an embedded server, with its credentials. */
export function ownTarget(
  { url, token }: { readonly url: string; readonly token: string },
  tls: ServerTls | undefined,
): NatsTarget {
  const pinnedFile = tls === undefined ? {} : { pinnedFile: tls.certFile };
  return { servers: [url], token, ...pinnedFile };
}
