/**
 * Statistics of the copies of shards, with the nodes that have them. The copies of a shard are equal: the statistics that were
 * found of one are those of all.
 */

import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";
import type { HostedShardStats } from "#hub/cluster/shards/hosted-index.ts";
import { type HealthSource, indexCopies, type ShardCopies, shardCopies } from "./index-health.ts";
import type { StatsSource } from "./stats-source.ts";

/** A copy of a shard with its statistics. */
export interface CopyStats {
  readonly node: NodeInfo;
  readonly isPrimary: boolean;
  /** Where it is being moved. */
  readonly movesTo?: NodeInfo;
  readonly stats: HostedShardStats;
}

/**
 * Returns the nodes with a started copy, the primary first. A shard that was just created is in use before its node has
 * announced it: then the first node that gets it counts.
 */
export function activeNodes({ started, initializing }: ShardCopies): readonly NodeInfo[] {
  return started.length > 0 ? started : initializing.slice(0, 1);
}

/** Returns the number of started copies of the shards of indices. */
export function countCopies(indices: readonly IndexInfo[], source: HealthSource): number {
  return indices
    .flatMap((index) => indexCopies(index, source))
    .reduce((sum, copies) => sum + activeNodes(copies).length, 0);
}

/** Returns the started copies of the shards that `stats` are of. */
export function copyStats(
  index: IndexInfo,
  stats: readonly HostedShardStats[],
  source: HealthSource,
): CopyStats[] {
  const self = source.nodes()[0]!;
  return stats.flatMap((found) => {
    const copies = shardCopies(index, found.shard, source);
    const nodes = answeringNodes(copies, source);
    const asked = nodes.find(({ id }) => id === self.id) ?? nodes[0];
    return nodes.map((node, at): CopyStats => {
      const movesTo = copies.relocating.find(([from]) => from === node)?.[1];
      return {
        node,
        isPrimary: at === 0,
        ...(movesTo !== undefined && { movesTo }),
        stats: node === asked ? found : withoutMemory(found),
      };
    });
  });
}

/** As `activeNodes`, of a shard of which statistics were found. */
export function copyNodes(index: IndexInfo, shard: number, source: HealthSource): readonly NodeInfo[] {
  return answeringNodes(shardCopies(index, shard, source), source);
}

/** A shard that answered is here if no node has announced it. */
function answeringNodes(copies: ShardCopies, source: HealthSource): readonly NodeInfo[] {
  const active = activeNodes(copies);
  return active.length > 0 ? active : source.nodes().slice(0, 1);
}

/** Returns the source of the statistics of all started copies of an index, from that of its shards. */
export function totalSource(index: IndexInfo, shards: StatsSource, source: HealthSource): StatsSource {
  return { ...shards, shards: copyStats(index, shards.shards, source).map(({ stats }) => stats) };
}

/**
 * Returns the statistics of the copies of an index that a node has; undefined if those of a copy of another node aren't known.
 * Where copies aren't placed, it has one of every shard, however many the index requires.
 */
export function statsOn(
  node: NodeInfo,
  index: IndexInfo,
  stats: readonly HostedShardStats[],
  source: HealthSource,
): HostedShardStats[] | undefined {
  const isSelf = node.id === source.nodes()[0]!.id;
  const isUnknown = ({ started }: ShardCopies, shard: number): boolean =>
    started.some(({ id }) => id === node.id) && !stats.some((each) => each.shard === shard);
  if (!isSelf && indexCopies(index, source).some(isUnknown)) return undefined;
  return stats.flatMap((found) => {
    if (source.placement?.(index.uuid, found.shard) === undefined)
      return isSelf ? found : withoutMemory(found);
    const copies = copyStats(index, [found], source);
    return copies.find((copy) => copy.node.id === node.id)?.stats ?? [];
  });
}

/** The memory of fields that were sorted by is the one figure that differs: it's known of the copy that was asked. */
function withoutMemory(stats: HostedShardStats): HostedShardStats {
  return stats.fieldData.size === 0 ? stats : { ...stats, fieldData: new Map() };
}
