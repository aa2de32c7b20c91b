/** Which host of a hub has a shard: a stable rule, so that every thread finds a shard without asking. */

import { fnv1a } from "#proto/codec/fnv1a.ts";

/** One of the hosts of a hub. */
export interface HostSeat {
  /** From 0. */
  readonly number: number;
  /** Hosts of the hub, at least 1. */
  readonly count: number;
}

/** The host of a hub that has only one. */
export const ONLY_HOST: HostSeat = { number: 0, count: 1 };

/**
 * Returns the number of the host that has a shard. The shards of an index go to the hosts in turn; the index's uuid selects
 * the first host (FNV-1a over its UTF-16 units).
 */
export function ownerOf(indexUuid: string, shard: number, count: number): number {
  if (count === 1) return 0;
  return (fnv1a(indexUuid) + shard) % count;
}

/** Returns whether a host has a shard. */
export function owns({ number, count }: HostSeat, indexUuid: string, shard: number): boolean {
  return ownerOf(indexUuid, shard, count) === number;
}
