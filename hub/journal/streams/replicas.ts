/**
 * Determines how many servers of a NATS cluster store each stream and bucket, and whether the cluster can store: most
 * servers know each other, and every stream has a leader.
 */

import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";

/** Number of servers that keep working after the loss of one. */
const SAFE = 3;
/** A leader answers within milliseconds; without a leader no server answers. */
const TIMEOUT_MS = 2_000;
/** A cluster has a leader once most of its servers run; they may start one after the other. */
const LED_TIMEOUT_MS = 120_000;
const LED_EVERY_MS = 500;

/** The known properties of the NATS that a hub is connected to. */
export interface NatsShape {
  /** Addresses of servers in the settings. */
  readonly servers: readonly string[];
  /** Name of the NATS cluster; undefined for a single server. */
  readonly cluster: string | undefined;
}

/**
 * Returns the replicas of a stream: `configured`, or without it 3 in a cluster with three or more named servers, else 1.
 * Never 5 by default: it would be refused while a cluster of three grows. Throws nats_refused if a single server is
 * configured to have several.
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

/** Returns the streams without a leader; "the cluster" if JetStream itself has none. Never rejects. */
async function leaderless(nats: NatsConnection): Promise<string[]> {
  const names: string[] = [];
  try {
    const manager = await jetstreamManager(nats, { checkAPI: false, timeout: TIMEOUT_MS });
    await manager.getAccountInfo();
    for await (const name of manager.streams.names()) names.push(name);
    const led = await Promise.all(
      names.map((name) =>
        manager.streams.info(name).then(
          () => true,
          () => false,
        ),
      ),
    );
    return names.filter((_, at) => !led[at]);
  } catch {
    return ["the cluster"];
  }
}

/**
 * Waits until most servers of the cluster have found each other and every stream has a leader. Throws unavailable after 2
 * minutes, or the reason of `signal`.
 */
export async function untilLed(
  nats: NatsConnection,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Logger; readonly signal: AbortSignal },
): Promise<void> {
  const endMs = clock.monotonic() + LED_TIMEOUT_MS;
  let named = "";
  for (;;) {
    const missing = await leaderless(nats);
    if (missing.length === 0) return;
    signal.throwIfAborted();
    if (clock.monotonic() >= endMs) throw new AppError("unavailable", noLeader(missing));
    if (missing.join() !== named) log.info({ missing }, "waiting for leaders of the cluster's store");
    named = missing.join();
    await clock.sleep(LED_EVERY_MS, signal);
  }
}

function noLeader(missing: readonly string[]): string {
  return `the nats-servers of the cluster have no leader for ${missing.join(", ")}: most hubs of discovery.seed_hosts must run and reach each other's nats.route_port`;
}
