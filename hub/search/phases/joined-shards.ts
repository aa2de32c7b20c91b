/**
 * Shards of an index that a thread collects as one: terms of many values are then counted by number over all of them, and
 * only the buckets of the answer are made, while of each shard ten thousand would have to be made and merged by their texts.
 */

import type { SearchRequest } from "#hub/search/request/search-request.ts";
import type { SearchShard } from "./contract.ts";

/** A shard of a search, and its position among all of them. */
export interface PlacedShard {
  readonly shard: SearchShard;
  readonly order: number;
}

/** Returns the shards in groups that may be collected as one, in their order. Several in a group: see `joined`. */
export function grouped(
  { joinsShards }: SearchRequest,
  shards: readonly SearchShard[],
): readonly (readonly [PlacedShard, ...PlacedShard[]])[] {
  const groups: [PlacedShard, ...PlacedShard[]][] = [];
  for (const [at, shard] of shards.entries()) {
    const placed = { shard, order: shard.order ?? at };
    const group = groups.at(-1);
    if (group !== undefined && joinsShards && mayJoin(group[0].shard, shard)) group.push(placed);
    else groups.push([placed]);
  }
  return groups;
}

/** Nested objects are made, and filters bound, for each snapshot. */
function mayJoin(first: SearchShard, next: SearchShard): boolean {
  const [{ mapping }, other] = [first.searcher, next.searcher.mapping];
  return (
    first.index.uuid === next.index.uuid &&
    mapping.version === other.version &&
    mapping.nested.paths.length === 0 &&
    first.filter === undefined &&
    next.filter === undefined &&
    first.keepsResults === next.keepsResults
  );
}

/** Returns the shards of a group as one, which must not be closed. */
export function joined(group: readonly PlacedShard[]): SearchShard {
  const parts = group.map(({ shard }) => shard.searcher);
  const { index, shard, searcher, keepsResults } = group[0]!.shard;
  return {
    index: { ...index, isJoined: true },
    shard,
    searcher: {
      segments: parts.flatMap(({ segments }) => segments),
      mapping: searcher.mapping,
      totalDocs: parts.reduce((sum, { totalDocs }) => sum + totalDocs, 0),
      parts,
      close: () => undefined,
    },
    ...(keepsResults !== undefined && { keepsResults }),
  };
}
