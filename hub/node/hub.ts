/** A hub: creates its parts, gives each its dependencies, starts them in order and stops them in reverse. */

import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { checkAuthSettings } from "#hub/auth/settings.ts";
import { threadKernelBytes } from "#hub/engine/kernel/kernel.ts";
import type { HostThreads } from "#hub/host/client/host-threads.ts";
import { Journal } from "#hub/journal/journal.ts";
import type { OpenedAccess } from "#hub/node/access/access.ts";
import { agentAccess } from "#hub/node/access/agent-access.ts";
import { checkedSettings, requireBootstrap } from "#hub/node/checks/bootstrap-checks.ts";
import { giveUpReserve } from "#hub/node/checks/disk-reserve.ts";
import { readMachineLimits } from "#hub/node/checks/machine-limits.ts";
import type { HubSettings } from "#hub/node/settings/hub-settings.ts";
import { advertisedAddresses, writeReach } from "#hub/node/settings/reach-file.ts";
import { readTlsFiles } from "#hub/node/settings/tls-files.ts";
import { unusedSettings } from "#hub/node/settings/unused-settings.ts";
import { ClusterNode } from "#hub/node/wiring/cluster.ts";
import type { Discovered } from "#hub/node/wiring/discovery.ts";
import { openDiscovery } from "#hub/node/wiring/discovery.ts";
import { growth } from "#hub/node/wiring/growth.ts";
import { journalOptions } from "#hub/node/wiring/journal-adapters.ts";
import { makeLinks } from "#hub/node/wiring/links.ts";
import { checkRestored } from "#hub/snapshot/restore.ts";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { openDataFolder } from "#proto/kit/files/data-folder.ts";
import { FolderLock } from "#proto/kit/files/folder-lock.ts";
import { type Component, Lifecycle, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { exportLongestTurn } from "#proto/kit/process/longest-turn.ts";
import { MemoryWatch } from "#proto/kit/process/memory-watch.ts";
import { exportMemory, residentParts } from "#proto/kit/process/process-memory.ts";
import type { FlowDependencies } from "./flow.ts";
import type { Listeners } from "./listeners.ts";

export interface HubOptions {
  readonly settings: HubSettings;
  readonly log: Logger;
  readonly version: string;
}

/** Addresses of a running hub; `token_file` contains the token with which agents on this machine sign in to NATS. */
export interface HubAddresses {
  readonly http: string;
  readonly dashboard: string;
  readonly nats: string;
  readonly token_file: string;
}

/** Time to index received events, to commit and to end nats-server. */
const STOP_DEADLINE_MS = 20_000;
/** Time for all parts together, below the stop timeouts of systemd and containers; the log's server gets its own in addition. */
const STOP_TOTAL_MS = 45_000;
/** Time that the log always gets: its parts wait 10 s for a server that hangs; then that server is ended within 8 s. */
const JOURNAL_STOP_MS = 25_000;
/** Time for the log to answer at a stop. Without an answer most parts can do nothing and get less time to stop: */
const LOG_ANSWER_MS = 5_000;
const SILENT_STOP_DEADLINE_MS = 5_000;
const SILENT_STOP_TOTAL_MS = 15_000;
/** Time for a start to end if it is stopped half-way. */
const START_STOP_MS = 5_000;
/** Free space on the disk of path.data required to start; little, because only a running hub can delete old indices. */
const START_BYTES = 1 << 16;

/** State buckets of the hub's parts. */
const BUCKETS = [
  "indices",
  "auth",
  "cursors",
  "pipelines",
  "alerts",
  "ingest",
  "saved",
  "cluster",
  "agents",
  "nodes",
  "inputs",
];

type MakeFlow = typeof import("./flow.ts")["makeFlow"];

export class Hub implements Component {
  readonly #options: HubOptions;
  readonly #metrics = new Metrics();
  readonly #lifecycle: Lifecycle;
  readonly #stopping = new AbortController();
  readonly #startedMs = systemClock.now();
  #starting: Promise<void> = Promise.resolve();
  #journal: Journal | undefined;
  #servers: Listeners | undefined;
  #opened: OpenedAccess | undefined;

  constructor(options: HubOptions) {
    this.#options = options;
    this.#lifecycle = new Lifecycle((part, error) =>
      options.log.error({ err: error, part }, "a part did not stop cleanly"),
    );
  }

  /**
   * Resolves when everything works. Throws settings_invalid, data_locked, port_taken … with nothing left running; cancelled
   * if `stop` is called meanwhile, which then waits for the end.
   */
  async start(): Promise<void> {
    const folder = checkSurroundings(this.#options);
    this.#starting = this.#startAll(folder);
    try {
      await this.#starting;
    } catch (error) {
      const explained = this.#journal?.server.whySilent(error) ?? error;
      if (!this.#stopping.signal.aborted) await this.#lifecycle.stop(STOP_DEADLINE_MS, STOP_TOTAL_MS);
      throw explained;
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new AppError("cancelled", "the hub was stopped while it started"));
    await withDeadline(this.#starting, START_STOP_MS, "the end of the start").catch(() => undefined);
    const { settings, log } = this.#options;
    const folder = resolve(settings["path.data"]);
    if (giveUpReserve(folder)) log.warn({ folder }, "the disk is full; its reserve is used to stop");
    if ((await this.#journal?.answers(LOG_ANSWER_MS)) ?? true)
      return this.#lifecycle.stop(STOP_DEADLINE_MS, STOP_TOTAL_MS);
    log.warn("the log does not answer; data that it has not stored is read again after the next start");
    return this.#lifecycle.stop(SILENT_STOP_DEADLINE_MS, SILENT_STOP_TOTAL_MS);
  }

  /** Valid after `start`. */
  addresses(): HubAddresses {
    const { url, tokenFile } = this.#journal!.server.address;
    return { ...this.#servers!.addresses, nats: url, token_file: tokenFile };
  }

  /** Returns the addresses of the interfaces for people, programs and agents on other machines. Valid after `start`. */
  advertisedAddresses(): Pick<HubAddresses, "http" | "dashboard" | "nats"> {
    const { settings } = this.#options;
    const { url } = this.#journal!.server.address;
    const nats = this.#journal!.server.embeds ? agentAccess(settings, url).servers.join(",") : url;
    return { ...advertisedAddresses(settings, this.#servers!.addresses), nats };
  }

  /**
   * Returns the one-time address that creates the first administrator, or null if there is one. Valid after `start`.
   */
  async setupLink(): Promise<string | null> {
    return (await this.#opened?.setupLink()) ?? null;
  }

  async #startAll(folder: string): Promise<void> {
    giveUpReserve(folder); // a hub on a full disk must start to delete old indices
    openDataFolder(folder, START_BYTES);
    await this.#run("lock", folderLock(folder));
    checkRestored(folder);
    const { log } = this.#options;
    await this.#run("memory", new MemoryWatch({ log, metrics: this.#metrics, part: "hub" }));
    exportLongestTurn(this.#metrics, "hub");
    exportMemory(this.#metrics, "hub", () => ({ kernel: threadKernelBytes(), ...residentParts() }));
    const engine = loadEngine();
    const hosts = this.#startHosts(folder, engine);
    const rest = loadFlow(hosts);
    const running = { start: async () => undefined, stop: async () => (await hosts).stop() };
    await this.#run("shard hosts", running);
    const shared = await this.#startCluster(folder);
    const { makeCatalog } = await engine;
    const { makeFlow, healCopies, preparePlacement } = await rest;
    const catalog = makeCatalog({
      log,
      indices: await shared.journal.bucket("indices"),
      compatVersion: this.#options.settings["compat.version"],
    });
    await this.#run("catalog", catalog);
    const made = { ...shared, catalog, hosts: await hosts };
    const { signal } = this.#stopping;
    const { settings } = this.#options;
    if (!(await preparePlacement({ ...made, settings, folder, log }, signal)))
      await healCopies({ ...made, folder, log, clock: systemClock, signal });
    signal.throwIfAborted();
    await this.#startFlow(makeFlow, made);
    signal.throwIfAborted();
  }

  /** Starts the log, and opens this hub's membership and the links to the others. */
  async #startCluster(folder: string): Promise<Pick<FlowDependencies, "journal" | "cluster" | "links">> {
    const { journal, discovered } = await this.#startJournal(folder);
    openBuckets(journal);
    const shared = { ...this.#options, journal, metrics: this.#metrics };
    const cluster = await ClusterNode.open({ ...shared, folder, startedMs: this.#startedMs });
    const { links, part } = await makeLinks({ ...shared, cluster, discovered });
    await this.#run("links", part);
    return { journal, cluster, links };
  }

  /** Finds the other hubs first, if the settings name any, because their nats-servers store the log together. */
  async #startJournal(folder: string): Promise<{ journal: Journal; discovered: Discovered | undefined }> {
    const { signal } = this.#stopping;
    const discovered = await openDiscovery({ ...this.#options, folder, env: process.env });
    if (discovered !== undefined) {
      await this.#run("discovery", discovered.discovery);
      await discovered.discovery.untilFormed(signal);
    }
    const member = discovered?.member;
    const bringLog = growth({ ...this.#options, folder, env: process.env }, discovered);
    const metrics = this.#metrics;
    const journal = new Journal(journalOptions({ ...this.#options, folder, member, bringLog, metrics }));
    const part = { start: () => journal.start(signal), stop: () => journal.stop() };
    await this.#lifecycle.start("journal", part, JOURNAL_STOP_MS);
    this.#journal = journal;
    discovered?.discovery.formed(() => journal.server.reload());
    return { journal, discovered };
  }

  /** Starts the threads of the shards without waiting; they load their modules meanwhile. */
  #startHosts(folder: string, engine: ReturnType<typeof loadEngine>): Promise<HostThreads> {
    const { log, settings } = this.#options;
    const threads = settings["hub.threads"];
    const searchMemory = settings["search.max_memory"];
    const cacheMemory = settings["search.cache_memory"];
    const hosts = engine.then(async ({ makeHosts }) => {
      const made = makeHosts({ folder, threads, searchMemory, cacheMemory, log, metrics: this.#metrics });
      await made.start();
      return made;
    });
    hosts.catch(() => undefined); // awaited by the caller
    return hosts;
  }

  async #startFlow(
    makeFlow: MakeFlow,
    made: Pick<FlowDependencies, "journal" | "catalog" | "hosts" | "cluster" | "links">,
  ): Promise<void> {
    const { opened, servers, parts } = await makeFlow({
      ...this.#options,
      ...made,
      metrics: this.#metrics,
      startedMs: this.#startedMs,
    });
    this.#opened = opened;
    for (const [name, part] of parts) await this.#run(name, part);
    this.#servers = servers;
    this.#noteReach(servers.addresses);
  }

  /** Only warns: without the file, commands still find the hub if they are given its address. */
  #noteReach(addresses: Listeners["addresses"]): void {
    const { settings, log } = this.#options;
    try {
      writeReach(resolve(settings["path.data"]), settings, addresses);
    } catch (err) {
      log.warn({ err }, "reach.json cannot be written; commands need the hub's address as an option");
    }
  }

  async #run(name: string, component: Component): Promise<void> {
    this.#stopping.signal.throwIfAborted();
    await this.#lifecycle.start(name, component);
  }
}

/**
 * Loads the modules that start the threads of the shards. Loading blocks the hub's thread, so it begins only after
 * nats-server was asked for its version, which nats-server prints meanwhile.
 */
async function loadEngine(): Promise<typeof import("#hub/node/wiring/shards.ts")> {
  await setImmediate();
  return import("#hub/node/wiring/shards.ts");
}

/**
 * Loads the modules that need the log, while the threads of the shards load theirs. Yields one turn of the event loop first,
 * in which the hub can start nats-server if it has printed its version by then.
 */
async function loadFlow(hosts: Promise<HostThreads>) {
  await hosts.catch(() => undefined); // thrown to the callers that await them
  await setImmediate();
  const { makeFlow } = await import("./flow.ts");
  const { healCopies } = await import("#hub/node/wiring/copy-healing.ts");
  const { preparePlacement } = await import("#hub/node/wiring/placement-start.ts");
  return { makeFlow, healCopies, preparePlacement };
}

/** Opens all buckets concurrently: each waits for the disk, and their users open them one after the other. */
function openBuckets(journal: Journal): void {
  for (const name of BUCKETS) journal.bucket(name).catch(() => undefined); // thrown to the bucket's users
}

/** Returns the data folder. Throws settings_invalid if the hub must not start with these settings on this machine. */
function checkSurroundings({ settings, log }: HubOptions): string {
  checkAuthSettings(settings);
  readTlsFiles(settings);
  const checked = checkedSettings(settings);
  const findings = requireBootstrap(checked, readMachineLimits(checked.dataFolder));
  // A hub that is tried out on loopback rarely has thousands of files open.
  for (const { check, message } of findings)
    log[check === "open_files" ? "debug" : "warn"]({ check }, message);
  for (const unused of unusedSettings(settings)) log.warn(`setting without effect: ${unused}`);
  return checked.dataFolder;
}

function folderLock(folder: string): Component {
  let lock: FolderLock | undefined;
  return {
    start: async () => {
      lock = FolderLock.acquire(folder, "hub");
    },
    stop: async () => lock?.release(),
  };
}
