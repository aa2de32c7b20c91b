/**
 * Reads a stream message by message, from any server that stores it. A consumer is faster, but is made by the leader of the whole
 * cluster: where that was lost together with a reader's consumer, there is none for 4 to 9 s, while the stream may have a leader.
 */

import type { StoredMessage } from "#hub/journal/streams/stream-store.ts";
import type { Clock } from "#proto/kit/clock.ts";

/** Wait before a message is asked for again that the server that answered doesn't have yet. */
const EVERY_MS = 50;

export interface DirectReadOptions {
  /** Returns a message; null if the server that answers doesn't have it. */
  readonly read: (sequence: number) => Promise<StoredMessage | null>;
  /** Sequence of the first message. */
  readonly next: number;
  /** Time before the first question, in which a consumer is usually made, ms. */
  readonly afterMs: number;
  readonly clock: Clock;
  /** Ends the reading, as soon as there is a consumer. */
  readonly signal: AbortSignal;
}

/** Yields messages whose sequences have no gap until `signal` is aborted. Never throws: what can't be read is asked for again. */
export async function* readDirectly(options: DirectReadOptions): AsyncGenerator<StoredMessage, void, void> {
  const { read, next, afterMs, clock, signal } = options;
  await clock.sleep(afterMs, signal);
  for (let sequence = next; !signal.aborted; ) {
    const message = await read(sequence).catch(() => null);
    if (signal.aborted) return;
    if (message === null) {
      await clock.sleep(EVERY_MS, signal);
      continue;
    }
    yield message;
    sequence++;
  }
}
