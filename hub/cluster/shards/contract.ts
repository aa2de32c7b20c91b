/** What a ShardHost is given, and the snapshots that it returns. */

import type { IndexCatalog } from "#hub/cluster/catalog/index-catalog.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { HostSeat } from "./shard-owner.ts";

/** The index metadata that shards are opened by. */
export type HostedCatalog = Pick<IndexCatalog, "all" | "byUuid" | "onChange" | "restore" | "catchUp">;

export interface ShardHostOptions {
  readonly folder: string;
  readonly catalog: HostedCatalog;
  readonly log: Logger;
  readonly clock: Clock;
  /** Called around a commit, which may wait long for a slow disk. */
  readonly onCommitting?: (isUnderWay: boolean) => void;
  /** Which of the hub's shards are here; all without it. */
  readonly seat?: HostSeat;
  /** Shards that this hub doesn't have, by `shardKey`; PlacedShards changes it. */
  readonly absent?: Set<string>;
}

/** A snapshot of a shard for searching. */
export interface ShardSearcher {
  readonly index: IndexMetadata;
  readonly shard: number;
  readonly searcher: Searcher;
}

/** Numbers of shards by the uuid of their index. */
export type ShardNumbers = ReadonlyMap<string, readonly number[]>;
