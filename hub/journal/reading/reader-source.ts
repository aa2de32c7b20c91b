/** Implements what readers need from the log, using its parts. */

import type { LogHistory } from "#hub/journal/streams/log-history.ts";
import type { StreamStore } from "#hub/journal/streams/stream-store.ts";
import type { StreamWatch } from "#hub/journal/streams/stream-watch.ts";
import type { PublishedTails } from "./published-tail.ts";
import type { Reader, ReaderSource } from "./reader.ts";

/** The parts of a log that exist once it is open. */
export interface OpenedLog {
  readonly history: LogHistory;
  readonly watch: StreamWatch;
}

export interface ReaderParts
  extends OpenedLog,
    Pick<ReaderSource, "connection" | "clock" | "log" | "metrics" | "idleMs"> {
  readonly streams: StreamStore;
  /** All active readers. */
  readonly readers: Set<Reader>;
  readonly tails: PublishedTails;
}

export function readerSource(parts: ReaderParts): ReaderSource {
  const { connection, clock, log, metrics, idleMs, history, watch, streams, readers, tails } = parts;
  return {
    connection,
    clock,
    log,
    metrics,
    idleMs,
    begun: (reader) => readers.add(reader),
    ended: (reader) => {
      readers.delete(reader);
      if (reader.ownFromMemory) tails.end(reader.stream);
    },
    tail: (stream) => tails.of(stream),
    ready: (stream, signal) => watch.ready(stream, signal),
    incarnations: (stream) => history.of(stream),
    bounds: (stream, isLost) => streams.settledState(stream, isLost),
    recentBounds: (stream) => watch.recent(stream),
    copy: (stream, sequence) => streams.copy(stream, sequence),
    hasMessage: async (stream, sequence) => (await streams.message(stream, sequence)) !== null,
    lastMatching: async (stream, filter) => (await streams.lastMessage(stream, filter))?.sequence ?? 0,
  };
}
