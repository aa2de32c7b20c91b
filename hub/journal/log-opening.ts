/** Opens the log on a server that is connected: its streams, their incarnations, and what watches both. */

import type { OpenBuckets } from "#hub/journal/buckets/nats-bucket.ts";
import type { Connection } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import type { OpenedLog } from "#hub/journal/reading/reader-source.ts";
import type { JournalServer } from "#hub/journal/server/journal-server.ts";
import { LogHistory, type StreamReader } from "#hub/journal/streams/log-history.ts";
import { streamDefinitions } from "#hub/journal/streams/stream-definitions.ts";
import type { StreamStore } from "#hub/journal/streams/stream-store.ts";
import { StreamWatch } from "#hub/journal/streams/stream-watch.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Position } from "#proto/position.ts";
import { DEAD_LETTER_STREAM, DOC_STREAM, RAW_STREAM } from "#proto/subjects.ts";

/** Bucket with the incarnations of the streams. */
export const LOG_BUCKET = "log";
/** Key in it for the incarnation of RAW that began with a restored snapshot. */
export const RESTORED_KEY = "restored";

/** Polling interval of the streams' state, for metrics and for the detection of stuck readers. */
export const POLL_MS = 5_000;

/** What the log is opened with. */
export interface OpeningParts {
  readonly connection: Connection;
  readonly streams: StreamStore;
  readonly buckets: OpenBuckets;
  readonly server: JournalServer;
  readonly metrics: JournalMetrics;
  readonly clock: Clock;
  readonly log: Logger;
  readonly replicas: number;
  /** See JournalOptions. */
  readonly maxBytes?: number | undefined;
  readonly dataDir: string;
  readonly pollMs?: number | undefined;
  /** Called at each new incarnation. */
  readonly onRaise: (stream: string, incarnation: number) => void;
  /** Positions of all current readers of a stream. */
  readonly readers: (stream: string) => readonly Position[];
}

export interface Opening extends OpenedLog {
  /** See Journal.restored. */
  readonly restored: number;
}

/** Returns the parts of the log; the watch, which creates the streams, isn't started. Throws unavailable or timeout. */
export async function openLog(parts: OpeningParts): Promise<Opening> {
  const { connection, streams, buckets, server, onRaise, pollMs = POLL_MS, ...rest } = parts;
  const { maxBytes, replicas, metrics, clock, log, readers } = rest;
  const definitions = await streamDefinitions({
    maxBytes,
    dataDir: server.embeds ? parts.dataDir : undefined,
    maxPayloadBytes: connection.nats.info?.max_payload ?? 0,
    replicas,
  });
  const bucket = await buckets.open(LOG_BUCKET);
  const restored = await bucket.get(RESTORED_KEY);
  const settled: StreamReader = { state: (stream, isLost) => streams.settledState(stream, isLost) };
  const history = new LogHistory({ streams: settled, bucket, log, onRaise });
  const restoreHistory = (): Promise<void> => buckets.restore([LOG_BUCKET]);
  const restoreBuckets = (): Promise<void> => buckets.restore();
  const watched = { connection, streams, history, definitions, metrics, clock, log, pollMs, server, readers };
  const watch = new StreamWatch({ ...watched, restoreHistory, restoreBuckets });
  return { history, watch, restored: restored === null ? 0 : Number(Buffer.from(restored.value).toString()) };
}

export interface ProbedLog {
  readonly watch: StreamWatch | undefined;
  readonly streams: StreamStore;
  readonly clock: Clock;
  readonly maxMessageBytes: number;
  /** Streams that publishers are waiting for. */
  readonly full: readonly string[];
}

/**
 * Throws if JetStream doesn't answer for each stream, or stores nothing in one that has space. `ageMs`: of an earlier answer
 * that is good enough.
 */
export async function probeLog(
  { watch, streams, clock, maxMessageBytes, full }: ProbedLog,
  ageMs: number,
): Promise<void> {
  for (const stream of [RAW_STREAM, DOC_STREAM, DEAD_LETTER_STREAM]) {
    const recent = watch?.recent(stream);
    const isGood = recent !== undefined && clock.monotonic() - recent.atMs < ageMs;
    const { bytes, maxBytes } = isGood ? recent : await streams.state(stream);
    const hasSpace = bytes + 2 * maxMessageBytes < maxBytes;
    if (hasSpace && full.includes(stream))
      throw new AppError("unavailable", `${stream} has space but accepts no message`);
  }
}
