/**
 * Adds shards from other hubs and removes shards while a host runs. A crash at any moment leaves no shard that lacks
 * documents.
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { DocBatchView } from "#hub/engine/operations/doc-batch-view.ts";
import type { ItemResult } from "#hub/engine/operations/item-result.ts";
import type { Shard } from "#hub/engine/shard.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Position } from "#proto/position.ts";
import type { HostedIndices } from "./hosted-index.ts";
import { type SetBackShards, shardName } from "./set-back-shards.ts";
import { forgetIndex, type NamedShard, type ShardFolders, shardKey } from "./shard-folders.ts";
import { type HostSeat, owns } from "./shard-owner.ts";

/** A shard that comes from another hub. */
export interface ComingShard extends NamedShard {
  /** Position up to which the other hub had committed all of its shards. */
  readonly from: Position;
  /** Folder of its files, which is moved; undefined: nothing was committed. */
  readonly files?: string;
}

/** A shard that is here. */
export interface Holding extends NamedShard {
  /** True if it can be searched and has everything that its host committed. */
  readonly isWhole: boolean;
}

export interface PlacedShardsOptions {
  readonly catalog: { byUuid(uuid: string): IndexMetadata | undefined };
  readonly clock: Clock;
  readonly seat: HostSeat;
  /** Shards that this hub doesn't have, by `shardKey`. */
  readonly absent: Set<string>;
  readonly folders: ShardFolders;
  readonly hosted: HostedIndices;
  readonly setBack: SetBackShards;
  readonly open: (index: IndexMetadata, shard: number) => Shard;
  /** Makes everything applied durable. */
  readonly commit: () => void;
  /** Lowers the position of the host, durably; returns it. */
  readonly goBackTo: (position: Position) => Position;
  /** Returns whether everything up to a position is applied and on disk. */
  readonly isDurable: (position: Position) => boolean;
}

export class PlacedShards {
  readonly #options: PlacedShardsOptions;
  /** Shards that lack messages which the log has purged, by `shardKey`. */
  readonly #incomplete: Set<string>;

  constructor(options: PlacedShardsOptions) {
    this.#options = options;
    const marked = options.folders.marked("incomplete");
    this.#incomplete = new Set(marked.map(({ uuid, shard }) => shardKey(uuid, shard)));
  }

  /** Removes the files of shards that aren't here: a crash left them, and the position may be past messages that they lack. */
  begin(): void {
    const { folders, absent, seat } = this.#options;
    for (const { uuid, shard } of [...folders.marked("taking"), ...folders.marked("gone")])
      if (owns(seat, uuid, shard)) absent.add(shardKey(uuid, shard));
    for (const key of absent) {
      const [uuid = "", shard] = key.split("/");
      if (owns(seat, uuid, Number(shard))) folders.removeShard(uuid, Number(shard));
    }
  }

  isAbsent(uuid: string, shard: number): boolean {
    return this.#options.absent.has(shardKey(uuid, shard));
  }

  /** Returns whether a shard, when it was opened, lacked messages which the log had purged. */
  isIncomplete(uuid: string, shard: number): boolean {
    return this.#incomplete.has(shardKey(uuid, shard));
  }

  /**
   * Opens a shard that comes from another hub. The host's position goes back to what its files cover, durably, before the
   * shard may commit: a crash until then removes it. Returns that position; null if the shard is here already. Throws
   * not_found if the index was deleted, data_corrupt, and what opening throws; the shard isn't here then.
   */
  take({ uuid, shard, from, files }: ComingShard): Position | null {
    const { catalog, folders, hosted, open, commit, goBackTo, absent, clock } = this.#options;
    const index = catalog.byUuid(uuid);
    if (index === undefined) throw new AppError("not_found", `the index ${uuid} was deleted`);
    if (hosted.shard(uuid, shard) !== undefined) return null;
    // The position that is written below applies to all shards: what it covers must be on disk.
    commit();
    try {
      this.#incomplete.delete(shardKey(uuid, shard));
      folders.moveIn(index, shard, files);
      const opened = open(index, shard);
      hosted.add(uuid, shard, opened, clock);
      if (opened.fellBack)
        throw new AppError("data_corrupt", `the copy of ${shardName(index, shard)} is damaged`);
      const position = goBackTo(from);
      folders.finishMove(uuid, shard);
      absent.delete(shardKey(uuid, shard));
      return position;
    } catch (error) {
      this.drop(uuid, shard);
      throw error;
    }
  }

  /** Closes a shard that other hubs have and removes its files, even if it couldn't be opened. */
  drop(uuid: string, shard: number): void {
    const { catalog, folders, hosted, setBack, absent } = this.#options;
    absent.add(shardKey(uuid, shard));
    this.#incomplete.delete(shardKey(uuid, shard));
    const index = catalog.byUuid(uuid);
    if (index !== undefined) setBack.remove(shardName(index, shard));
    hosted.remove(uuid, shard);
    folders.removeShard(uuid, shard);
  }

  /** Forgets a deleted index. */
  forget(uuid: string): void {
    forgetIndex(this.#options.absent, uuid);
  }

  /** Returns the shards that are here. */
  holdings(): Holding[] {
    return [...this.#options.hosted].flatMap(([uuid, { numbered }]) =>
      numbered.map(([shard]) => ({ uuid, shard, isWhole: this.#isWhole(uuid, shard) })),
    );
  }

  /** Returns whether a shard is here and whole, and everything up to `position` is on disk. */
  holds({ uuid, shard }: NamedShard, position: Position): boolean {
    return this.#isWhole(uuid, shard) && this.#options.isDurable(position);
  }

  #isWhole(uuid: string, number: number): boolean {
    const { catalog, hosted, setBack } = this.#options;
    const index = catalog.byUuid(uuid);
    const shard = hosted.shard(uuid, number);
    if (index === undefined || shard === undefined || shard.hasFailed) return false;
    if (setBack.has(shardName(index, number))) return false;
    shard.searcher().close();
    return true;
  }
}

/** Returns the results for a message of a shard that should be here but isn't. */
export function unhosted(isGone: boolean, { count }: DocBatchView): ItemResult[] {
  const result = isGone
    ? { errorCode: "index_missing", errorReason: "no such index" }
    : { errorCode: "unavailable", errorReason: "the shard could not be opened; see the hub's log" };
  return [{ ...result, count }];
}

export function notOpen(index: IndexMetadata, shard: number): AppError {
  return new AppError("unavailable", `the shard ${shardName(index, shard)} is not open`);
}
