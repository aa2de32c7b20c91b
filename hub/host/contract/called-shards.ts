/** Names the shards of a search in the calls to the hosts that have them. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { type HostSeat, ownerOf } from "#hub/cluster/shards/shard-owner.ts";
import type { CallShard, ShardFilter } from "#hub/search/phases/search-call.ts";
import type { SearchedIndex } from "#hub/search/query/query.ts";
import { addressKey, type HostAddress, type TargetIndex } from "./calls.ts";
import { partOf, type Slice } from "./slice.ts";

/** What a search sees of its shards. */
export interface Seen {
  /** Only this part of the documents. */
  readonly slice?: Slice | undefined;
  /** Id of the context; the other hosts keep snapshots under it. */
  readonly snapshot?: string;
  /** Id of the point in time; this host and the others keep snapshots under it. */
  readonly point?: string | undefined;
}

/** Returns the shards of an index that are searched, in their order, each with the host that searches it. */
export function placed(
  seat: HostSeat,
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

/** Shards of a search that one host has. */
export interface HostsShards {
  readonly address: HostAddress;
  readonly shards: readonly CallShard[];
}

/** Groups the shards of a search by their hosts. */
export class ShardsByHost {
  readonly #byKey = new Map<string, { readonly address: HostAddress; readonly shards: CallShard[] }>();

  add(address: HostAddress, shard: CallShard): void {
    const key = addressKey(address);
    const known = this.#byKey.get(key);
    if (known === undefined) this.#byKey.set(key, { address, shards: [shard] });
    else known.shards.push(shard);
  }

  all(): readonly HostsShards[] {
    return [...this.#byKey.values()];
  }
}

/** Describes shards of an index; the first has the order `first`. */
export function describe(
  target: TargetIndex,
  index: Pick<IndexMetadata, "name" | "aliases" | "dataStream">,
  count: number,
  { slice, point, snapshot = point }: Seen,
): (shard: number, first: number) => CallShard {
  const searched = searchedIndex(index, target);
  const whole = filterOf(target);
  return (shard, first) => {
    const part = slice === undefined ? undefined : partOf(shard, count, slice);
    const filter: ShardFilter | undefined =
      part === null ? { anyOf: [] } : part === undefined ? whole : { ...whole, slice: part };
    return {
      index: searched,
      shard,
      order: first + shard,
      keepsResults: target.keepsResults ?? true,
      ...(filter !== undefined && { filter }),
      ...(snapshot !== undefined && { snapshot }),
    };
  };
}

function searchedIndex(
  { name, aliases, dataStream }: Pick<IndexMetadata, "name" | "aliases" | "dataStream">,
  { uuid, typeName, maxTermsCount, maxAnalyzedOffset, allowsExpensive }: TargetIndex,
): SearchedIndex {
  const otherNames = [...Object.keys(aliases), ...(dataStream === undefined ? [] : [dataStream])];
  return {
    name,
    uuid,
    typeName,
    ...(otherNames.length > 0 && { otherNames }),
    ...(maxTermsCount !== undefined && { maxTermsCount }),
    ...(maxAnalyzedOffset !== undefined && { maxAnalyzedOffset }),
    ...(allowsExpensive !== undefined && { allowsExpensive }),
  };
}

function filterOf({ filters, isEmpty }: TargetIndex): ShardFilter | undefined {
  if (isEmpty === true) return { anyOf: [] };
  return filters === undefined ? undefined : { anyOf: filters };
}
