/** The shards of indices at this hub: their uncommitted state and when they are refreshed. */

import type { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Shard } from "#hub/engine/shard.ts";
import type { ShardStats } from "#hub/engine/shard-stats.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Position } from "#proto/position.ts";
import { LogBacklog, type LogBacklogStats } from "./log-backlog.ts";
import { type RefreshInterval, RefreshSchedule } from "./refresh-schedule.ts";
import { shardKey } from "./shard-folders.ts";

/** Statistics of one shard at this hub. */
export interface HostedShardStats extends ShardStats {
  /** Number of the shard. */
  readonly shard: number;
  /** Messages of the log that the shard has applied since it was opened. */
  readonly log: LogBacklogStats;
}

/** A shard with its counters. */
class HostedShard {
  readonly shard: Shard;
  /** Something was applied since the last commit. */
  isDirty = false;
  /** Something was applied since the last refresh. */
  isStale = true;
  readonly log = new LogBacklog();

  constructor(shard: Shard) {
    this.shard = shard;
  }
}

/** The shards of one index. */
export class HostedIndex {
  /** By number. */
  readonly #hosted: Map<number, HostedShard>;
  readonly #clock: Clock;
  readonly #pace = new RefreshSchedule();

  /** `shards`: by number, ascending. */
  constructor(shards: ReadonlyMap<number, Shard>, clock: Clock) {
    this.#hosted = new Map([...shards].map(([number, shard]) => [number, new HostedShard(shard)]));
    this.#clock = clock;
  }

  get shards(): Shard[] {
    return this.numbered.map(([, shard]) => shard);
  }

  /** The shards with their numbers, ascending. */
  get numbered(): [number: number, shard: Shard][] {
    return [...this.#hosted].map(([number, { shard }]) => [number, shard]);
  }

  /** Undefined if this host has no such shard. */
  shard(number: number): Shard | undefined {
    return this.#hosted.get(number)?.shard;
  }

  /** Adds a shard. */
  add(number: number, shard: Shard): void {
    const all = [...this.#hosted, [number, new HostedShard(shard)] as const].toSorted(([a], [b]) => a - b);
    this.#hosted.clear();
    for (const [each, hosted] of all) this.#hosted.set(each, hosted);
  }

  /** Closes a shard that is no longer here. */
  remove(number: number): void {
    this.#hosted.get(number)?.shard.close();
    this.#hosted.delete(number);
  }

  /** Replaces a shard with one that was reopened. */
  replace(number: number, shard: Shard): void {
    this.#hosted.set(number, new HostedShard(shard));
  }

  /** See Shard.apply. */
  apply(number: number, batch: DocBatchView, position: Position): ItemResult[] | null {
    const hosted = this.#hosted.get(number)!;
    hosted.isDirty = true;
    hosted.isStale = true;
    const results = hosted.shard.apply(batch, position);
    if (results !== null) hosted.log.add(batch.count, batch.sizeBytes);
    return results;
  }

  /** Numbers of the shards to which something was applied since the last commit. */
  get dirty(): number[] {
    return [...this.#hosted].filter(([, { isDirty }]) => isDirty).map(([number]) => number);
  }

  /** Commits a shard if it has uncommitted changes and is still here. */
  commit(number: number, { isSet }: RefreshInterval): void {
    const hosted = this.#hosted.get(number);
    if (hosted?.isDirty !== true) return;
    hosted.shard.commit();
    hosted.log.commit(this.#clock.now());
    hosted.isDirty = false;
    if (isSet) return;
    // Everything applied is in segments now, so making it visible costs nothing.
    hosted.shard.refresh();
    hosted.isStale = false;
  }

  /** Frees the disk space that idle shards keep, see Shard.trim. */
  trim(): void {
    for (const { shard, isDirty } of this.#all) if (!isDirty) shard.trim();
  }

  /** `isAwaited`: a caller waits for the next refresh. */
  isRefreshDue(interval: RefreshInterval, isAwaited: boolean): boolean {
    // Without changes a refresh is free, and it releases merged segments.
    return this.#pace.isDue(interval, isAwaited || !this.#isStale, this.#clock.monotonic());
  }

  /** Prepares the shards for a search. */
  beforeSearch(interval: RefreshInterval): void {
    const isWanted = this.#pace.search(interval, this.#clock.monotonic());
    if (isWanted && this.#isStale) this.refresh();
  }

  /** `only`: the numbers of the shards to refresh; the regular refresh of the index comes as if they hadn't been. */
  refresh(only?: readonly number[]): void {
    const startMs = this.#clock.monotonic();
    for (const [number, hosted] of this.#hosted) {
      if (only?.includes(number) === false) continue;
      hosted.shard.refresh();
      hosted.isStale = false;
    }
    if (only !== undefined) return;
    const endMs = this.#clock.monotonic();
    this.#pace.refreshed(endMs, endMs - startMs);
  }

  /** `retainsLog`: committed operations still count as stored in the log. */
  stats(retainsLog: boolean): HostedShardStats[] {
    return [...this.#hosted].map(([number, { shard, log }]) => ({
      shard: number,
      ...shard.stats(),
      log: log.print(this.#clock.now(), retainsLog),
    }));
  }

  close(): void {
    for (const { shard } of this.#all) shard.close();
  }

  get #all(): HostedShard[] {
    return [...this.#hosted.values()];
  }

  /** Something was applied since the last refresh. */
  get #isStale(): boolean {
    return this.#all.some(({ isStale }) => isStale);
  }
}

/** All indices with shards here, by uuid. */
export class HostedIndices extends Map<string, HostedIndex> {
  /** Where the next slice of refreshes begins. */
  #refreshFrom = 0;

  /** Undefined if this host has no such shard. */
  shard(uuid: string, number: number): Shard | undefined {
    return this.get(uuid)?.shard(number);
  }

  *shards(): Iterable<Shard> {
    for (const { shards } of this.values()) yield* shards;
  }

  /** The shards to which something was applied since the last commit. */
  dirty(): { readonly uuid: string; readonly number: number }[] {
    return [...this].flatMap(([uuid, { dirty }]) => dirty.map((number) => ({ uuid, number })));
  }

  /** Generations of the manifests, see `Committed`. */
  generations(): Map<string, number> {
    const generations = new Map<string, number>();
    for (const [uuid, { numbered }] of this)
      for (const [number, { generation }] of numbered)
        if (generation > 0) generations.set(shardKey(uuid, number), generation);
    return generations;
  }

  /** See Shard.trim; ends when `isOver` and returns whether there may be more. */
  trim(isOver: () => boolean): boolean {
    for (const hosted of this.values()) {
      hosted.trim();
      if (isOver()) return true;
    }
    return false;
  }

  /** Refreshes in turn what `isDue`; ends when `isOver` and returns whether there may be more. */
  refreshDue(
    isDue: (uuid: string, hosted: HostedIndex) => boolean,
    onRefreshed: (uuid: string) => void,
    isOver: () => boolean,
  ): boolean {
    const all = [...this];
    const from = this.#refreshFrom;
    for (let count = 0; count < all.length; count++) {
      const at = (from + count) % all.length;
      const [uuid, hosted] = all[at]!;
      if (!isDue(uuid, hosted)) continue;
      // One that fails is the last to be tried again.
      this.#refreshFrom = at + 1;
      hosted.refresh();
      onRefreshed(uuid);
      if (isOver()) return true;
    }
    return false;
  }

  /** Adds a shard that has arrived. */
  add(uuid: string, number: number, shard: Shard, clock: Clock): void {
    const known = this.get(uuid);
    if (known === undefined) this.set(uuid, new HostedIndex(new Map([[number, shard]]), clock));
    else known.add(number, shard);
  }

  /** Closes a shard that leaves, if it is here. */
  remove(uuid: string, number: number): void {
    const known = this.get(uuid);
    known?.remove(number);
    if (known?.shards.length === 0) this.delete(uuid);
  }
}
