/** Opens the shards of a call's indices. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { ShardSearcher } from "#hub/cluster/hosting/hosting-contract.ts";
import { ownerOf } from "#hub/cluster/hosting/shard-owner.ts";
import type { Searcher } from "#hub/engine/searcher/searcher.ts";
import { addressKey, type HostAddress, POINT_LOST, type TargetIndex } from "#hub/host/contract/calls.ts";
import { allFailed, type SearchShard } from "#hub/search/phases/contract.ts";
import { RemoteSearchHost } from "#hub/search/phases/remote-host.ts";
import { type CallShard, filterQuery, type ShardFilter } from "#hub/search/phases/search-call.ts";
import type { SearchedIndex } from "#hub/search/query/query.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { HostState } from "./operation.ts";
import { type OtherShards, SearchedShards } from "./searched-shards.ts";
import { partOf, type Slice } from "./slice.ts";

/** Options for opening the shards of a search. */
export interface Opening {
  /** The search sees only this part of the documents. */
  readonly slice?: Slice | undefined;
  /** Id of the context; the other hosts keep snapshots under it. */
  readonly snapshot?: string;
  /** Id of the point in time; this host and the others keep snapshots under it. */
  readonly point?: string | undefined;
}

type Opener = Pick<HostState, "indices" | "shards" | "snapshots" | "placed" | "seat" | "ask">;

/**
 * Opens the shards of the indices that are here and lists those of other hosts; skips indices that were deleted meanwhile.
 * Throws index_closed, parsing; not_found if the point in time is lost.
 */
export function openShards(
  host: Opener,
  targets: readonly TargetIndex[],
  opening: Opening = {},
): SearchedShards {
  const own: SearchShard[] = [];
  const others = new OtherHosts();
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
      for (const { shard, at } of isWhole ? [] : placed(host, target, count))
        if (at !== host.seat.number) others.add(at, described(shard, order));
      order += count;
    }
  } catch (error) {
    for (const { searcher } of own) searcher.close();
    throw error;
  }
  return new SearchedShards(own, others.all(host));
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
    for (const { shard, at } of placed(host, target, index.settings.numberOfShards))
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
  for (const { shard, at } of placed(host, { uuid: index.uuid }, index.settings.numberOfShards))
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
    const why = "the point in time was closed, or its shards were opened again";
    throw new AppError("not_found", why, { cause, data: { type: POINT_LOST } });
  }
}

function isAllHere({ shards, elsewhere }: TargetIndex): boolean {
  return shards === undefined && elsewhere === undefined;
}

/** Returns the shards of an index that are searched, in their order, each with the host that searches it. */
function placed(
  { seat }: Pick<Opener, "seat">,
  { uuid, shards, elsewhere = [] }: Pick<TargetIndex, "uuid" | "shards" | "elsewhere">,
  count: number,
): { readonly shard: number; readonly at: HostAddress }[] {
  const away = new Map(
    elsewhere.flatMap(({ at, shards: theirs }) => theirs.map((shard) => [shard, at] as const)),
  );
  const wanted = shards?.filter((shard) => shard < count).toSorted((a, b) => a - b);
  return (wanted ?? Array.from({ length: count }, (_, shard) => shard)).map((shard) => ({
    shard,
    at: away.get(shard) ?? ownerOf(uuid, shard, seat.count),
  }));
}

/** The shards that other hosts search. */
class OtherHosts {
  readonly #byKey = new Map<string, { readonly address: HostAddress; readonly shards: CallShard[] }>();

  add(address: HostAddress, shard: CallShard): void {
    const key = addressKey(address);
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, { address, shards: [shard] });
    else known.shards.push(shard);
  }

  all(host: Pick<Opener, "ask">): OtherShards[] {
    return [...this.#byKey.values()].map(({ address, shards }) => {
      return { address, host: searchHost(host, address), shards };
    });
  }
}

/** Keeps shards open while `run` runs. */
export async function withShards<T>(
  host: HostState,
  targets: readonly TargetIndex[],
  run: (shards: SearchedShards) => T | Promise<T>,
  opening: Opening = {},
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

/** Describes shards of an index; the first has the order `first`. */
function describe(
  target: TargetIndex,
  { name }: Pick<IndexMetadata, "name">,
  count: number,
  { slice, point, snapshot = point }: Opening,
): (shard: number, first: number) => CallShard {
  const index = searchedIndex(name, target);
  const whole = filterOf(target);
  return (shard, first) => {
    const part = slice === undefined ? undefined : partOf(shard, count, slice);
    const filter: ShardFilter | undefined =
      part === null ? { anyOf: [] } : part === undefined ? whole : { ...whole, slice: part };
    return {
      index,
      shard,
      order: first + shard,
      keepsResults: target.keepsResults ?? true,
      ...(filter !== undefined && { filter }),
      ...(snapshot !== undefined && { snapshot }),
    };
  };
}

function searchedIndex(
  name: string,
  { uuid, typeName, maxTermsCount, maxAnalyzedOffset }: TargetIndex,
): SearchedIndex {
  return {
    name,
    uuid,
    typeName,
    ...(maxTermsCount !== undefined && { maxTermsCount }),
    ...(maxAnalyzedOffset !== undefined && { maxAnalyzedOffset }),
  };
}

function filterOf({ filters, isEmpty }: TargetIndex): ShardFilter | undefined {
  if (isEmpty === true) return { anyOf: [] };
  return filters === undefined ? undefined : { anyOf: filters };
}
