/** Health of indices: green where every copy is assigned, yellow where replicas wait for a node. */

import type { NodeInfo } from "#hub/api/ports/cluster.ts";
import type { IndexInfo } from "#hub/api/ports/indices.ts";

export type Health = "green" | "yellow" | "red";

/** Shards of one or several indices. */
export interface ShardHealth {
  readonly status: Health;
  readonly primaries: number;
  readonly active: number;
  readonly unassigned: number;
}

/**
 * Returns the nodes that count as those of a shard's copies, the primary's first. Every hub has a copy of every shard, which
 * the node with the duties comes first for; copies beyond the number of replicas aren't counted.
 */
export function copyNodes({ settings }: IndexInfo, nodes: readonly NodeInfo[]): NodeInfo[] {
  const order = nodes.toSorted((a, b) => Number(b.master) - Number(a.master) || (a.id < b.id ? -1 : 1));
  return order.slice(0, 1 + settings.numberOfReplicas);
}

/** Returns how many replicas of each shard wait for a node: a shard and its replicas are on nodes of their own. */
export function waitingReplicas({ settings }: IndexInfo, nodes: readonly NodeInfo[]): number {
  return Math.max(0, settings.numberOfReplicas - Math.max(0, nodes.length - 1));
}

export function indexHealth(index: IndexInfo, nodes: readonly NodeInfo[]): ShardHealth {
  const { numberOfShards: primaries, numberOfReplicas } = index.settings;
  const waiting = waitingReplicas(index, nodes);
  const unassigned = primaries * waiting;
  const active = primaries * (1 + numberOfReplicas - waiting);
  return { status: unassigned > 0 ? "yellow" : "green", primaries, active, unassigned };
}

/** Sums over indices; the worst status counts. */
export function clusterHealth(indices: readonly IndexInfo[], nodes: readonly NodeInfo[]): ShardHealth {
  const each = indices.map((index) => indexHealth(index, nodes));
  const sum = (of: (health: ShardHealth) => number): number =>
    each.reduce((total, health) => total + of(health), 0);
  return {
    status: each.some(({ status }) => status === "yellow") ? "yellow" : "green",
    primaries: sum(({ primaries }) => primaries),
    active: sum(({ active }) => active),
    unassigned: sum(({ unassigned }) => unassigned),
  };
}
