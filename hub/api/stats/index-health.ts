/**
 * Health of indices: green if every copy exists, yellow if replicas are unassigned or being copied, red if a shard has no
 * copy.
 */

import type { Cluster, NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";

export type Health = "green" | "yellow" | "red";

/** The source of the health. */
export type HealthSource = Pick<Cluster, "nodes" | "placement">;

/** Shards of one or several indices. */
export interface ShardHealth {
  readonly status: Health;
  /** Shards that have a copy. */
  readonly primaries: number;
  readonly active: number;
  readonly relocating: number;
  readonly initializing: number;
  readonly unassigned: number;
  /** Unassigned copies whose lost hub is expected to come back. */
  readonly delayed: number;
}

/** The copies of one shard. */
export interface ShardCopies {
  /** Nodes with a complete copy; the first counts as the primary. */
  readonly started: readonly NodeInfo[];
  /** Started copies that are removed as soon as another hub has them: source and destination. */
  readonly relocating: readonly (readonly [from: NodeInfo, to: NodeInfo])[];
  /** Hubs that receive a copy that isn't moved from another hub. */
  readonly initializing: readonly NodeInfo[];
  /** Number of copies without a hub. */
  readonly waiting: number;
  /** Lost hubs that are expected to come back. */
  readonly lost: readonly string[];
}

/**
 * Returns the copies of a shard. If copies aren't placed, every hub has one: only the required number counts, starting
 * with the node that has the duties.
 */
export function shardCopies({ uuid, settings }: IndexInfo, shard: number, source: HealthSource): ShardCopies {
  const wanted = 1 + settings.numberOfReplicas;
  const nodes = source
    .nodes()
    .toSorted((a, b) => Number(b.master) - Number(a.master) || (a.id < b.id ? -1 : 1));
  const placement = source.placement?.(uuid, shard);
  if (placement === undefined) {
    const started = nodes.slice(0, wanted);
    return { started, relocating: [], initializing: [], waiting: wanted - started.length, lost: [] };
  }
  const { holders, having } = placement;
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const live = holders.flatMap((id) => byId.get(id) ?? []);
  const coming = live.filter(({ id }) => !having.includes(id));
  const going = having.filter((id) => !holders.includes(id)).flatMap((id) => byId.get(id) ?? []);
  const moves = going.slice(0, coming.length).map((from, at) => [from, coming[at]!] as const);
  const started = [...live.filter(({ id }) => having.includes(id)), ...moves.map(([from]) => from)];
  const initializing = coming.slice(moves.length);
  return {
    started,
    relocating: moves,
    initializing,
    waiting: Math.max(0, wanted - started.length - initializing.length),
    lost: holders.filter((id) => !byId.has(id)),
  };
}

/** Returns the copies of each shard of an index. */
export function indexCopies(index: IndexInfo, source: HealthSource): ShardCopies[] {
  return Array.from({ length: index.settings.numberOfShards }, (_, shard) =>
    shardCopies(index, shard, source),
  );
}

/** A copy that is being received. */
export interface ComingCopy {
  readonly shard: number;
  readonly isPrimary: boolean;
  /** A node that has the copy; undefined: none has, and the copy waits. */
  readonly from: NodeInfo | undefined;
  readonly to: NodeInfo;
}

/** Returns the copies of an index that are being received. */
export function comingCopies(index: IndexInfo, source: HealthSource): ComingCopy[] {
  return indexCopies(index, source).flatMap(({ started, relocating, initializing }, shard) => [
    ...relocating.map(([from, to]) => ({ shard, isPrimary: from === started[0], from, to })),
    ...initializing.map((to, at) => ({
      shard,
      isPrimary: started.length === 0 && at === 0,
      from: started[0],
      to,
    })),
  ]);
}

export function shardHealth({ started, relocating, initializing, waiting, lost }: ShardCopies): ShardHealth {
  const isWhole = initializing.length === 0 && waiting === 0;
  return {
    status: started.length === 0 ? "red" : isWhole ? "green" : "yellow",
    primaries: started.length > 0 ? 1 : 0,
    active: started.length,
    relocating: relocating.length,
    initializing: initializing.length,
    unassigned: waiting,
    delayed: Math.min(waiting, lost.length),
  };
}

export function indexHealth(index: IndexInfo, source: HealthSource): ShardHealth {
  return summed(indexCopies(index, source).map(shardHealth));
}

/** Sums the health of indices; the worst status counts. */
export function clusterHealth(indices: readonly IndexInfo[], source: HealthSource): ShardHealth {
  return summed(indices.map((index) => indexHealth(index, source)));
}

/** Returns the number of copies of the shard that has the fewest. */
export function fewestCopies(index: IndexInfo, source: HealthSource): number {
  return Math.min(...indexCopies(index, source).map(({ started }) => started.length));
}

function summed(all: readonly ShardHealth[]): ShardHealth {
  const sum = (of: (health: ShardHealth) => number): number =>
    all.reduce((total, health) => total + of(health), 0);
  const worst = (["red", "yellow"] as const).find((status) => all.some((each) => each.status === status));
  return {
    status: worst ?? "green",
    primaries: sum(({ primaries }) => primaries),
    active: sum(({ active }) => active),
    relocating: sum(({ relocating }) => relocating),
    initializing: sum(({ initializing }) => initializing),
    unassigned: sum(({ unassigned }) => unassigned),
    delayed: sum(({ delayed }) => delayed),
  };
}
