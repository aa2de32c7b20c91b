/**
 * The shards of this hub: opened from disk, fed with messages of DOC in order, refreshed and committed. A commit
 * advances the position in DOC below which the log may be purged and agents may release their files.
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { Shard } from "#hub/engine/shard.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { tailrace } from "#proto/messages.ts";
import type { Position } from "#proto/position.ts";
import type { ShardHostOptions, ShardNumbers, ShardSearcher } from "./contract.ts";
import { beginSlice, HostProgress } from "./host-progress.ts";
import { HostedIndex, HostedIndices, type HostedShardStats } from "./hosted-index.ts";
import { IndexRefreshes } from "./index-refreshes.ts";
import { MergeScheduler } from "./merge-scheduler.ts";
import { notOpen, PlacedShards, unhosted } from "./placed-shards.ts";
import type { Committed } from "./position-files.ts";
import { type SetBackReport, SetBackShards, shardName } from "./set-back-shards.ts";
import { ShardFolders, shardKey } from "./shard-folders.ts";
import { type HostSeat, ONLY_HOST, owns } from "./shard-owner.ts";

export class ShardHost {
  readonly #options: ShardHostOptions;
  readonly #seat: HostSeat;
  readonly #folders: ShardFolders;
  readonly #mergeTurns = new MergeScheduler<Shard>();
  /** By uuid. */
  readonly #hosted = new HostedIndices();
  readonly #refreshes: IndexRefreshes;
  readonly #setBack: SetBackShards;
  /** Adds and removes shards. */
  readonly placed: PlacedShards;
  /** What was committed before the start. */
  readonly #before: Committed;
  readonly #progress: HostProgress;

  constructor(options: ShardHostOptions) {
    this.#options = options;
    this.#seat = options.seat ?? ONLY_HOST;
    this.#folders = new ShardFolders(options.folder, options.log, this.#seat);
    this.#before = this.#folders.readCommitted();
    const [folders, hosted] = [this.#folders, this.#hosted];
    this.#refreshes = new IndexRefreshes({ ...options, hosted });
    this.#progress = new HostProgress({ ...options, folders, hosted, position: this.#before.position });
    this.#setBack = new SetBackShards(options.log);
    this.placed = new PlacedShards({
      ...options,
      seat: this.#seat,
      absent: options.absent ?? new Set(),
      folders,
      hosted,
      setBack: this.#setBack,
      open: (index, number) => this.#openShard(index, number, 0),
      commit: () => this.commit(),
      goBackTo: (position) => this.#progress.goBackDurably(position),
      isDurable: (position) => this.#progress.isDurable(position),
    });
  }

  /** Last message of DOC that was applied or skipped. */
  get position(): Position {
    return this.#progress.position;
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
    this.placed.begin();
    for (const index of catalog.all()) this.#openIndex(index);
    this.#goBackToOldest();
    catalog.onChange((index, uuid) => this.#follow(index, uuid));
  }

  /** Returns the shards that have lost files; null if none has. */
  setBack(): SetBackReport | null {
    return this.#setBack.report();
  }

  /** Returns the log positions that the shards remember, to detect what the log has lost. */
  known(): { readonly doc: Position[]; readonly raw: Position[] } {
    const shards = [...this.#hosted.shards()];
    return {
      doc: [this.#progress.position, ...shards.map((shard) => shard.position)],
      raw: shards.flatMap((shard) => [...shard.rawPositions()]),
    };
  }

  /** Returns what must be awaited before `apply`, like IndexCatalog.catchUp; nearly always undefined. */
  prepare({ indexUuid, mappingVersion }: DocBatchView["header"]): Promise<void> | undefined {
    return this.#options.catalog.catchUp(indexUuid, mappingVersion);
  }

  /**
   * Applies a message to its shard. Returns the results by operation; null if everything was applied before, or the index is
   * gone and no answer is expected. Throws what the shard throws; the position is then unchanged.
   */
  apply(batch: DocBatchView, position: Position): ItemResult[] | null {
    const { indexUuid, shard, reply } = batch.header;
    const hosted = this.#hosted.get(indexUuid);
    let results: ItemResult[] | null = null;
    if (hosted?.shard(shard) !== undefined) results = hosted.apply(shard, batch, position);
    else if (reply !== "" && !this.placed.isAbsent(indexUuid, shard))
      results = unhosted(this.#options.catalog.byUuid(indexUuid) === undefined, batch);
    this.#moveTo(position);
    return results;
  }

  /**
   * Reopens a shard as last committed, after a message that failed half-way. The position goes back to where that shard
   * needs it; other shards drop messages that they already have.
   */
  reopen(batch: tailrace.DocBatch): void {
    this.#reopen(batch.indexUuid, batch.shard);
  }

  /** Reopens every shard that failed without a message, for example in a seal; returns true if there was one. */
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

  /** Continues after messages that the log no longer has. */
  skipLost(next: Position): void {
    this.#setBack.missed(this.#progress.position, next);
    this.#moveTo(next);
  }

  /** Makes everything applied durable and returns the position that this covers. Holds the thread until then. */
  commit(): Position {
    return this.#progress.commit();
  }

  /** A commit was begun by `commitStep` and isn't complete. */
  get isCommitting(): boolean {
    return this.#progress.isCommitting;
  }

  /**
   * Begins a commit of everything applied, or does the next slice of it. Returns the position that it covers once all of it is
   * durable, before that undefined. A shard that is reopened meanwhile ends it; the next call begins another one.
   */
  commitStep(): Position | undefined {
    return this.#progress.commitStep();
  }

  /** Frees disk space that idle shards keep for their previous manifest, for one slice. Returns whether there may be more. */
  trim(): boolean {
    return this.#hosted.trim(beginSlice(this.#options.clock));
  }

  /** See IndexRefreshes.due. */
  refreshDue(): boolean {
    return this.#refreshes.due();
  }

  /** Does a slice of merging; returns true if there is more. */
  mergeStep(): boolean {
    return this.#mergeTurns.step([...this.#hosted.shards()]);
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

  /** Returns a snapshot of one shard. Throws unavailable if it isn't here, and what `searchers` throws. */
  searcher(index: IndexMetadata, number: number): Searcher {
    const shard = this.#searched(index)?.shard(number);
    if (shard !== undefined) return shard.searcher();
    throw notOpen(index, number);
  }

  /** See IndexRefreshes.now. */
  refresh(indices: readonly IndexMetadata[], only?: ShardNumbers): Promise<void> {
    return this.#refreshes.now(indices, only);
  }

  /** See IndexRefreshes.next. */
  nextRefresh(indices: readonly IndexMetadata[], signal: AbortSignal): Promise<void> {
    return this.#refreshes.next(indices, signal);
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

  /** Reads a document in real time; null if there is none. Throws unavailable if the shard is only on other hubs. */
  get(index: IndexMetadata, number: number, id: string) {
    const shard = this.#hosted.shard(index.uuid, number);
    if (shard === undefined && this.placed.isAbsent(index.uuid, number)) throw notOpen(index, number);
    return shard?.get(id) ?? null;
  }

  close(): void {
    for (const hosted of this.#hosted.values()) hosted.close();
    this.#hosted.clear();
    this.#refreshes.release();
  }

  /** Prepares an index for a search. Throws index_closed. */
  #searched({ name, uuid, state }: IndexMetadata): HostedIndex | undefined {
    if (state === "close")
      throw new AppError("index_closed", "closed", { data: { index: name, index_uuid: uuid } });
    const hosted = this.#hosted.get(uuid);
    hosted?.beforeSearch(this.#refreshes.interval(uuid));
    return hosted;
  }

  #follow(index: IndexMetadata | undefined, uuid: string): void {
    if (index === undefined) {
      this.#hosted.get(uuid)?.close();
      this.#hosted.delete(uuid);
      this.#folders.remove(uuid);
      this.#setBack.forget(uuid);
      this.placed.forget(uuid);
    } else if (this.#hosted.has(uuid)) {
      for (const shard of this.#hosted.get(uuid)!.shards) shard.setMapping(index.mapping);
    } else {
      this.#openIndex(index);
    }
  }

  /** Opens the shards of an index that belong here. */
  #openIndex(index: IndexMetadata): void {
    const { uuid, settings } = index;
    const shards = new Map<number, Shard>();
    for (let number = 0; number < settings.numberOfShards; number++) {
      if (!owns(this.#seat, uuid, number) || this.placed.isAbsent(uuid, number)) continue;
      if (shards.size === 0) this.#folders.describe(index);
      const generation = this.#before.generations.get(shardKey(uuid, number)) ?? 0;
      shards.set(number, this.#openShard(index, number, generation));
    }
    if (shards.size > 0) this.#hosted.set(uuid, new HostedIndex(shards, this.#options.clock));
  }

  /** `committedGeneration`: of its manifest; 0: unknown. The log brings an older shard up to date. */
  #openShard(index: IndexMetadata, number: number, committedGeneration: number): Shard {
    const { name, uuid, mapping } = index;
    const folder = this.#folders.shard(uuid, number);
    const { log } = this.#options;
    const shard = Shard.open(folder, { index: name, mapping, log, committedGeneration });
    const setBack = {
      name: shardName(index, number),
      uuid,
      from: shard.position,
      until: this.#progress.position,
    };
    if (this.placed.isIncomplete(uuid, number)) this.#setBack.addIncomplete(setBack);
    else if (shard.fellBack) this.#setBack.add(setBack);
    return shard;
  }

  /** Throws why it can't be opened; then the closed shard throws that, and `reopenFailed` tries again. */
  #openAgain(index: IndexMetadata, number: number, closed: Shard): Shard {
    try {
      return this.#openShard(index, number, closed.generation);
    } catch (error) {
      throw closed.failedToOpen(error);
    }
  }

  #moveTo(position: Position): void {
    this.#progress.moveTo(position);
    this.#setBack.reached(position);
  }

  #reopen(uuid: string, number: number): void {
    const index = this.#options.catalog.byUuid(uuid);
    const hosted = this.#hosted.get(uuid);
    const shard = hosted?.shard(number);
    if (index === undefined || hosted === undefined || shard === undefined) return;
    shard.close();
    const opened = this.#openAgain(index, number, shard);
    hosted.replace(number, opened);
    if (opened.fellBack) this.#goBackToOldest();
    else this.#progress.goBackToCommit(opened.position);
  }

  /**
   * Sets the position back to where the oldest shard that has lost files needs the log. The new position is durable before
   * such a shard commits: otherwise the shard would look up to date after a crash in between. It isn't above the committed
   * one: while a commit is under way that shard may have been written twice, and others not yet.
   */
  #goBackToOldest(): void {
    const behind = [...this.#hosted.shards()].filter(({ fellBack }) => fellBack);
    if (behind.length > 0) this.#progress.goBackToOldest(behind.map(({ position }) => position));
  }
}
