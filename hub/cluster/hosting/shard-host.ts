/**
 * The shards of this hub: opened from disk, fed with messages of DOC in order, refreshed and committed. A commit
 * advances the position in DOC below which the log may be purged and agents may release their files.
 */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { Shard } from "#hub/engine/shard.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { tailrace } from "#proto/messages.ts";
import { comparePositions, type Position } from "#proto/position.ts";
import { HostedIndex, type HostedShardStats } from "./hosted-index.ts";
import { MergeScheduler } from "./merge-scheduler.ts";
import type { Committed } from "./position-files.ts";
import { type RefreshInterval, RefreshWaiters, refreshInterval } from "./refresh-schedule.ts";
import { type SetBackReport, SetBackShards } from "./set-back-shards.ts";
import { ShardFolders, shardKey } from "./shard-folders.ts";
import { type HostSeat, ONLY_HOST, owns } from "./shard-owner.ts";

/** The index metadata that shards are opened by. */
export type HostedCatalog = Pick<IndexCatalog, "all" | "byUuid" | "onChange" | "restore" | "catchUp">;

export interface ShardHostOptions {
  readonly folder: string;
  readonly catalog: HostedCatalog;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called around a commit, which may wait long for a slow disk. */
  readonly onCommitting?: (isUnderWay: boolean) => void;
  /** Which of the hub's shards are here; without it all. */
  readonly seat?: HostSeat;
}

/** A snapshot of a shard for searching. */
export interface ShardSearcher {
  readonly index: IndexMetadata;
  readonly shard: number;
  readonly searcher: Searcher;
}

export class ShardHost {
  readonly #options: ShardHostOptions;
  readonly #seat: HostSeat;
  readonly #folders: ShardFolders;
  readonly #mergeTurns = new MergeScheduler<Shard>();
  /** By uuid. */
  readonly #hosted = new Map<string, HostedIndex>();
  readonly #waiters = new RefreshWaiters();
  readonly #setBack: SetBackShards;
  /** What was committed before the start. */
  readonly #before: Committed;
  #position: Position;

  constructor(options: ShardHostOptions) {
    this.#options = options;
    this.#seat = options.seat ?? ONLY_HOST;
    this.#folders = new ShardFolders(options.folder, options.log, this.#seat);
    this.#before = this.#folders.readCommitted();
    this.#position = this.#before.position;
    this.#setBack = new SetBackShards(options.log);
  }

  /** Last message of DOC that was applied or skipped. */
  get position(): Position {
    return this.#position;
  }

  /** Opens every shard on this disk; restores indices that the catalog has lost. */
  async open(): Promise<void> {
    const { catalog, log } = this.#options;
    for (const index of this.#folders.indices()) {
      if (await catalog.restore(index)) continue;
      log.info(
        { index: index.name, uuid: index.uuid },
        "the index was deleted meanwhile; its shards are removed",
      );
      this.#folders.remove(index.uuid);
    }
    for (const index of catalog.all()) this.#openIndex(index);
    this.#goBackToOldest();
    catalog.onChange((index, uuid) => this.#follow(index, uuid));
  }

  /** Returns the shards that have lost files; null where none has. */
  setBack(): SetBackReport | null {
    return this.#setBack.report();
  }

  /** Returns the log positions that the shards remember, to detect what the log has lost. */
  known(): { readonly doc: Position[]; readonly raw: Position[] } {
    const shards = [...this.#all()];
    return {
      doc: [this.#position, ...shards.map((shard) => shard.position)],
      raw: shards.flatMap((shard) => [...shard.rawPositions()]),
    };
  }

  /** Returns what must be awaited before `apply`, as IndexCatalog.catchUp; nearly always undefined. */
  prepare({ indexUuid, mappingVersion }: DocBatchView["header"]): Promise<void> | undefined {
    return this.#options.catalog.catchUp(indexUuid, mappingVersion);
  }

  /**
   * Applies a message to its shard. Returns the results by operation; null if everything was applied before, or the
   * index is gone and no answer is expected. Throws what the shard throws; the position then stays.
   */
  apply(batch: DocBatchView, position: Position): ItemResult[] | null {
    const { indexUuid, shard, reply } = batch.header;
    const hosted = this.#hosted.get(indexUuid);
    let results: ItemResult[] | null = null;
    if (hosted?.shard(shard) !== undefined) results = hosted.apply(shard, batch, position);
    else if (reply !== "") results = this.#unhosted(batch);
    this.#moveTo(position);
    return results;
  }

  /**
   * Reopens a shard as last committed, after a message that failed half-way. The position goes back to what that
   * shard needs; other shards drop what they already have.
   */
  reopen(batch: tailrace.DocBatch): void {
    this.#reopen(batch.indexUuid, batch.shard);
  }

  /** Reopens every shard that failed on its own, as in a seal; returns true if there was one. */
  reopenFailed(): boolean {
    let found = false;
    for (const [uuid, { numbered }] of this.#hosted) {
      for (const [number, shard] of numbered) {
        if (!shard.hasFailed) continue;
        this.#reopen(uuid, number);
        found = true;
      }
    }
    return found;
  }

  /** Skips a message that no shard can apply. */
  skip(position: Position): void {
    this.#moveTo(position);
  }

  /** Continues after messages that the log doesn't hold any more. */
  skipLost(next: Position): void {
    this.#setBack.missed(this.#position, next);
    this.#moveTo(next);
  }

  /** Makes everything applied durable and returns the position that this covers. */
  commit(): Position {
    this.#options.onCommitting?.(true);
    try {
      return this.#commit();
    } finally {
      this.#options.onCommitting?.(false);
    }
  }

  /** Gives back the disk that idle shards keep for their manifest before. */
  trim(): void {
    for (const hosted of this.#hosted.values()) hosted.trim();
  }

  /** Refreshes the indices that are due. */
  refreshDue(): void {
    for (const [uuid, hosted] of this.#hosted) {
      if (hosted.refreshDue(this.#interval(uuid), this.#waiters.has(uuid))) this.#waiters.refreshed(uuid);
    }
  }

  /** Does a slice of merging; returns true if there is more. */
  mergeStep(): boolean {
    return this.#mergeTurns.step([...this.#all()]);
  }

  /**
   * Returns snapshots of all shards of the indices; each must be closed. Throws index_closed, and what a failed shard
   * throws.
   */
  searchers(indices: readonly IndexMetadata[]): ShardSearcher[] {
    const result: ShardSearcher[] = [];
    try {
      for (const index of indices) {
        const hosted = this.#searched(index);
        for (const [number, shard] of hosted?.numbered ?? [])
          result.push({ index, shard: number, searcher: shard.searcher() });
      }
      return result;
    } catch (error) {
      for (const { searcher } of result) searcher.close();
      throw error;
    }
  }

  /** Returns a snapshot of one shard. Throws unavailable where it isn't here, and what `searchers` throws. */
  searcher(index: IndexMetadata, number: number): Searcher {
    const shard = this.#searched(index)?.shard(number);
    if (shard !== undefined) return shard.searcher();
    throw new AppError("unavailable", `the shard [${index.name}][${number}] is not open`);
  }

  refresh(indices: readonly IndexMetadata[]): Promise<void> {
    for (const { uuid } of indices) {
      this.#hosted.get(uuid)?.refresh();
      this.#waiters.refreshed(uuid);
    }
    return Promise.resolve();
  }

  /**
   * Resolves when each index had a refresh that began after the call, is gone, or `signal` is aborted. Indices
   * without automatic refresh are refreshed at once.
   */
  async nextRefresh(given: readonly IndexMetadata[], signal: AbortSignal): Promise<void> {
    const hosted = given.filter(({ uuid }) => this.#hosted.has(uuid));
    const never = ({ uuid }: IndexMetadata): boolean => this.#interval(uuid).ms === Number.POSITIVE_INFINITY;
    await this.refresh(hosted.filter(never));
    const others = hosted.filter((index) => !never(index)).map(({ uuid }) => uuid);
    await this.#waiters.wait(others, signal);
  }

  flush(): Promise<void> {
    this.commit();
    return Promise.resolve();
  }

  async forceMerge(indices: readonly IndexMetadata[], maxSegments: number): Promise<void> {
    for (const index of indices) {
      for (const shard of this.#hosted.get(index.uuid)?.shards ?? []) await shard.forceMerge(maxSegments);
    }
  }

  stats(index: IndexMetadata): HostedShardStats[] {
    const retains = Number(index.settings.raw["translog.retention.size"]) !== -1;
    return this.#hosted.get(index.uuid)?.stats(retains) ?? [];
  }

  /** Reads a document in real time; null if there is none. */
  get(index: IndexMetadata, shard: number, id: string) {
    return this.#hosted.get(index.uuid)?.shard(shard)?.get(id) ?? null;
  }

  close(): void {
    for (const hosted of this.#hosted.values()) hosted.close();
    this.#hosted.clear();
    this.#waiters.release();
  }

  #commit(): Position {
    const position = this.#position;
    for (const [uuid, hosted] of this.#hosted) {
      if (!hosted.isDirty) continue;
      const index = this.#options.catalog.byUuid(uuid);
      if (index !== undefined) this.#folders.describe(index);
      hosted.commit(refreshInterval(index));
    }
    this.#folders.writeCommitted({ position, generations: this.#generations() });
    return position;
  }

  /** Prepares an index for a search. Throws index_closed. */
  #searched({ name, uuid, state }: IndexMetadata): HostedIndex | undefined {
    if (state === "close")
      throw new AppError("index_closed", "closed", { data: { index: name, index_uuid: uuid } });
    const hosted = this.#hosted.get(uuid);
    hosted?.beforeSearch(this.#interval(uuid));
    return hosted;
  }

  *#all(): Iterable<Shard> {
    for (const { shards } of this.#hosted.values()) yield* shards;
  }

  #interval(uuid: string): RefreshInterval {
    return refreshInterval(this.#options.catalog.byUuid(uuid));
  }

  #follow(index: IndexMetadata | undefined, uuid: string): void {
    if (index === undefined) {
      this.#hosted.get(uuid)?.close();
      if (this.#hosted.delete(uuid)) this.#folders.remove(uuid);
      this.#setBack.forget(uuid);
      this.#waiters.refreshed(uuid);
    } else if (this.#hosted.has(uuid)) {
      for (const shard of this.#hosted.get(uuid)!.shards) shard.setMapping(index.mapping);
    } else {
      this.#openIndex(index);
    }
  }

  /** Opens the shards of an index that are to be here. */
  #openIndex(index: IndexMetadata): void {
    const { uuid, settings } = index;
    const shards = new Map<number, Shard>();
    for (let number = 0; number < settings.numberOfShards; number++) {
      if (!owns(this.#seat, uuid, number)) continue;
      if (shards.size === 0) this.#folders.describe(index);
      const generation = this.#before.generations.get(shardKey(uuid, number)) ?? 0;
      shards.set(number, this.#openShard(index, number, generation));
    }
    if (shards.size > 0) this.#hosted.set(uuid, new HostedIndex(shards, this.#options.clock));
  }

  /** `committedGeneration`: of its manifest; 0: unknown. A shard that is older is brought up to date by the log. */
  #openShard({ name, uuid, mapping }: IndexMetadata, number: number, committedGeneration: number): Shard {
    const folder = this.#folders.shard(uuid, number);
    const { log } = this.#options;
    const shard = Shard.open(folder, { index: name, mapping, log, committedGeneration });
    if (!shard.fellBack) return shard;
    const until = this.#position;
    this.#setBack.add({ name: `[${name}][${number}]`, uuid, from: shard.position, until });
    return shard;
  }

  #moveTo(position: Position): void {
    this.#position = position;
    this.#setBack.reached(position);
  }

  /** Generations of the manifests, see `Committed`. */
  #generations(): Map<string, number> {
    const generations = new Map<string, number>();
    for (const [uuid, { numbered }] of this.#hosted)
      for (const [number, { generation }] of numbered)
        if (generation > 0) generations.set(shardKey(uuid, number), generation);
    return generations;
  }

  #reopen(uuid: string, number: number): void {
    const index = this.#options.catalog.byUuid(uuid);
    const hosted = this.#hosted.get(uuid);
    const shard = hosted?.shard(number);
    if (index === undefined || hosted === undefined || shard === undefined) return;
    shard.close();
    const opened = this.#openShard(index, number, shard.generation);
    hosted.replace(number, opened);
    this.#goBackTo(opened.position);
    if (opened.fellBack) this.#goBackToOldest();
  }

  /**
   * Goes back to where the oldest shard that has lost files needs the log. That is durable before such a shard commits: after
   * a crash in between it would look up to date.
   */
  #goBackToOldest(): void {
    const behind = [...this.#all()].filter(({ fellBack }) => fellBack);
    for (const { position } of behind) this.#goBackTo(position);
    if (behind.length > 0)
      this.#folders.writeCommitted({ position: this.#position, generations: this.#generations() });
  }

  #goBackTo(position: Position): void {
    if (comparePositions(position, this.#position) < 0) this.#position = position;
  }

  /** Returns the results for a message whose shard is not hosted here. */
  #unhosted({ header, count }: DocBatchView): ItemResult[] {
    const isGone = this.#options.catalog.byUuid(header.indexUuid) === undefined;
    const result = isGone
      ? { errorCode: "index_missing", errorReason: "no such index" }
      : { errorCode: "unavailable", errorReason: "the shard could not be opened; see the hub's log" };
    return [{ ...result, count }];
  }
}
