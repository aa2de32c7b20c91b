/** Reads a bounded part of a stream: what is stored now. */

import { type Position, START } from "#proto/position.ts";
import type { Bounds, JournalMessage, ReadOptions } from "./reader.ts";

interface BoundedLog {
  readonly log: {
    state(stream: string): Promise<Bounds>;
    read(stream: string, options: ReadOptions): AsyncIterable<JournalMessage>;
  };
  /** Sequence of the first message after a position. */
  readonly nextAfter: (position: Position) => number;
}

/** Yields at most `limit` messages that are stored now; removed ones are skipped. */
export async function* readBetween(
  { log, nextAfter }: BoundedLog,
  stream: string,
  after: Position,
  limit: number,
): AsyncGenerator<JournalMessage> {
  const { firstSequence, lastSequence } = await log.state(stream);
  const next = after.incarnation === START.incarnation ? firstSequence : nextAfter(after);
  if (limit <= 0 || next > lastSequence || firstSequence > lastSequence) return;
  const stop = new AbortController();
  const from = next < firstSequence ? START : after;
  let left = limit;
  for await (const message of log.read(stream, { after: from, signal: stop.signal })) {
    yield message;
    if (--left === 0 || message.position.sequence >= lastSequence) return;
  }
}
