/**
 * The shards of several hosts. A search is sent to the host that has most of its shards, which asks the others. Operations
 * that are one call to each host are merged here.
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { ShardNumbers } from "#hub/cluster/shards/contract.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import type * as calls from "#hub/host/contract/calls.ts";
import type { Found } from "#hub/host/contract/found.ts";
import {
  type FoundDocuments,
  type HostedShards,
  type NamedIndex,
  REFRESHED,
  type ReadDocument,
  type Refreshed,
  type RefreshedDocument,
} from "#hub/host/contract/hosted-shards.ts";
import type { ResultCacheStats } from "#hub/search/execute/result-cache.ts";
import { toAppError } from "#proto/kit/errors.ts";

/** Looks up an index. */
export type IndexByUuid = (uuid: string) => Pick<IndexMetadata, "settings"> | undefined;

export class SpreadShards implements HostedShards {
  readonly #hosts: readonly HostedShards[];
  readonly #index: IndexByUuid;
  /** The host that has a context, by the context's id; until it is closed. */
  readonly #contexts = new Map<string, HostedShards>();
  #turn = 0;

  constructor(hosts: readonly HostedShards[], index: IndexByUuid) {
    this.#hosts = hosts;
    this.#index = index;
  }

  check(call: calls.SearchBody): Promise<void> {
    return this.#next().check(call);
  }

  search(call: calls.SearchCall, signal: AbortSignal): Promise<Found> {
    return this.#onOne(call, signal, (host) => host.search(call, signal));
  }

  count(call: calls.CountCall, signal: AbortSignal): Promise<calls.Count> {
    return this.#onOne(call, signal, (host) => host.count(call, signal));
  }

  openContext(call: calls.ContextCall, signal: AbortSignal): Promise<Found> {
    return this.#opening(call, (host) => host.openContext(call, signal));
  }

  nextPage(call: calls.PageCall, signal: AbortSignal): Promise<Found> {
    return this.#contextHost(call.id).nextPage(call, signal);
  }

  openDocuments(call: calls.ContextCall, signal: AbortSignal): Promise<FoundDocuments> {
    return this.#opening(call, (host) => host.openDocuments(call, signal));
  }

  nextDocuments(call: calls.PageCall, signal: AbortSignal): Promise<FoundDocuments> {
    return this.#contextHost(call.id).nextDocuments(call, signal);
  }

  openPoint(call: calls.PointCall, signal: AbortSignal): Promise<calls.OpenedPoint> {
    return this.#opening(call, (host) => host.openPoint(call, signal));
  }

  async progress(id: string): Promise<number> {
    const counts = await this.#all((host) => host.progress(id));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  closeContexts(ids: readonly string[]): void {
    for (const id of ids) this.#contexts.delete(id);
    for (const host of this.#hosts) host.closeContexts(ids);
  }

  /** A query is bound to the first shard of each index. */
  async validate(call: calls.ValidateCall, signal: AbortSignal): Promise<readonly calls.Validation[]> {
    const byHost = Map.groupBy(call.targets, ({ uuid }) => this.#owner(uuid, 0));
    if (byHost.size === 0) return this.#next().validate(call, signal);
    const found = await Promise.all(
      [...byHost].map(([host, targets]) => host.validate({ ...call, targets }, signal)),
    );
    return found.flat();
  }

  async explain(
    call: calls.ExplainCall,
    signal: AbortSignal,
  ): Promise<(calls.Explained & { readonly source: Uint8Array }) | null> {
    if (call.targets.length === 0) return this.#next().explain(call, signal);
    return firstOf(await this.#all((host) => host.explain(call, signal)));
  }

  async termVectors(call: calls.TermVectorsCall, signal: AbortSignal): Promise<calls.FoundTermVectors> {
    const [first] = call.targets;
    const { id } = call;
    const host =
      (id === undefined ? undefined : await this.#hostOf(call.targets, id)) ??
      (first === undefined ? this.#next() : this.#owner(first.uuid, 0));
    return host.termVectors(call, signal);
  }

  get(index: NamedIndex, shard: number, id: string): Promise<ReadDocument | null> {
    return this.#owner(index.uuid, shard).get(index, shard, id);
  }

  async getRefreshed(indices: readonly NamedIndex[], id: string): Promise<RefreshedDocument | null> {
    return firstOf(await this.#all((host) => host.getRefreshed(indices, id)));
  }

  async stats(indices: readonly NamedIndex[]): Promise<ReadonlyMap<string, readonly HostedShardStats[]>> {
    const all = await this.#all((host) => host.stats(indices));
    return merged(all, (a, b) => [...a, ...b].toSorted((one, other) => one.shard - other.shard));
  }

  async segments(indices: readonly NamedIndex[]): Promise<calls.ShardSegments[]> {
    const orders = new Map(indices.map(({ uuid }, order) => [uuid, order]));
    const all = await this.#all((host) => host.segments(indices));
    return all.flat().toSorted((a, b) => orders.get(a.uuid)! - orders.get(b.uuid)! || a.shard - b.shard);
  }

  async largest(indices: readonly NamedIndex[], field: string): Promise<ReadonlyMap<string, number>> {
    return merged(await this.#all((host) => host.largest(indices, field)), Math.max);
  }

  async refresh(indices: readonly NamedIndex[], only?: ShardNumbers): Promise<Refreshed> {
    await this.#all((host) => host.refresh(indices, only));
    return REFRESHED;
  }

  async nextRefresh(indices: readonly NamedIndex[], signal: AbortSignal): Promise<void> {
    await this.#all((host) => host.nextRefresh(indices, signal));
  }

  async flush(indices: readonly NamedIndex[]): Promise<void> {
    await this.#all((host) => host.flush(indices));
  }

  async forceMerge(indices: readonly NamedIndex[], maxSegments: number): Promise<void> {
    await this.#all((host) => host.forceMerge(indices, maxSegments));
  }

  async cacheStats(indices: readonly NamedIndex[]): Promise<ReadonlyMap<string, ResultCacheStats>> {
    return merged(await this.#all((host) => host.cacheStats(indices)), sumOf);
  }

  async clearCaches(indices: readonly NamedIndex[]): Promise<void> {
    await this.#all((host) => host.clearCaches(indices));
  }

  #all<T>(ask: (host: HostedShards) => Promise<T>): Promise<T[]> {
    return Promise.all(this.#hosts.map(ask));
  }

  #next(): HostedShards {
    this.#turn = (this.#turn + 1) % this.#hosts.length;
    return this.#hosts[this.#turn]!;
  }

  #owner(uuid: string, shard: number): HostedShards {
    return this.#hosts[ownerOf(uuid, shard, this.#hosts.length)]!;
  }

  async #hostOf(indices: readonly NamedIndex[], id: string): Promise<HostedShards | undefined> {
    const found = await this.#all((host) => host.getRefreshed(indices, id));
    return this.#hosts[found.findIndex((each) => each !== null)];
  }

  /** The hosts, the one with most shards of the targets first; hosts with equally many take turns. */
  #ranked(targets: readonly NamedIndex[]): HostedShards[] {
    const counts = this.#hosts.map(() => 0);
    for (const { uuid } of targets) {
      const shards = this.#index(uuid)?.settings.numberOfShards ?? 0;
      for (let shard = 0; shard < shards; shard++) counts[ownerOf(uuid, shard, counts.length)]!++;
    }
    this.#next();
    const turn = (host: number): number => (host + this.#turn) % counts.length;
    return counts
      .map((count, host) => ({ count, host }))
      .toSorted((a, b) => b.count - a.count || turn(a.host) - turn(b.host))
      .map(({ host }) => this.#hosts[host]!);
  }

  /** Runs a search on one host. If that host is lost, runs it on another, which counts the shards of the lost one as failed. */
  async #onOne<T>(
    { targets }: { readonly targets: readonly NamedIndex[] },
    signal: AbortSignal,
    run: (host: HostedShards) => Promise<T>,
  ): Promise<T> {
    const [first, second] = this.#ranked(targets);
    try {
      return await run(first!);
    } catch (thrown) {
      const error = toAppError(thrown);
      const isLost = error.code === "unavailable" && error.data["failures"] === undefined;
      if (!isLost || second === undefined || signal.aborted) throw error;
      return run(second);
    }
  }

  async #opening<T>(call: calls.PointCall, open: (host: HostedShards) => Promise<T>): Promise<T> {
    const [host] = this.#ranked(call.targets);
    this.#contexts.set(call.id, host!);
    try {
      return await open(host!);
    } catch (error) {
      this.closeContexts([call.id]);
      throw error;
    }
  }

  /** If no host has the context, any host returns the error. */
  #contextHost(id: string): HostedShards {
    return this.#contexts.get(id) ?? this.#next();
  }
}

function firstOf<T>(found: readonly (T | null)[]): T | null {
  return found.find((each) => each !== null) ?? null;
}

function merged<T>(maps: readonly ReadonlyMap<string, T>[], merge: (a: T, b: T) => T): Map<string, T> {
  const all = new Map<string, T>();
  for (const map of maps)
    for (const [uuid, value] of map) {
      const before = all.get(uuid);
      all.set(uuid, before === undefined ? value : merge(before, value));
    }
  return all;
}

function sumOf(a: ResultCacheStats, b: ResultCacheStats): ResultCacheStats {
  const sums = Object.entries(a).map(([name, value]) => [name, value + b[name as keyof ResultCacheStats]]);
  return Object.fromEntries(sums) as ResultCacheStats;
}
