/** Health of indices: green where every copy is assigned, yellow where replicas wait for a node. */

import type { IndexInfo } from "#hub/api/ports/indices.ts";

export type Health = "green" | "yellow" | "red";

/** Shards of one or several indices. */
export interface ShardHealth {
  readonly status: Health;
  readonly primaries: number;
  readonly active: number;
  readonly unassigned: number;
}

/** A shard and its replicas are on nodes of their own, so one node has none of the replicas. */
export function indexHealth({ settings }: IndexInfo): ShardHealth {
  const { numberOfShards: primaries, numberOfReplicas } = settings;
  const unassigned = primaries * numberOfReplicas;
  return { status: unassigned > 0 ? "yellow" : "green", primaries, active: primaries, unassigned };
}

/** Sums over indices; the worst status counts. */
export function clusterHealth(indices: readonly IndexInfo[]): ShardHealth {
  const each = indices.map(indexHealth);
  const sum = (of: (health: ShardHealth) => number): number =>
    each.reduce((total, health) => total + of(health), 0);
  return {
    status: each.some(({ status }) => status === "yellow") ? "yellow" : "green",
    primaries: sum(({ primaries }) => primaries),
    active: sum(({ active }) => active),
    unassigned: sum(({ unassigned }) => unassigned),
  };
}
