/** What the statistics of indices are made of: shards and counters, of one shard or of several indices. */

import { typeOf } from "#hub/api/compat/mapping-types.ts";
import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { IndexCounts } from "#hub/api/context/index-counters.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import type { ResultCacheStats } from "#hub/search/execute/result-cache.ts";

/** The source of statistics: shards and counters, of one shard or of several indices. */
export interface StatsSource {
  readonly shards: readonly HostedShardStats[];
  /** One for each index; empty for single shards because operations are counted by index. */
  readonly counts: readonly IndexCounts[];
  /** As `counts`. */
  readonly results: readonly ResultCacheStats[];
  /** Mapping type of each of `counts`. */
  readonly types: readonly string[];
}

/** Returns the sources of the statistics of indices by their uuid. */
export async function statsSources(
  { shards, counters }: Pick<ApiContext, "shards" | "counters">,
  indices: readonly IndexInfo[],
): Promise<ReadonlyMap<string, StatsSource>> {
  const [stats, results] = await Promise.all([shards.stats(indices), shards.cacheStats(indices)]);
  return new Map(
    indices.map((index) => {
      const { uuid } = index;
      const result = results.get(uuid);
      const source = {
        shards: stats.get(uuid) ?? [],
        counts: [counters.of(uuid)],
        results: result === undefined ? [] : [result],
        types: [typeOf(index)],
      };
      return [uuid, source];
    }),
  );
}

/** Returns the combined source of several sources. */
export function together(sources: Iterable<StatsSource>): StatsSource {
  const all = [...sources];
  return {
    shards: all.flatMap(({ shards }) => shards),
    counts: all.flatMap(({ counts }) => counts),
    results: all.flatMap(({ results }) => results),
    types: all.flatMap(({ types }) => types),
  };
}

/** Returns the source of the statistics of one shard. */
export function shardSource(shard: HostedShardStats): StatsSource {
  return { shards: [shard], counts: [], results: [], types: [] };
}

/** Returns the bytes of each text field's field data in the shards, or of each completion field. */
export function fieldBytes(
  shards: readonly HostedShardStats[],
  kind: "fieldData" | "completions",
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const shard of shards)
    for (const [field, bytes] of shard[kind]) sums.set(field, (sums.get(field) ?? 0) + bytes);
  return sums;
}

/** Returns the sum; 0 of no values. */
export function sum(values: Iterable<number>): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
