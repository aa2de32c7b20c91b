/** Creates the ephemeral consumer of a pull session. */

import { AckPolicy, type ConsumerConfig, jetstreamManager, ReplayPolicy } from "@nats-io/jetstream";
import { type NatsConnection, nanos, nuid } from "@nats-io/transport-node";
import { isTimeout } from "#hub/journal/connection/nats-errors.ts";
import { firstAnswer } from "#hub/journal/connection/retried-call.ts";
import { within } from "#hub/journal/connection/waits.ts";

/**
 * Time to create the consumer, which normally takes milliseconds, and the wait before another one is created beside it. One that
 * was asked for before a leader was elected, for up to 9 s, isn't made. For minutes after a server of a cluster has died, the leader
 * may choose the dead one for the consumer; another attempt chooses again. So both times double only after these tries, up to
 * three times. A listing has 30 s.
 */
const TIMEOUT_MS = 3_000;
const AGAIN_MS = 300;
const SHORT_TRIES = 3;
const MAX_DOUBLINGS = 3;

/** The server removes a consumer without pulls after this time, such as one that was made after another one. */
const INACTIVE_MS = 15_000;

/** A consumer that exists. */
export interface PullConsumer {
  readonly name: string;
  /** Messages that it has to deliver. */
  readonly pending: number;
}

export interface PullConsumerOptions {
  readonly stream: string;
  /** Start position and filter. */
  readonly config: Partial<ConsumerConfig>;
  /** Attempts that failed before; waits grow with them. */
  readonly tries: number;
  /** Ends the attempts. */
  readonly signal: AbortSignal;
}

/** Resolves with the consumer that is made first. Throws a TimeoutError if none is, the reason of the signal or client errors. */
export async function createConsumer(
  nats: NatsConnection,
  { stream, config, tries, signal }: PullConsumerOptions,
): Promise<PullConsumer> {
  const factor = 2 ** Math.min(Math.max(0, tries - SHORT_TRIES), MAX_DOUBLINGS);
  const timeout = TIMEOUT_MS * factor;
  const manager = await jetstreamManager(nats, { checkAPI: false, timeout });
  const add = async (): Promise<PullConsumer> => {
    const { name, num_pending: pending } = await manager.consumers.add(stream, {
      name: `tailrace_${nuid.next()}`,
      ack_policy: AckPolicy.None,
      replay_policy: ReplayPolicy.Instant,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
      num_replicas: 1,
      ...config,
    });
    return { name, pending };
  };
  const again = { isPassing: isTimeout, againMs: AGAIN_MS * factor };
  return within(timeout, (late) => firstAnswer(add, again, AbortSignal.any([late, signal])));
}
