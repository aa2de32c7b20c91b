/** How many servers of a NATS cluster store each stream and bucket. */

import { AppError } from "#proto/kit/errors.ts";

/** Servers that can lose one of them and go on. */
const SAFE = 3;

/** What is known of the NATS that a hub is connected to. */
export interface NatsShape {
  /** Addresses of servers in the settings. */
  readonly servers: readonly string[];
  /** Name of the NATS cluster; undefined for a single server. */
  readonly cluster: string | undefined;
}

/**
 * Returns the replicas of a stream: `configured`, or without it 3 in a cluster of which three servers or more are named, else 1:
 * five would be refused while a cluster of three grows.
 * Throws nats_refused where a single server is to hold several.
 */
export function replicasFor(configured: number | undefined, { servers, cluster }: NatsShape): number {
  if (configured === undefined) return cluster !== undefined && servers.length >= SAFE ? SAFE : 1;
  if (configured > 1 && cluster === undefined)
    throw new AppError(
      "nats_refused",
      `nats.replicas is ${configured}, but NATS at ${servers.join(", ")} is a single server, which holds one replica`,
    );
  return configured;
}
