/** Whether a cluster of nats-servers can store: most of them know each other, and every stream has a leader. */

import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";

/** A leader answers within milliseconds; without one nobody does. */
const TIMEOUT_MS = 2_000;

/** Returns the streams without a leader; "the cluster" where JetStream itself has none. Never rejects. */
export async function leaderless(nats: NatsConnection): Promise<string[]> {
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
