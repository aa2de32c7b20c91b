/** Calls that create what the hub needs to start: they are repeated while NATS elects a leader. */

import type { NatsConnection } from "@nats-io/transport-node";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { Connection } from "./connection.ts";
import { judge } from "./nats-errors.ts";
import { within } from "./waits.ts";

/** A cluster elects a leader within 9 s; on a busy machine it needs several attempts to place a stream. */
const DEADLINE_MS = 30_000;
const RETRY = { firstMs: 100, capMs: 2_000 };

/**
 * Makes an idempotent call, and repeats it while its error is temporary. Rejects with the last error after 30 s, with the
 * first one that isn't temporary, or with a TimeoutError if nothing answered.
 */
export function retriedCall<T>(
  connection: Pick<Connection, "repeatable">,
  call: (nats: NatsConnection) => Promise<T>,
  clock: Clock = systemClock,
): Promise<T> {
  const endMs = clock.monotonic() + DEADLINE_MS;
  const backoff = new Backoff(RETRY);
  return within(DEADLINE_MS, async (signal) => {
    for (;;) {
      try {
        return await connection.repeatable(call, signal);
      } catch (error) {
        if (signal.aborted || judge(error) !== "retry" || clock.monotonic() >= endMs) throw error;
        await clock.sleep(backoff.next(), signal);
        if (signal.aborted) throw error;
      }
    }
  });
}
