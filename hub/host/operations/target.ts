/** Opens the shards of a call's indices. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { ShardSearcher } from "#hub/cluster/shards/contract.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { describe, placed, type Seen, ShardsByHost } from "#hub/host/contract/called-shards.ts";
import { type HostAddress, POINT_LOST, type TargetIndex } from "#hub/host/contract/calls.ts";
import { allFailed, type SearchShard } from "#hub/search/phases/contract.ts";
import { RemoteSearchHost } from "#hub/search/phases/remote-host.ts";
import { filterQuery } from "#hub/search/phases/search-call.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { HostState } from "./operation.ts";
import { type OtherShards, SearchedShards } from "./searched-shards.ts";

type Opener = Pick<HostState, "indices" | "shards" | "snapshots" | "placed" | "seat" | "ask">;

/**
 * Opens the shards of the indices that are here and lists those of other hosts; skips indices that were deleted meanwhile.
 * Throws index_closed, parsing; not_found if the point in time is lost.
 */
export function openShards(
  host: Opener,
  targets: readonly TargetIndex[],
  opening: Seen = {},
): SearchedShards {
  const own: SearchShard[] = [];
  const others = new ShardsByHost();
  let order = 0;
  try {
    for (const target of targets) {
      const index = host.indices.byUuid(target.uuid);
      if (index === undefined) continue;
      const opened = openOwn(host, target, index, opening.point);
      const isWhole = host.seat.count === 1 && isAllHere(target);
      const count = isWhole ? opened.length : index.settings.numberOfShards;
      const described = describe(target, index, count, opening);
      for (const { shard, searcher } of opened) {
        const { filter: given, ...rest } = described(shard, order);
        own.push({ ...rest, searcher, ...(given !== undefined && filterQuery(given)) });
      }
      for (const { shard, at } of isWhole ? [] : placed(host.seat, target, count))
        if (at !== host.seat.number) others.add(at, described(shard, order));
      order += count;
    }
  } catch (error) {
    for (const { searcher } of own) searcher.close();
    throw error;
  }
  const all = others.all().map((each): OtherShards => ({ ...each, host: searchHost(host, each.address) }));
  return new SearchedShards(own, all);
}

/** Opens the shards of an index that are searched here. Throws index_closed, not_found. */
function openOwn(
  host: Opener,
  target: TargetIndex,
  index: IndexMetadata,
  point: string | undefined,
): Pick<ShardSearcher, "shard" | "searcher">[] {
  if (isAllHere(target) && point === undefined) return allOf(host, index);
  const opened: Pick<ShardSearcher, "shard" | "searcher">[] = [];
  try {
    for (const { shard, at } of placed(host.seat, target, index.settings.numberOfShards))
      if (at === host.seat.number)
        opened.push({
          shard,
          searcher: point === undefined ? openOne(host, index, shard) : openKept(host, index, shard, point),
        });
    return opened;
  } catch (error) {
    for (const { searcher } of opened) searcher.close();
    throw error;
  }
}

/** Throws what `openOne` throws if a shard moved to other hubs since the search was planned. */
function allOf(host: Opener, index: IndexMetadata): ShardSearcher[] {
  const { seat, placed: places } = host;
  for (const { shard, at } of placed(seat, { uuid: index.uuid }, index.settings.numberOfShards))
    if (at === seat.number && places.isAbsent(index.uuid, shard)) openOne(host, index, shard);
  return host.shards.searchers([index]);
}

/** Only a shard that moved to other hubs since the search was planned fails, so that it is searched there. */
function openOne({ shards, placed: places }: Opener, index: IndexMetadata, shard: number): Searcher {
  if (!places.isAbsent(index.uuid, shard)) return shards.searcher(index, shard);
  const error = new AppError("unavailable", `other hubs have the shard [${index.name}][${shard}]`);
  throw allFailed([{ index: index.name, indexUuid: index.uuid, shard, error }]);
}

/** If the merging host was restarted, it has lost the point in time, and so has the whole search. */
function openKept({ snapshots }: Opener, { uuid }: IndexMetadata, shard: number, point: string): Searcher {
  try {
    return snapshots.searcher(point, uuid, shard);
  } catch (cause) {
    const why = "the point in time was closed, or its shards were reopened";
    throw new AppError("not_found", why, { cause, data: { type: POINT_LOST } });
  }
}

function isAllHere({ shards, elsewhere }: TargetIndex): boolean {
  return shards === undefined && elsewhere === undefined;
}

/** Keeps shards open while `run` runs. */
export async function withShards<T>(
  host: HostState,
  targets: readonly TargetIndex[],
  run: (shards: SearchedShards) => T | Promise<T>,
  opening: Seen = {},
): Promise<T> {
  const opened = openShards(host, targets, opening);
  try {
    return await run(opened);
  } finally {
    opened.close();
  }
}

/** Returns a host in the form that searches call. */
function searchHost({ ask }: Pick<Opener, "ask">, at: HostAddress): RemoteSearchHost {
  return new RemoteSearchHost(async (operation, payload, signal, late) => {
    const message = { value: operation, parts: [payload] };
    const { parts } = await ask(at, "asked", message, signal, (answer) => late?.(answer.parts[0]!));
    return parts[0]!;
  });
}
