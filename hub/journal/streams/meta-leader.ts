/** Whether JetStream answers: in a cluster only while most of the servers know each other. */

import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";

const TIMEOUT_MS = 2_000;

/** Never rejects. */
export async function hasLeader(nats: NatsConnection): Promise<boolean> {
  try {
    await (await jetstreamManager(nats, { checkAPI: false, timeout: TIMEOUT_MS })).getAccountInfo();
    return true;
  } catch {
    return false;
  }
}
