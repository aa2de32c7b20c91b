/** All hosts of a hub: started, fed and stopped together, each with its part of the shards. */

import type { ComingShard, Holding } from "#hub/cluster/shards/placed-shards.ts";
import { alignPositions } from "#hub/cluster/shards/position-files.ts";
import type { SetBackReport } from "#hub/cluster/shards/set-back-shards.ts";
import { forgetIndex, shardKey } from "#hub/cluster/shards/shard-folders.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import type { HubThread } from "#hub/host/contract/calls.ts";
import type { Message } from "#hub/host/wire/peer.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { DocDispatcher, type ReadLog } from "./doc-dispatcher.ts";
import type { AskOther, FrontCatalog, KnownPositions, LogServices } from "./host-link.ts";
import { HostThreadClient, hostRestarts } from "./host-thread-client.ts";

export interface HostThreadsOptions {
  /** Folder of the shards. */
  readonly folder: string;
  /** Number of hosts, at least 1. */
  readonly count: number;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock: Clock;
  /** Memory that the searches of one thread may use together, bytes. */
  readonly searchBytes?: number;
  /** Memory of the caches of all threads together, bytes; without it `usualCacheBytes`. */
  readonly cacheBytes?: number;
  /** The threads' module instead of the host's own, for tests. */
  readonly script?: URL;
}

/** Calls an operation of a thread of another hub. */
export type AskHub = (
  at: HubThread,
  operation: string,
  message: Required<Message>,
  signal: AbortSignal,
) => Promise<Required<Message>>;

/** Options for taking over a shard. */
export interface TakeOptions {
  /** The shard must have everything up to here. */
  readonly end: Position;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** See LogServices; messages name their shard. */
export interface HubLogServices extends Omit<LogServices, "read"> {
  readonly read: ReadLog;
}

/** Time for a thread to list its shards. */
const HOLDINGS_MS = 5_000;
/** How long a search waits for another host that is restarting, before its shards count as failed. */
const OTHER_READY_MS = 2_000;

export class HostThreads {
  readonly hosts: readonly HostThreadClient[];
  readonly #options: HostThreadsOptions;
  readonly #committed: (Position | undefined)[];
  #dispatcher: DocDispatcher | undefined;
  #askHub: AskHub | undefined;
  readonly #absent = new Set<string>();

  constructor(options: HostThreadsOptions) {
    const { count, metrics } = options;
    this.#options = options;
    const restarts = hostRestarts(metrics);
    const askOther: AskOther = (host, ...call) => this.#ask(host, ...call);
    this.hosts = Array.from({ length: count }, (_, number) => {
      const absent = this.#absent;
      return new HostThreadClient({ ...options, restarts, askOther, absent, seat: { number, count } });
    });
    this.#committed = this.hosts.map(() => undefined);
    metrics.gauge("tailrace_host_threads", "threads of shards", [], (gauge) => gauge.set(count));
  }

  /** Enables the threads to call those of other hubs. */
  useHubs(askHub: AskHub): void {
    this.#askHub = askHub;
  }

  /** Returns whether this hub has a shard, according to its current placement. */
  hasShard(uuid: string, shard: number): boolean {
    return !this.#absent.has(shardKey(uuid, shard));
  }

  /** Marks a shard that this hub doesn't have; before `open`. */
  leaveOut(uuid: string, shard: number): void {
    this.#absent.add(shardKey(uuid, shard));
  }

  /**
   * Opens a shard that comes from another hub; resolves when it has everything of the log up to `end` on disk, and searches
   * find that: what they found at the other hub must not be missing here until the next refresh. A shard that fails is dropped
   * again, except if `signal` is aborted: then it continues from there at this hub's next start.
   */
  async take(coming: ComingShard, { end, timeoutMs, signal }: TakeOptions): Promise<void> {
    const { uuid, shard } = coming;
    const host = this.#hostOf(uuid, shard);
    try {
      await host.call("takeShard", coming, { signal });
      const reached = host.reach(end, timeoutMs, signal);
      await (this.#dispatcher?.expedite(reached) ?? reached);
      const held = await host.call("holdsShard", { uuid, shard, position: end }, { signal });
      if (held.value !== true) throw new AppError("unavailable", "the shard that was copied isn't whole");
      const only = new Map([[uuid, [shard]]]);
      await host.call("refresh", { indices: [{ uuid }], only }, { signal });
      this.#absent.delete(shardKey(uuid, shard));
    } catch (error) {
      if (!signal.aborted) await this.drop(uuid, shard).catch(() => undefined);
      throw error;
    }
  }

  /** Closes a shard and removes its files. A thread that fails to remove them does it when it is restarted. */
  async drop(uuid: string, shard: number): Promise<void> {
    this.#absent.add(shardKey(uuid, shard));
    await this.#hostOf(uuid, shard).call("dropShard", { uuid, shard });
  }

  /** Returns the shards that this hub has, without those of threads that don't answer. */
  async holdings(signal: AbortSignal): Promise<Holding[]> {
    const options = { signal, readyMs: 0, timeoutMs: HOLDINGS_MS };
    const all = await Promise.allSettled(this.hosts.map((host) => host.call("holdings", null, options)));
    return all
      .flatMap((each) => (each.status === "fulfilled" ? (each.value.value as Holding[]) : []))
      .filter(({ uuid, shard }) => this.hasShard(uuid, shard));
  }

  /** Starts the threads, which load their modules. */
  async start(): Promise<void> {
    const { folder, count, log } = this.#options;
    alignPositions(folder, count, log);
    for (const host of this.hosts) await host.start();
  }

  /** Runs `change`, which changes the folder of the shards, while no thread uses it; before `open`. */
  async whileEnded(change: () => Promise<void>): Promise<void> {
    for (const host of this.hosts) await host.end();
    await change();
    await this.start();
  }

  /** Opens the shards. Returns the log positions that they remember. Throws what opening throws. */
  async open(catalog: FrontCatalog): Promise<KnownPositions> {
    catalog.onChange((index, uuid) => {
      if (index === undefined) forgetIndex(this.#absent, uuid);
    });
    const known: KnownPositions[] = [];
    // One after the other because each may restore metadata of the same index.
    for (const host of this.hosts) known.push(await host.open(catalog));
    return {
      position: lowest(known.map(({ position }) => position)),
      doc: known.flatMap(({ doc }) => doc),
      raw: known.flatMap(({ raw }) => raw),
    };
  }

  /** Makes the shards follow the log. */
  async follow(services: HubLogServices): Promise<void> {
    const { count, clock } = this.#options;
    const dispatcher = count === 1 ? undefined : new DocDispatcher(services.read, count, clock);
    this.#dispatcher = dispatcher;
    await Promise.all(
      this.hosts.map((host, number) =>
        host.follow({
          ...services,
          read: dispatcher?.readerOf(number) ?? services.read,
          onCommitted: (position) => this.#noteCommit(number, position, services),
        }),
      ),
    );
  }

  /** Makes the shards stop following the log and commit everything applied. */
  async unfollow(): Promise<void> {
    await Promise.all(this.hosts.map((host) => host.unfollow()));
  }

  /** Resolves when every host has applied everything up to `position`. Throws timeout, unavailable. */
  async reach(position: Position, timeoutMs: number, signal?: AbortSignal): Promise<void> {
    const reached = Promise.all(this.hosts.map((host) => host.reach(position, timeoutMs, signal)));
    await (this.#dispatcher?.expedite(reached) ?? reached);
  }

  /** Message of DOC up to which everything was applied, according to the last reports. */
  get position(): Position {
    return lowest(this.hosts.map(({ position }) => position));
  }

  /** False while a thread is started again. */
  get isServing(): boolean {
    return this.hosts.every(({ isServing }) => isServing);
  }

  /** Why nothing can be indexed, made durable or searched in some shards now; empty while all is well. */
  get failure(): string {
    return this.hosts.map(({ failure }) => failure).find((each) => each !== "") ?? "";
  }

  /** See ShardHost.setBack; according to the last reports. */
  get setBack(): SetBackReport | null {
    const reports = this.hosts.flatMap(({ setBack }) => (setBack === null ? [] : [setBack]));
    if (reports.length === 0) return null;
    const isIncomplete = reports.some((each) => each.isIncomplete);
    const reasons = reports.filter((each) => each.isIncomplete === isIncomplete).map(({ reason }) => reason);
    return { isIncomplete, reason: reasons.join("; ") };
  }

  /** Closes the shards and ends the threads; uncommitted operations are read from the log again. */
  async stop(): Promise<void> {
    const stopped = await Promise.allSettled(this.hosts.map((host) => host.stop()));
    for (const each of stopped) if (each.status === "rejected") throw each.reason;
  }

  #hostOf(uuid: string, shard: number): HostThreadClient {
    return this.hosts[ownerOf(uuid, shard, this.hosts.length)]!;
  }

  #ask(...[host, operation, { value, parts }, signal]: Parameters<AskOther>): ReturnType<AskOther> {
    if (typeof host === "object") {
      if (this.#askHub === undefined) throw new AppError("unavailable", `hub ${host.hub} can't be asked`);
      return this.#askHub(host, operation, { value, parts }, signal);
    }
    const asked = this.hosts[host];
    if (asked === undefined) throw new AppError("internal", `there is no host ${host}`);
    return asked.call(operation, value, { parts, signal, readyMs: OTHER_READY_MS });
  }

  /** Messages that all hosts have committed may be purged from the log. */
  #noteCommit(host: number, position: Position, { onCommitted }: HubLogServices): void {
    this.#committed[host] = position;
    const known = this.#committed.filter((each) => each !== undefined);
    if (known.length === this.hosts.length) onCommitted(lowest(known));
  }
}

function lowest([first, ...rest]: readonly Position[]): Position {
  return rest.reduce((least, each) => (comparePositions(each, least) < 0 ? each : least), first!);
}
