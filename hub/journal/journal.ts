/** The durable log: streams that are published to and read by position, state buckets, and core NATS. */

import { join } from "node:path";
import { OpenBuckets } from "#hub/journal/buckets/nats-bucket.ts";
import { Connection, type ConnectionEvent } from "#hub/journal/connection/connection.ts";
import { CoreMessaging } from "#hub/journal/connection/core-messaging.ts";
import { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import {
  FullStreams,
  type Published,
  Publisher,
  type PublishOptions,
} from "#hub/journal/connection/publisher.ts";
import { PublishedTails } from "#hub/journal/reading/published-tail.ts";
import { Reader, type ReaderSource, type ReadOptions } from "#hub/journal/reading/reader.ts";
import { readerSource } from "#hub/journal/reading/reader-source.ts";
import { JournalServer, type JournalServerOptions } from "#hub/journal/server/journal-server.ts";
import type { Incarnation, LogHistory, Reconciliation } from "#hub/journal/streams/log-history.ts";
import { replicasFor, untilLed } from "#hub/journal/streams/replicas.ts";
import { type StoredMessage, type StreamState, StreamStore } from "#hub/journal/streams/stream-store.ts";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Component, Lifecycle, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import type { Position } from "#proto/position.ts";
import { DEAD_LETTER_STREAM } from "#proto/subjects.ts";
import {
  type DeadLetter,
  type KeptDeadLetter,
  keepDeadLetter,
  readBetween,
  readDeadLetters,
} from "./dead-letters.ts";
import { type Opening, openLog, POLL_MS, probeLog } from "./log-opening.ts";

/** A server that is alone rarely forgets a consumer while the connection lasts; a longer pull shows it later, after some 11 s. */
const LONE_QUIET_MS = 10_000;

/** Readers check the stream when nothing arrived for this long. */
const IDLE_MS = 2_000;

export interface JournalOptions extends JournalServerOptions {
  /** Limit of RAW and of DOC each, bytes; default min(10 GB, 20 % of the free disk). */
  readonly maxBytes?: number;
  /** Replicas of streams and buckets; see replicasFor. */
  readonly replicas?: number;
  /** Name of this hub, shown by NATS' tools. */
  readonly name: string;
  readonly metrics: Metrics;
  /** Polling interval of the streams' state, ms; default 5 s. */
  readonly pollMs?: number;
  /**
   * Imports a log that was stored elsewhere. Called with the number of replicas, and awaited before streams and buckets are
   * made, in a cluster whose servers have a leader. `signal` is aborted when the journal stops.
   */
  readonly bringLog?: (to: Connection, replicas: number, signal: AbortSignal) => Promise<void>;
}

/** A stream's state with its newest incarnation. */
export interface JournalState extends StreamState {
  readonly incarnation: number;
}

/**
 * The hub's log. `start` runs the embedded server (unless there is an external NATS), connects and creates the
 * streams; the caller must then `reconcile` each stream with the positions it remembers, before it reads.
 */
export class Journal implements Component {
  /** Messages of core NATS. */
  readonly core: CoreMessaging;
  /** The NATS server that stores the log. */
  readonly server: JournalServer;
  readonly #options: JournalOptions;
  readonly #clock: Clock;
  readonly #metrics: JournalMetrics;
  readonly #connection: Connection;
  readonly #publisher: Publisher;
  readonly #streams: StreamStore;
  readonly #buckets: OpenBuckets;
  readonly #readers = new Set<Reader>();
  readonly #tails: PublishedTails;
  readonly #full: FullStreams;
  readonly #onIncarnation = new Set<(stream: string, incarnation: number) => void>();
  #stopping = new AbortController();
  #lifecycle: Lifecycle | undefined;
  #replicas = 1;
  #opened: Opening | undefined;

  constructor(options: JournalOptions) {
    const { log, name, clock = systemClock } = options;
    const metrics = new JournalMetrics(options.metrics);
    this.#options = options;
    this.#clock = clock;
    this.#metrics = metrics;
    this.server = new JournalServer(options, () => metrics.serverRestarted());
    const connection = new Connection({ name, log, clock, target: () => this.server.target });
    this.#connection = connection;
    this.#streams = new StreamStore(connection);
    this.core = new CoreMessaging(connection, log, () => metrics.dropped());
    this.#full = new FullStreams(metrics);
    const onFull = (subject: string, begins: boolean): void => this.#full.count(subject, begins);
    const publisher = new Publisher({ connection, metrics, clock, onFull });
    this.#publisher = publisher;
    this.#tails = new PublishedTails(connection, clock, metrics);
    const replicas = (): number => this.#replicas;
    const isAlone = this.server.embeds && !this.server.clustered;
    const lone = isAlone ? { quietMs: LONE_QUIET_MS, repairFolder: join(options.dataDir, "nats") } : {};
    const shared = { connection, publisher, streams: this.#streams, clock, log, replicas };
    this.#buckets = new OpenBuckets({ ...shared, ...lone });
  }

  /**
   * Throws nats_missing, nats_refused, port_taken, data_locked, unavailable or timeout, or the reason of `signal`, which
   * aborts the start. Nothing is left running then.
   */
  async start(signal?: AbortSignal): Promise<void> {
    const stop = (): void => void this.stop().catch(() => undefined); // thrown below
    signal?.throwIfAborted();
    signal?.addEventListener("abort", stop, { once: true });
    try {
      await this.#start();
      signal?.throwIfAborted();
    } catch (error) {
      if (signal?.aborted !== true) throw this.server.whySilent(error);
      await this.stop();
      throw signal.reason;
    } finally {
      signal?.removeEventListener("abort", stop);
    }
  }

  async #start(): Promise<void> {
    this.#stopping = new AbortController();
    const { log } = this.#options;
    const lifecycle = new Lifecycle((part, error) =>
      log.error({ err: error, part }, "a part of the log didn't stop"),
    );
    this.#lifecycle = lifecycle;
    await this.server.start(lifecycle);
    await lifecycle.start("connection", this.#connection);
    try {
      this.server.check(this.#connection);
      const { signal } = this.#stopping;
      if (this.server.clustered) await untilLed(this.#connection.nats, { clock: this.#clock, log, signal });
      this.#replicas = this.#replicasHere();
      await this.#options.bringLog?.(this.#connection, this.#replicas, signal);
      this.#opened = await this.#prepare();
    } catch (error) {
      await lifecycle.stop();
      throw error;
    }
    await lifecycle.start("streams", this.#opened.watch);
    const probe = this.server.clustered
      ? () => this.#connection.nats.flush()
      : () => this.#probe(1.5 * (this.#options.watchdog?.probeEveryMs ?? POLL_MS));
    const watchdog = this.server.watchdog(probe); // without a majority of its peers a member can't answer for the streams
    if (watchdog !== undefined) await lifecycle.start("nats-server watchdog", watchdog);
  }

  /** Ends all reading, and the server. Waiting publishers fail with `closed`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#lifecycle?.stop();
    await this.server.stop();
    this.#lifecycle = undefined;
    this.#opened = undefined;
    this.#buckets.clear();
    this.#tails.clear();
  }

  /** Returns whether the log answers and stores messages; false after `timeoutMs`. */
  async answers(timeoutMs: number): Promise<boolean> {
    try {
      await withDeadline(this.#probe(), timeoutMs, "the state of the log");
      return true;
    } catch {
      return false;
    }
  }

  get connected(): boolean {
    return this.#connection.connected;
  }

  /** Largest message, bytes. */
  get maxMessageBytes(): number {
    return this.#publisher.maxMessageBytes;
  }

  /**
   * See Publisher.publish. The bytes must not change afterwards: a reader may receive them
   * (ReadOptions.ownFromMemory).
   */
  async publish(subject: string, data: Uint8Array, options?: PublishOptions): Promise<Published> {
    const published = await this.#publisher.publish(subject, data, options);
    const { stream, sequence, duplicate } = published;
    this.#opened?.watch.noteSequence(stream, sequence);
    // With a repeated id the stream may have other bytes.
    if (!duplicate) this.#tails.add(stream, { subject, sequence, data, messageId: options?.messageId ?? "" });
    return published;
  }

  /** Reads a stream in order; see Reader. Also ends when the journal stops. */
  read(stream: string, options: ReadOptions): Reader {
    const signal = AbortSignal.any([options.signal, this.#stopping.signal]);
    return new Reader(stream, this.#source(), { ...options, signal });
  }

  /** Returns the state according to a server that may lag behind; see StreamStore. Throws unavailable, timeout. */
  async state(stream: string): Promise<JournalState> {
    const state = await this.#streams.state(stream);
    return { ...state, incarnation: this.#history.of(stream).current.incarnation };
  }

  /**
   * Returns the state that a majority stores, for decisions about what was lost. `withinMs`: for how long to wait for a server
   * that hears a majority. Throws unavailable, timeout.
   */
  majorityState(stream: string, withinMs?: number): Promise<StreamState> {
    return this.#streams.majorityState(stream, withinMs);
  }

  /** Sequence up to which all readers of a stream have read; undefined without a reader. */
  readUpTo(stream: string): number | undefined {
    const positions = this.#positions(stream);
    return positions.length === 0 ? undefined : Math.min(...positions.map(({ sequence }) => sequence));
  }

  /** The newest incarnation of a stream and where it begins. */
  incarnation(stream: string): Incarnation {
    return this.#history.of(stream).current;
  }

  /** The newest incarnation of RAW that began with a hub restored from a snapshot; 0 if there is none. */
  get restored(): number {
    return this.#opened?.restored ?? 0;
  }

  /** Returns the position of the message with `sequence`, as in a PubAck. */
  positionOf(stream: string, sequence: number): Position {
    return this.#history.of(stream).positionOf(sequence);
  }

  /** Returns the sequence of the last message at or before `position`. Throws journal_gap, see Incarnations.nextAfter. */
  sequenceAt(stream: string, position: Position): number {
    return this.#history.of(stream).nextAfter(position) - 1;
  }

  /**
   * Compares durably remembered positions with the stream, and begins a new incarnation if the stream was lost or
   * rolled back since. Must be called after `start` with everything that is remembered.
   */
  reconcile(stream: string, known: readonly Position[]): Promise<Reconciliation> {
    return this.#history.reconcile(stream, known, this.server.restoredMessages(stream));
  }

  /**
   * Returns whether messages after `position` have been purged: a reader that has everything up to there can't get the rest
   * from the stream. Works before `reconcile`. Throws unavailable or timeout.
   */
  async isPurgedAfter(stream: string, position: Position): Promise<boolean> {
    const incarnations = await this.#history.stored(stream);
    // The stream was rolled back: it lacks messages that the caller has, not the other way round.
    if (position.incarnation > incarnations.current.incarnation) return false;
    const { firstSequence } = await this.#streams.majorityState(stream);
    return incarnations.nextAfter(position) < firstSequence;
  }

  /** Removes the messages before `below`, which no reader may need again; see Reader.position. */
  async purge(stream: string, below: Position): Promise<void> {
    const before = { ...below, sequence: below.sequence - 1 };
    await this.#streams.purgeBelow(stream, () => this.#history.of(stream).nextAfter(before));
  }

  /** Returns a stored message, from the leader; null if none has this sequence. */
  message(stream: string, sequence: number): Promise<StoredMessage | null> {
    return this.#streams.message(stream, sequence);
  }

  /** Returns the bucket, created if missing. Name: letters, digits, - and _. */
  bucket(name: string): Promise<StateBucket> {
    return this.#buckets.open(name);
  }

  /** Stores an event that no output accepts; see keepDeadLetter. */
  deadLetter(letter: DeadLetter, part?: number, signal?: AbortSignal): Promise<void> {
    return keepDeadLetter(this, letter, part, signal);
  }

  /** Returns up to `limit` dead letters after `after` (START: from the oldest one). */
  deadLetters(after: Position, limit: number): Promise<KeptDeadLetter[]> {
    const nextAfter = (position: Position) => this.#history.of(DEAD_LETTER_STREAM).nextAfter(position);
    return readDeadLetters(readBetween({ log: this, nextAfter }, DEAD_LETTER_STREAM, after, limit));
  }

  /** Calls `listener` when publishers start waiting for space in a stream, and when the last one stops. */
  onFull(listener: (stream: string, full: boolean) => void): () => void {
    return this.#full.onChange(listener);
  }

  /** Streams that publishers are waiting for. */
  get fullStreams(): string[] {
    return this.#full.names;
  }

  /** Calls `listener` at each new incarnation: agents must then go back to the committed position. */
  onIncarnation(listener: (stream: string, incarnation: number) => void): () => void {
    this.#onIncarnation.add(listener);
    return () => this.#onIncarnation.delete(listener);
  }

  /** Calls `listener` when the connection is lost and restored. */
  onConnection(listener: (event: ConnectionEvent) => void): () => void {
    return this.#connection.onChange(listener);
  }

  #probe(ageMs = 0): Promise<void> {
    const { maxMessageBytes } = this;
    const parts = { streams: this.#streams, clock: this.#clock, full: this.#full.names, maxMessageBytes };
    return probeLog({ ...parts, watch: this.#opened?.watch }, ageMs);
  }

  get #history(): LogHistory {
    return this.#open().history;
  }

  #open(): Opening {
    if (this.#opened === undefined) throw new AppError("closed", "the log is not open");
    return this.#opened;
  }

  #replicasHere(): number {
    const { servers } = this.server;
    const cluster = this.#connection.nats.info?.cluster || undefined;
    return replicasFor(this.#options.replicas, { servers, cluster });
  }

  #prepare(): Promise<Opening> {
    const { log, maxBytes, dataDir, pollMs } = this.#options;
    return openLog({
      connection: this.#connection,
      streams: this.#streams,
      buckets: this.#buckets,
      server: this.server,
      metrics: this.#metrics,
      clock: this.#clock,
      log,
      replicas: this.#replicas,
      maxBytes,
      dataDir,
      pollMs,
      onRaise: (stream, incarnation) => {
        this.#metrics.incarnationRaised(stream);
        for (const listener of this.#onIncarnation) listener(stream, incarnation);
      },
      readers: (stream) => this.#positions(stream),
    });
  }

  #positions(stream: string): Position[] {
    return [...this.#readers].filter((each) => each.stream === stream).map((each) => each.position);
  }

  #source(): ReaderSource {
    return readerSource({
      ...this.#open(),
      connection: this.#connection,
      clock: this.#clock,
      log: this.#options.log,
      metrics: this.#metrics,
      idleMs: Math.min(IDLE_MS, this.#options.pollMs ?? POLL_MS),
      streams: this.#streams,
      readers: this.#readers,
      tails: this.#tails,
    });
  }
}
