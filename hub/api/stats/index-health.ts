/** Health of indices: green if every copy is there, yellow if replicas wait or are on their way, red if a shard has none. */

import type { Cluster, NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";

export type Health = "green" | "yellow" | "red";

/** What the health is made of. */
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
  /** Of those unassigned: their hub is lost, and is waited for. */
  readonly delayed: number;
}

/** The copies of one shard. */
export interface ShardCopies {
  /** Those that are there; the first counts as the primary. */
  readonly started: readonly NodeInfo[];
  /** Those among them that go as soon as another hub has them: where from, where to. */
  readonly relocating: readonly (readonly [from: NodeInfo, to: NodeInfo])[];
  /** Hubs that copy a shard which no other hub gives up for it. */
  readonly initializing: readonly NodeInfo[];
  /** Copies without a hub. */
  readonly waiting: number;
  /** Hubs that are lost, and are waited for. */
  readonly lost: readonly string[];
}

/**
 * Returns the copies of a shard. If they aren't placed every hub has one: as many as wanted count, from the node with the
 * duties on.
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

/** A copy that is on its way. */
export interface ComingCopy {
  readonly shard: number;
  /** One that has it; undefined: none does, and it waits. */
  readonly from: NodeInfo | undefined;
  readonly to: NodeInfo;
}

/** Returns the copies of an index that are on their way. */
export function comingCopies(index: IndexInfo, source: HealthSource): ComingCopy[] {
  return indexCopies(index, source).flatMap(({ started, relocating, initializing }, shard) => [
    ...relocating.map(([from, to]) => ({ shard, from, to })),
    ...initializing.map((to) => ({ shard, from: started[0], to })),
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

/** Sums over indices; the worst status counts. */
export function clusterHealth(indices: readonly IndexInfo[], source: HealthSource): ShardHealth {
  return summed(indices.map((index) => indexHealth(index, source)));
}

/** Returns how many copies of the shard that has fewest are there. */
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
