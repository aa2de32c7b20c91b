/** Reads a stream in order from a position on, without acknowledgements, across restarts of the server. */

import { DeliverPolicy } from "@nats-io/jetstream";
import type { Connection } from "#hub/journal/connection/connection.ts";
import type { JournalMetrics } from "#hub/journal/connection/journal-metrics.ts";
import { judge, toJournalError } from "#hub/journal/connection/nats-errors.ts";
import type { Incarnations } from "#hub/journal/streams/log-history.ts";
import type { Bounds, StoredMessage } from "#hub/journal/streams/stream-store.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { type Position, START } from "#proto/position.ts";
import { readDirectly } from "./direct-reads.ts";
import type { PublishedTail } from "./published-tail.ts";
import { type Delivery, IDLE, PullSession, SessionEnded } from "./pull-session.ts";

/** Default maximum of bytes pulled ahead of the caller: some batches of 256 KiB. */
const AHEAD_BYTES = 4 * 1024 ** 2;

/** Maximum messages pulled ahead, for streams of small ones. */
const AHEAD_MESSAGES = 4_096;

/** Waits before a consumer is recreated after a failure other than a lost connection. */
const RETRY = { firstMs: 20, capMs: 500 };

/** A consumer is usually made within this time. */
const CREATED_MS = 300;

/** Signs of life of a consumer in a cluster while there is nothing to deliver, in the time of a pull. */
const HEARTBEATS = 4;

/** After this long without a delivery, while the stream has more, the consumer counts as stuck. */
const STALL_MS = 5_000;

/** Number of deliveries that may lack a stored message before it counts as lost. */
const MAX_SKIPS = 3;

export interface JournalMessage {
  readonly subject: string;
  readonly position: Position;
  /** Shares memory with other messages: copy data that is kept for long. */
  readonly data: Uint8Array;
  /** Nats-Msg-Id; empty if it was sent without one. */
  readonly messageId: string;
  /** When the stream stored it, ms since 1970. */
  readonly timeMs: number;
  /** Returns a header, or an empty string. */
  readonly header: (name: string) => string;
}

export interface ReadOptions {
  /** The last position processed; START: from the oldest message. */
  readonly after: Position;
  /** Ends the reading. */
  readonly signal: AbortSignal;
  /** Only messages of this subject (wildcards allowed). */
  readonly filter?: string;
  /** Bytes held ahead of the caller. A single message may be larger. */
  readonly aheadBytes?: number;
  /** Takes messages that this process stores from memory while no other process stores; for one reader per stream. */
  readonly ownFromMemory?: boolean;
}

/** What a reader needs from the log. */
export interface ReaderSource {
  readonly connection: Connection;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: JournalMetrics;
  /** Silence after which a reader checks the stream, ms. */
  readonly idleMs: number;
  /** Registers a reader that has started. */
  begun(reader: Reader): void;
  /** The newest messages that this process stored, for a reader with `ownFromMemory`. */
  tail(stream: string): PublishedTail;
  ended(reader: Reader): void;
  /** Resolves when connected and the stream's incarnation is verified. */
  ready(stream: string, signal: AbortSignal): Promise<void>;
  incarnations(stream: string): Incarnations;
  /** `isLost`: whether bounds mean a loss, for a second question. */
  bounds(stream: string, isLost?: (bounds: Bounds) => boolean): Promise<Bounds>;
  /** The bounds as of `atMs` on the monotonic clock, some seconds ago. */
  recentBounds(stream: string): (Bounds & { readonly atMs: number }) | undefined;
  /** A message according to any server that stores the stream; see StreamStore.copy. */
  copy(stream: string, sequence: number): Promise<StoredMessage | null>;
  hasMessage(stream: string, sequence: number): Promise<boolean>;
  /** Returns the sequence of the last message with this subject, 0 for none; from the leader. */
  lastMatching(stream: string, filter: string): Promise<number>;
}

/**
 * Yields every message after a position exactly once, until its signal is aborted. Throws journal_gap if a message it
 * must yield was purged or lost: it never skips one. May be iterated once.
 */
export class Reader implements AsyncIterable<JournalMessage> {
  readonly stream: string;
  /** See ReadOptions. */
  readonly ownFromMemory: boolean;
  readonly #source: ReaderSource;
  readonly #options: ReadOptions;
  readonly #backoff = new Backoff(RETRY);
  #position: Position;
  #next = 0;
  #progressAt = 0;
  #skips = 0;
  #begun = false;

  constructor(stream: string, source: ReaderSource, options: ReadOptions) {
    this.stream = stream;
    this.ownFromMemory = options.ownFromMemory === true;
    this.#source = source;
    this.#options = options;
    this.#position = options.after;
  }

  /**
   * Every message to read at or before this position has been yielded. With a filter it also passes messages of other
   * subjects; a purge up to it removes nothing that this reader needs.
   */
  get position(): Position {
    return this.#position;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<JournalMessage, void, void> {
    if (this.#begun)
      throw new AppError("internal", `reader of ${this.stream}: a reader can be iterated only once`);
    this.#begun = true;
    this.#source.begun(this);
    try {
      yield* this.#read();
    } finally {
      this.#source.ended(this);
    }
  }

  async *#read(): AsyncGenerator<JournalMessage, void, void> {
    const { signal } = this.#options;
    const tail = this.ownFromMemory ? this.#source.tail(this.stream) : undefined;
    while (!signal.aborted) {
      try {
        await this.#source.ready(this.stream, signal);
        const cuts = tail?.cuts;
        await this.#locate();
        while (!signal.aborted) {
          yield* this.#readSession(tail);
          if (tail === undefined) return;
          yield* this.#follow(tail);
          if (tail.cuts !== cuts) throw new SessionEnded("disconnected", true);
        }
      } catch (error) {
        if (signal.aborted) return;
        await this.#beforeRetry(error);
      }
    }
  }

  /** Yields messages without a consumer until there is one, then its messages; ends as `#drain` does. */
  async *#readSession(tail: PublishedTail | undefined): AsyncGenerator<JournalMessage, void, void> {
    const opening = this.#open();
    try {
      yield* this.#readMeanwhile(opening, tail);
      yield* this.#drain(await opening, tail);
    } finally {
      const session = await opening.catch(() => undefined);
      await session?.close();
    }
  }

  /** Yields messages without a consumer, until `opening` has one or has failed. */
  async *#readMeanwhile(
    opening: Promise<PullSession>,
    tail: PublishedTail | undefined,
  ): AsyncGenerator<JournalMessage, void, void> {
    const { connection, clock } = this.#source;
    const { filter, signal } = this.#options;
    if (!connection.clustered || filter !== undefined) return;
    const opened = new AbortController();
    const end = (): void => opened.abort();
    opening.then(end, end);
    const messages = readDirectly({
      read: (sequence) => this.#source.copy(this.stream, sequence),
      next: this.#next,
      afterMs: this.#backoff.tries === 0 ? CREATED_MS : 0,
      clock,
      signal: AbortSignal.any([signal, opened.signal]),
    });
    for await (const message of messages) {
      tail?.passed(message.sequence);
      yield this.#message(message);
    }
  }

  /** Finds the sequence to continue with. Throws journal_gap. */
  async #locate(): Promise<void> {
    const anywhere = this.#position.incarnation === START.incarnation;
    const nextIn = ({ firstSequence }: Bounds): number =>
      anywhere ? firstSequence : this.#source.incarnations(this.stream).nextAfter(this.#position);
    const isLost = (bounds: Bounds): boolean => nextIn(bounds) > bounds.lastSequence + 1;
    const bounds = await this.#source.bounds(this.stream, isLost);
    const { firstSequence, lastSequence } = bounds;
    this.#next = nextIn(bounds);
    if (this.#next < firstSequence) throw this.#gap(`messages up to ${firstSequence - 1} were purged`);
    if (this.#next > lastSequence + 1)
      throw this.#gap(`the stream ends at ${lastSequence}: it was rolled back`);
  }

  async #open(): Promise<PullSession> {
    const { filter, signal, aheadBytes = AHEAD_BYTES } = this.#options;
    const { connection, clock, idleMs } = this.#source;
    this.#progressAt = clock.monotonic();
    return PullSession.open({
      connection,
      stream: this.stream,
      maxBytes: aheadBytes,
      maxMessages: AHEAD_MESSAGES,
      expiresMs: idleMs,
      tries: this.#backoff.tries,
      signal,
      // A server of a cluster may be lost while the connection to another one lasts.
      ...(connection.clustered && { heartbeatMs: idleMs / HEARTBEATS }),
      consumer: {
        deliver_policy: DeliverPolicy.StartSequence,
        opt_start_seq: this.#next,
        ...(filter === undefined ? {} : { filter_subject: filter }),
      },
    });
  }

  /** Ends when aborted, or when `tail` can continue. */
  async *#drain(session: PullSession, tail?: PublishedTail): AsyncGenerator<JournalMessage, void, void> {
    const { signal, filter } = this.#options;
    while (tail?.canServe(this.#next) !== true) {
      const got = await session.next();
      if (got === IDLE) {
        await this.#onIdle();
        continue;
      }
      const all = filter === undefined ? [got] : [got, ...session.takeQueued()];
      const deliveries = all.filter(({ sequence }) => sequence >= this.#next); // others were read while the consumer was made
      if (deliveries.length === 0) continue;
      await this.#checkJumps(deliveries);
      for (const delivery of deliveries) {
        tail?.passed(delivery.sequence);
        this.#backoff.reset(); // not by a message that was read without a consumer: none could be made
        yield this.#message(delivery);
        if (signal.aborted) return;
      }
    }
  }

  /** Yields messages that this process stored, as long as none is missing. */
  async *#follow(tail: PublishedTail): AsyncGenerator<JournalMessage, void, void> {
    for await (const message of tail.follow(this.#next, this.#options.signal)) {
      const { messageId } = message;
      this.#backoff.reset();
      yield this.#message({ ...message, header: (name) => (name === "Nats-Msg-Id" ? messageId : "") });
    }
  }

  #message(delivery: Pick<Delivery, "sequence" | "subject" | "data" | "timeMs" | "header">): JournalMessage {
    const { sequence, subject, data, timeMs, header } = delivery;
    const position = this.#source.incarnations(this.stream).positionOf(sequence);
    this.#next = sequence + 1;
    this.#position = position;
    this.#progressAt = this.#source.clock.monotonic();
    this.#skips = 0;
    this.#source.metrics.read(this.stream, data.length);
    return { subject, position, data, timeMs, header, messageId: header("Nats-Msg-Id") };
  }

  /** Verifies that the messages missing between deliveries don't exist or don't match. */
  async #checkJumps(deliveries: readonly Delivery[]): Promise<void> {
    const contiguous = deliveries.every(({ sequence }, index) => sequence === this.#next + index);
    if (contiguous) return;
    // Queried after the delivery: a message that isn't purged now was available to the consumer.
    const { firstSequence } = await this.#source.bounds(this.stream);
    if (firstSequence > this.#next) throw this.#gap(`messages up to ${firstSequence - 1} were purged`);
    if (this.#options.filter !== undefined) return;
    const stored = await this.#source.hasMessage(this.stream, this.#next);
    if (!stored || ++this.#skips > MAX_SKIPS) {
      throw this.#gap(`it isn't stored any more, while ${deliveries[0]!.sequence} is`);
    }
    throw new SessionEnded("a stored message was left out");
  }

  /** Handles silence: checks for a purge, a rollback or a stuck consumer. */
  async #onIdle(): Promise<void> {
    const recent = this.#source.recentBounds(this.stream);
    if (recent === undefined || recent.atMs <= this.#progressAt) return;
    const { firstSequence, lastSequence } = recent;
    if (firstSequence > this.#next || lastSequence < this.#next - 1)
      throw new SessionEnded("the stream has changed");
    if (lastSequence < this.#next) return;
    const { filter } = this.#options;
    const waits =
      filter === undefined || (await this.#source.lastMatching(this.stream, filter)) >= this.#next;
    if (!waits) await this.#moveOver(lastSequence);
    else if (this.#source.clock.monotonic() - this.#progressAt > STALL_MS)
      throw new SessionEnded("the consumer hangs");
  }

  /** Moves the position up to `lastSequence` because no message up to there matches. */
  async #moveOver(lastSequence: number): Promise<void> {
    const { firstSequence } = await this.#source.bounds(this.stream);
    if (firstSequence > this.#next) throw this.#gap(`messages up to ${firstSequence - 1} were purged`);
    this.#next = lastSequence + 1;
    this.#position = this.#source.incarnations(this.stream).positionOf(lastSequence);
    this.#progressAt = this.#source.clock.monotonic();
  }

  /** Throws errors that the caller must handle; otherwise waits until a retry makes sense. */
  async #beforeRetry(error: unknown): Promise<void> {
    const { log, metrics, clock } = this.#source;
    if (error instanceof AppError && !error.retryable) throw error;
    const lost = error instanceof SessionEnded && error.lost;
    const passes = error instanceof SessionEnded || error instanceof AppError || judge(error) !== "fatal";
    if (!passes) throw toJournalError(error, `reading ${this.stream}`);
    metrics.readerRestarted(this.stream, lost ? "reconnect" : "fault");
    if (lost) return;
    log.warn({ err: error, stream: this.stream, next: this.#next }, "the log's reader restarts");
    await clock.sleep(this.#backoff.next(), this.#options.signal);
  }

  #gap(why: string): AppError {
    const { filter } = this.#options;
    const what = filter === undefined ? this.stream : `${this.stream} (${filter})`;
    return new AppError(
      "journal_gap",
      `${what}: the message with sequence ${this.#next} can't be read: ${why}; ` +
        "who reads must be rebuilt from a copy, or go on behind the gap knowingly",
      { data: { stream: this.stream, sequence: this.#next } },
    );
  }
}
