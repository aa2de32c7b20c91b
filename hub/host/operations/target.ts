/** Opens the shards of a call's indices. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { ownerOf } from "#hub/cluster/hosting/shard-owner.ts";
import type { TargetIndex } from "#hub/host/contract/calls.ts";
import type { SearchShard } from "#hub/search/phases/contract.ts";
import { RemoteSearchHost } from "#hub/search/phases/remote-host.ts";
import { type CallShard, filterQuery, type ShardFilter } from "#hub/search/phases/search-call.ts";
import type { SearchedIndex } from "#hub/search/query/query.ts";
import type { HostState } from "./operation.ts";
import { SearchedShards } from "./searched-shards.ts";
import { partOf, type Slice } from "./slice.ts";

/** How the shards of a search are opened. */
export interface Opening {
  /** The search sees only this part of the documents. */
  readonly slice?: Slice | undefined;
  /** Id of the context; the other hosts keep snapshots under it. */
  readonly snapshot?: string;
}

type Opener = Pick<HostState, "indices" | "shards" | "seat" | "ask">;

/**
 * Opens the shards of the indices that are here and lists those of other hosts; indices that were deleted meanwhile are passed
 * over. Throws index_closed, parsing.
 */
export function openShards(
  host: Opener,
  targets: readonly TargetIndex[],
  opening: Opening = {},
): SearchedShards {
  const own: SearchShard[] = [];
  const others = new Map<number, CallShard[]>();
  let order = 0;
  try {
    for (const target of targets) {
      const index = host.indices.byUuid(target.uuid);
      if (index === undefined) continue;
      const opened = host.shards.searchers([index]);
      const count = host.seat.count === 1 ? opened.length : index.settings.numberOfShards;
      const described = describe(target, index, count, opening);
      for (const { shard, searcher } of opened) {
        const { filter: given, ...rest } = described(shard, order);
        own.push({ ...rest, searcher, ...(given !== undefined && filterQuery(given)) });
      }
      if (host.seat.count > 1)
        addOthers(host, others, target.uuid, count, (shard) => described(shard, order));
      order += count;
    }
  } catch (error) {
    for (const { searcher } of own) searcher.close();
    throw error;
  }
  const remote = [...others].map(([number, shards]) => ({ number, host: searchHost(host, number), shards }));
  return new SearchedShards(own, remote);
}

/** Opens shards for the length of `run`. */
export async function withShards<T>(
  host: HostState,
  targets: readonly TargetIndex[],
  run: (shards: SearchedShards) => T | Promise<T>,
): Promise<T> {
  const opened = openShards(host, targets);
  try {
    return await run(opened);
  } finally {
    opened.close();
  }
}

/** Returns the host with a number as searches call it. */
function searchHost({ ask }: Pick<Opener, "ask">, number: number): RemoteSearchHost {
  return new RemoteSearchHost(async (operation, payload, signal, late) => {
    const message = { value: operation, parts: [payload] };
    const { parts } = await ask(number, "asked", message, signal, (answer) => late?.(answer.parts[0]!));
    return parts[0]!;
  });
}

function addOthers(
  { seat }: Pick<Opener, "seat">,
  others: Map<number, CallShard[]>,
  uuid: string,
  count: number,
  described: (shard: number) => CallShard,
): void {
  for (let shard = 0; shard < count; shard++) {
    const owner = ownerOf(uuid, shard, seat.count);
    if (owner === seat.number) continue;
    const shards = others.get(owner);
    if (shards === undefined) others.set(owner, [described(shard)]);
    else shards.push(described(shard));
  }
}

/** Describes shards of an index; the first has the order `first`. */
function describe(
  target: TargetIndex,
  { name }: Pick<IndexMetadata, "name">,
  count: number,
  { slice, snapshot }: Opening,
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
