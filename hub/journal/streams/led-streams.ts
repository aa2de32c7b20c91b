/** Whether a cluster of nats-servers can store: most of them know each other, and every stream has a leader. */

import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";

/** A leader answers within milliseconds; without one nobody does. */
const TIMEOUT_MS = 2_000;
/** A cluster has a leader once most of its servers run, which may start one after the other. */
const LED_TIMEOUT_MS = 120_000;
const LED_EVERY_MS = 500;

/** Returns the streams without a leader; "the cluster" where JetStream itself has none. Never rejects. */
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
 * Waits until most servers of the cluster have found each other and every stream has a leader. Throws unavailable after two
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
