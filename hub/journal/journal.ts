/** The durable log: streams that are published to and read by position, state buckets, and core NATS. */

import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { type Component, Lifecycle } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { type Position, START } from "#proto/position.ts";
import { Connection, type ConnectionEvent, type NatsTarget } from "./connection.ts";
import { CoreMessaging } from "./core-messaging.ts";
import { type DeadLetter, type KeptDeadLetter, keepDeadLetter, readDeadLetters } from "./dead-letters.ts";
import { EmbeddedServer, ownTarget } from "./embedded-server.ts";
import { FullStreams } from "./full-streams.ts";
import type { Incarnation } from "./incarnations.ts";
import { JournalMetrics } from "./journal-metrics.ts";
import { LogHistory, type Reconciliation } from "./log-history.ts";
import { NatsBucket } from "./nats-bucket.ts";
import { type Published, Publisher, type PublishOptions } from "./publisher.ts";
import { type JournalMessage, Reader, type ReaderSource, type ReadOptions } from "./reader.ts";
import type { AgentUser, ServerTls } from "./server-config.ts";
import { checkServerVersion, type Durability, parseServerVersion } from "./server-version.ts";
import { streamDefinitions } from "./stream-limits.ts";
import { type StoredMessage, type StreamState, StreamStore } from "./stream-store.ts";
import { StreamWatch } from "./stream-watch.ts";

/** Bucket that remembers the streams' incarnations. */
export const LOG_BUCKET = "log";
/** Its key for the incarnation of RAW that began with a restored snapshot. */
export const RESTORED_KEY = "restored";

/** How often streams are looked at: often enough for figures, and for readers to notice that they hang. */
const POLL_MS = 5_000;

/** Readers look around when nothing came for this long. */
const IDLE_MS = 2_000;

export interface JournalOptions {
  /** The hub's data folder. */
  readonly dataDir: string;
  /** Address and port of the embedded server; port 0: the system chooses one. */
  readonly host: string;
  readonly port: number;
  /** Set: the embedded server speaks TLS. */
  readonly tls?: ServerTls;
  /** Set: this NATS is used and none is embedded. */
  readonly external?: NatsTarget;
  /** Limit of RAW and of DOC each, bytes; without it min(10 GB, 20 % of the free disk). */
  readonly maxBytes?: number;
  /** Copies of streams and buckets; 3 in a cluster of NATS servers, else 1. */
  readonly replicas?: number;
  /** Name of this hub, shown by NATS' tools. */
  readonly name: string;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly clock?: Clock;
  /** How often streams are looked at, ms; 5 s without it. */
  readonly pollMs?: number;
  readonly env?: NodeJS.ProcessEnv;
}

/** A stream with its newest incarnation. */
export interface JournalState extends StreamState {
  readonly incarnation: number;
}

/** Where agents find NATS. */
export interface JournalAddress {
  readonly url: string;
  /** Empty where clients need other credentials or none. */
  readonly token: string;
  /** File with the token, readable by this user; empty with an external NATS. */
  readonly tokenFile: string;
}

/**
 * The hub's log. `start` runs the embedded server (unless there is an external NATS), connects and makes the
 * streams; then the caller must `reconcile` each stream with the positions it remembers, before it reads.
 */
export class Journal implements Component {
  /** Messages of core NATS. */
  readonly core: CoreMessaging;
  readonly #options: JournalOptions;
  readonly #clock: Clock;
  readonly #metrics: JournalMetrics;
  readonly #server: EmbeddedServer | undefined;
  readonly #connection: Connection;
  readonly #publisher: Publisher;
  readonly #streams: StreamStore;
  readonly #buckets = new Map<string, Promise<NatsBucket>>();
  readonly #readers = new Set<Reader>();
  readonly #full: FullStreams;
  readonly #onIncarnation = new Set<(stream: string, incarnation: number) => void>();
  #stopping = new AbortController();
  #lifecycle: Lifecycle | undefined;
  #restored = 0;
  #opened: { readonly history: LogHistory; readonly watch: StreamWatch } | undefined;

  constructor(options: JournalOptions) {
    const { log, name, external } = options;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    const clock = this.#clock;
    const metrics = new JournalMetrics(options.metrics);
    this.#metrics = metrics;
    this.#server = external === undefined ? embeddedServer(options, metrics) : undefined;
    const target = (): NatsTarget => external ?? ownTarget(this.#server!, options.tls);
    const connection = new Connection({ name, log, clock, target });
    this.#connection = connection;
    this.#streams = new StreamStore(connection);
    this.core = new CoreMessaging(connection, log);
    this.#full = new FullStreams(metrics);
    const onFull = (subject: string, begins: boolean): void => this.#full.count(subject, begins);
    this.#publisher = new Publisher({ connection, metrics, clock, onFull });
  }

  /** Throws nats_missing, nats_refused, port_taken, data_locked, unavailable or timeout; nothing is left running then. */
  async start(): Promise<void> {
    this.#stopping = new AbortController();
    const { log } = this.#options;
    const lifecycle = new Lifecycle((part, error) =>
      log.error({ err: error, part }, "a part of the log didn't stop"),
    );
    this.#lifecycle = lifecycle;
    if (this.#server !== undefined) await lifecycle.start("nats-server", this.#server);
    await lifecycle.start("connection", this.#connection);
    try {
      this.#checkServer();
      this.#opened = await this.#prepare();
    } catch (error) {
      await lifecycle.stop();
      throw error;
    }
    await lifecycle.start("streams", this.#opened.watch);
  }

  /** Ends all reading, and the server. Publishers that wait are told `closed`. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#lifecycle?.stop();
    this.#lifecycle = undefined;
    this.#opened = undefined;
    this.#buckets.clear();
  }

  /** Where agents connect. Valid after `start`. */
  get address(): JournalAddress {
    const server = this.#server;
    if (server !== undefined) return { url: server.url, token: server.token, tokenFile: server.tokenFile };
    const { servers, token = "" } = this.#options.external!;
    return { url: servers.join(","), token, tokenFile: "" };
  }

  /** True where the hub runs its own nats-server, which `setAgents` and `reloadServer` are for. */
  get embeds(): boolean {
    return this.#server !== undefined;
  }

  /** See EmbeddedServer.setAgents. */
  setAgents(agents: readonly AgentUser[]): void {
    this.#server?.setAgents(agents);
  }

  /** Makes the embedded server read its certificate anew. */
  reloadServer(): void {
    this.#server?.reload();
  }

  /** What a PubAck is worth; "process" for an external NATS, whose settings aren't known. */
  get durability(): Durability {
    return this.#server?.durability ?? "process";
  }

  get connected(): boolean {
    return this.#connection.connected;
  }

  /** Process id of the embedded server while it runs. */
  get serverPid(): number | undefined {
    return this.#server?.pid;
  }

  /** Largest message, bytes. */
  get maxMessageBytes(): number {
    return this.#publisher.maxMessageBytes;
  }

  /** See Publisher.publish. */
  async publish(subject: string, data: Uint8Array, options?: PublishOptions): Promise<Published> {
    const published = await this.#publisher.publish(subject, data, options);
    this.#opened?.watch.saw(published.stream, published.sequence);
    return published;
  }

  /** Reads a stream in order; see Reader. Ends also when the journal stops. */
  read(stream: string, options: ReadOptions): Reader {
    const signal = AbortSignal.any([options.signal, this.#stopping.signal]);
    return new Reader(stream, this.#source(), { ...options, signal });
  }

  async state(stream: string): Promise<JournalState> {
    const state = await this.#streams.state(stream);
    return { ...state, incarnation: this.#history.of(stream).current.incarnation };
  }

  /** The newest incarnation of a stream and where it begins. */
  incarnation(stream: string): Incarnation {
    return this.#history.of(stream).current;
  }

  /** The newest incarnation of RAW that began with a hub restored from a snapshot; 0 where none did. */
  get restored(): number {
    return this.#restored;
  }

  /** Returns the position of the message with `sequence`, as a PubAck names it. */
  positionOf(stream: string, sequence: number): Position {
    return this.#history.of(stream).positionOf(sequence);
  }

  /**
   * Compares the positions somebody took in durably with the stream, and begins a new incarnation where it was
   * lost or rolled back since. Must be called after `start` with everything that is remembered.
   */
  reconcile(stream: string, known: readonly Position[]): Promise<Reconciliation> {
    return this.#history.reconcile(stream, known, this.#serverStartedAtMs());
  }

  /** Removes the messages before `below`, which nobody may need again; see Reader.position. */
  async purge(stream: string, below: Position): Promise<void> {
    const { firstSequence, lastSequence } = await this.#streams.state(stream);
    const first = this.#history.of(stream).nextAfter({ ...below, sequence: below.sequence - 1 });
    const sequence = Math.min(first, lastSequence + 1);
    if (sequence > firstSequence) await this.#streams.purge(stream, sequence);
  }

  /** Returns a stored message, from the leader; null where there is none with this sequence. */
  message(stream: string, sequence: number): Promise<StoredMessage | null> {
    return this.#streams.message(stream, sequence);
  }

  /** Returns the bucket, made where there is none. Name: letters, digits, - and _. */
  bucket(name: string): Promise<StateBucket> {
    const open = this.#buckets.get(name) ?? this.#openBucket(name);
    this.#buckets.set(name, open);
    open.catch(() => this.#buckets.delete(name));
    return open;
  }

  /** Keeps what no output will take; see keepDeadLetter. */
  deadLetter(letter: DeadLetter, part?: number, signal?: AbortSignal): Promise<void> {
    return keepDeadLetter(this, letter, part, signal);
  }

  /** Returns at most `limit` dead letters behind `after` (START: the oldest kept). */
  deadLetters(after: Position, limit: number): Promise<KeptDeadLetter[]> {
    return readDeadLetters(this, after, limit);
  }

  /** Yields at most `limit` messages that are stored now; those that were removed are passed over. */
  async *readBetween(stream: string, after: Position, limit: number): AsyncGenerator<JournalMessage> {
    const { firstSequence, lastSequence } = await this.#streams.state(stream);
    const history = this.#history.of(stream);
    const next = after.incarnation === START.incarnation ? firstSequence : history.nextAfter(after);
    if (limit <= 0 || next > lastSequence || firstSequence > lastSequence) return;
    const stop = new AbortController();
    const from = next < firstSequence ? START : after;
    let left = limit;
    for await (const message of this.read(stream, { after: from, signal: stop.signal })) {
      yield message;
      if (--left === 0 || message.position.sequence >= lastSequence) return;
    }
  }

  /** Tells when publishers begin to wait for space in a stream and when none waits any more. */
  onFull(listener: (stream: string, full: boolean) => void): () => void {
    return this.#full.onChange(listener);
  }

  /** Streams that publishers wait for now. */
  get fullStreams(): string[] {
    return this.#full.names;
  }

  /** Tells of each new incarnation: agents must go back to what is committed. */
  onIncarnation(listener: (stream: string, incarnation: number) => void): () => void {
    this.#onIncarnation.add(listener);
    return () => this.#onIncarnation.delete(listener);
  }

  /** Tells when the connection is lost and restored. */
  onConnection(listener: (event: ConnectionEvent) => void): () => void {
    return this.#connection.onChange(listener);
  }

  get #history(): LogHistory {
    return this.#open().history;
  }

  #open(): { readonly history: LogHistory; readonly watch: StreamWatch } {
    if (this.#opened === undefined) throw new AppError("closed", "the log isn't open");
    return this.#opened;
  }

  /** Infinite where the server isn't ours: all its messages count as old. */
  #serverStartedAtMs(): number {
    return this.#server?.startedAtMs ?? Number.POSITIVE_INFINITY;
  }

  /** An external NATS must know what the log needs. */
  #checkServer(): void {
    const { info } = this.#connection.nats;
    const where = this.address.url;
    const version = parseServerVersion(info?.version ?? "");
    if (version !== undefined) checkServerVersion(version, where);
    if (info?.jetstream !== true) {
      throw new AppError("nats_refused", `NATS at ${where} has JetStream switched off; start it with "-js"`);
    }
  }

  async #prepare(): Promise<{ history: LogHistory; watch: StreamWatch }> {
    const { log, maxBytes, dataDir, replicas = 1, pollMs = POLL_MS } = this.#options;
    const connection = this.#connection;
    const definitions = await streamDefinitions({
      maxBytes,
      dataDir: this.#server === undefined ? undefined : dataDir,
      maxPayloadBytes: connection.nats.info?.max_payload ?? 0,
      replicas,
    });
    const bucket = await this.bucket(LOG_BUCKET);
    const restored = await bucket.get(RESTORED_KEY);
    this.#restored = restored === null ? 0 : Number(Buffer.from(restored.value).toString());
    const history = new LogHistory({
      streams: this.#streams,
      bucket,
      log,
      onRaise: (stream, incarnation) => {
        this.#metrics.incarnationRaised(stream);
        for (const listener of this.#onIncarnation) listener(stream, incarnation);
      },
    });
    const watch = new StreamWatch({
      connection,
      streams: this.#streams,
      history,
      definitions,
      metrics: this.#metrics,
      clock: this.#clock,
      log,
      pollMs,
      restoreBuckets: async () => {
        for (const bucket of this.#buckets.values()) await (await bucket).ensure();
      },
      serverStartedAtMs: () => this.#serverStartedAtMs(),
      readers: (stream) =>
        [...this.#readers].filter((each) => each.stream === stream).map((each) => each.position),
    });
    return { history, watch };
  }

  #source(): ReaderSource {
    const { watch, history } = this.#open();
    const streams = this.#streams;
    return {
      connection: this.#connection,
      clock: this.#clock,
      log: this.#options.log,
      metrics: this.#metrics,
      idleMs: Math.min(IDLE_MS, this.#options.pollMs ?? POLL_MS),
      begun: (reader) => this.#readers.add(reader),
      ended: (reader) => this.#readers.delete(reader),
      ready: (signal) => watch.ready(signal),
      incarnations: (stream) => history.of(stream),
      bounds: (stream) => streams.state(stream),
      recentBounds: (stream) => watch.recent(stream),
      hasMessage: async (stream, sequence) => (await streams.message(stream, sequence)) !== null,
      lastMatching: async (stream, filter) => (await streams.lastMessage(stream, filter))?.sequence ?? 0,
    };
  }

  #openBucket(name: string): Promise<NatsBucket> {
    return NatsBucket.open({
      name,
      connection: this.#connection,
      publisher: this.#publisher,
      streams: this.#streams,
      clock: this.#clock,
      log: this.#options.log,
      replicas: this.#options.replicas ?? 1,
    });
  }
}

function embeddedServer(options: JournalOptions, metrics: JournalMetrics): EmbeddedServer {
  const { dataDir, host, port, tls, log, clock, env } = options;
  return new EmbeddedServer({
    dataDir,
    host,
    port,
    log,
    onRestart: () => metrics.serverRestarted(),
    ...(tls === undefined ? {} : { tls }),
    ...(clock === undefined ? {} : { clock }),
    ...(env === undefined ? {} : { env }),
  });
}
