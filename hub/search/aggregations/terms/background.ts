/** Backgrounds of `significant_terms`: counts in all documents, which those of a bucket are compared with. */

import type { Steps } from "#hub/search/aggregations/tree/steps.ts";
import type { ShardContext } from "#hub/search/query/query.ts";

/** The background in one shard. JSON-able. */
export interface Background {
  /** See shardName. */
  readonly shard: string;
  /** Documents of all. */
  readonly allSize: number;
  /** Documents of all by key, for the keys of the bucket. */
  readonly inAll: readonly (readonly [key: string | number, count: number])[];
}

/** Returns a name that no other shard of any index has. */
export function shardName({ indexUuid, shard }: ShardContext): string {
  return `${indexUuid}/${shard}`;
}

/** Returns one background a shard: those of joined buckets differ in their keys alone, so their counts aren't added. */
export function* mergeBackgrounds(backgrounds: readonly Background[]): Steps<Background[]> {
  const byShard = new Map<
    string,
    { readonly allSize: number; readonly inAll: Map<string | number, number> }
  >();
  for (const { shard, allSize, inAll } of backgrounds) {
    yield;
    const known = byShard.get(shard);
    if (known === undefined) byShard.set(shard, { allSize, inAll: new Map(inAll) });
    else for (const [key, count] of inAll) known.inAll.set(key, count);
  }
  return Array.from(byShard, ([shard, { allSize, inAll }]) => ({ shard, allSize, inAll: [...inAll] }));
}

/** Returns the documents of all shards by key. */
export function* sumOfShards(
  backgrounds: readonly Background[],
): Steps<ReadonlyMap<string | number, number>> {
  const sums = new Map<string | number, number>();
  for (const { inAll } of backgrounds) {
    yield;
    for (const [key, count] of inAll) sums.set(key, (sums.get(key) ?? 0) + count);
  }
  return sums;
}
