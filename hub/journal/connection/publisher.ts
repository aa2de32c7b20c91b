/** Stores messages: tries for ever with the same message id, so that the stream drops what arrives twice. */

import {
  type JetStreamClient,
  type JetStreamPublishOptions,
  jetstream,
  type PubAck,
} from "@nats-io/jetstream";
import { headers, type MsgHdrs, type NatsConnection } from "@nats-io/transport-node";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Backoff } from "#proto/kit/retry.ts";
import type { Connection } from "./connection.ts";
import type { JournalMetrics } from "./journal-metrics.ts";
import { judge, toJournalError } from "./nats-errors.ts";

/** Waits between tries. */
const RETRY = { firstMs: 50, capMs: 5_000 };

/** A server under load answers within milliseconds, a cluster that elects a leader within 9 s; then it is asked again. */
const ANSWER_TIMEOUT_MS = 5_000;

/** Room for the protocol's own headers in a message. */
const HEADER_BYTES = 1024;

export interface PublishOptions {
  /** Nats-Msg-Id: within 10 minutes a second message with it is not stored. Without one it may be stored twice. */
  readonly messageId?: string;
  /** Stores only where the last message on this subject has this sequence; 0: where there is none. */
  readonly expectLastSubjectSequence?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** false: a full stream throws journal_full at once. Faults of the connection are waited for all the same. */
  readonly wait?: boolean;
  /** Gives up; the message may be stored all the same. Without it the call waits for ever. */
  readonly signal?: AbortSignal;
}

export interface Published {
  readonly stream: string;
  readonly sequence: number;
  /** The stream had a message with this id; `sequence` is that one's. */
  readonly duplicate: boolean;
}

export interface PublisherOptions {
  readonly connection: Connection;
  readonly metrics: JournalMetrics;
  readonly clock: Clock;
  /** Hears of each call that begins or ends to wait for space. */
  readonly onFull: (subject: string, begins: boolean) => void;
}

/**
 * Publishes to streams. Calls that run at the same time may be stored in any order: who needs an order awaits
 * each before the next.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  #clientOf: { readonly nats: NatsConnection; readonly client: JetStreamClient } | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Largest message that can be published, bytes, as the server says. */
  get maxMessageBytes(): number {
    return (this.#options.connection.nats.info?.max_payload ?? 1024 ** 2) - HEADER_BYTES;
  }

  /**
   * Resolves when the stream has the message. Throws journal_conflict (the expectation doesn't hold),
   * request_too_large, closed; where `signal` is aborted: journal_full if it waited for space, timeout if the
   * signal is a deadline, else cancelled; with `wait: false` also journal_full at once.
   */
  async publish(subject: string, data: Uint8Array, options: PublishOptions = {}): Promise<Published> {
    const what = `publish to ${subject}`;
    const { signal } = options;
    const sent = messageOptions(options);
    const backoff = new Backoff(RETRY);
    const full = new FullWait(subject, this.#options);
    try {
      for (;;) {
        try {
          return this.#stored(await this.#send(subject, data, sent, signal), data);
        } catch (error) {
          if (signal?.aborted) throw givenUp(what, signal, full.waiting);
          await this.#beforeRetry(error, what, full, options.wait ?? true, backoff, signal);
        }
      }
    } finally {
      full.end();
    }
  }

  /** Resolves when it makes sense to try again; throws what the caller must know. */
  async #beforeRetry(
    error: unknown,
    what: string,
    full: FullWait,
    wait: boolean,
    backoff: Backoff,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { metrics, clock } = this.#options;
    const verdict = judge(error);
    if (verdict === "fatal" || (verdict === "full" && !wait)) throw toJournalError(error, what);
    metrics.publishRetried(verdict);
    if (verdict === "full") full.begin();
    await clock.sleep(backoff.next(), signal);
  }

  /** One try, made again at once when the connection is back: an answer on its way is lost then. */
  #send(
    subject: string,
    data: Uint8Array,
    options: Partial<JetStreamPublishOptions>,
    signal: AbortSignal | undefined,
  ): Promise<PubAck> {
    const { connection, metrics } = this.#options;
    const call = async (nats: NatsConnection): Promise<PubAck> => {
      if (data.length > this.maxMessageBytes) throw tooLarge(subject, data.length, this.maxMessageBytes);
      return this.#client(nats).publish(subject, data, options);
    };
    return connection.repeatable(call, signal, () => metrics.publishRetried("reconnect"));
  }

  /** One client per connection: making one costs as much as a publish. */
  #client(nats: NatsConnection): JetStreamClient {
    if (this.#clientOf?.nats !== nats) this.#clientOf = { nats, client: jetstream(nats) };
    return this.#clientOf.client;
  }

  #stored({ stream, seq, duplicate }: PubAck, data: Uint8Array): Published {
    this.#options.metrics.published(stream, data.length, duplicate);
    return { stream, sequence: seq, duplicate };
  }
}

function givenUp(what: string, signal: AbortSignal, full: boolean): AppError {
  const cause = { cause: signal.reason as unknown };
  if (full) return new AppError("journal_full", `${what}: the log is full; send it again later`, cause);
  if (signal.reason instanceof Error && signal.reason.name === "TimeoutError") {
    return new AppError("timeout", `${what}: NATS didn't take it in time`, cause);
  }
  return new AppError("cancelled", `${what} was given up`, cause);
}

/** Tells once that a publisher waits for space, and once that it doesn't any more. */
class FullWait {
  readonly #subject: string;
  readonly #options: PublisherOptions;
  #waiting = false;

  constructor(subject: string, options: PublisherOptions) {
    this.#subject = subject;
    this.#options = options;
  }

  get waiting(): boolean {
    return this.#waiting;
  }

  begin(): void {
    if (this.#waiting) return;
    this.#waiting = true;
    this.#options.onFull(this.#subject, true);
  }

  end(): void {
    if (this.#waiting) this.#options.onFull(this.#subject, false);
    this.#waiting = false;
  }
}

function messageOptions(options: PublishOptions): Partial<JetStreamPublishOptions> {
  const { messageId, expectLastSubjectSequence } = options;
  return {
    timeout: ANSWER_TIMEOUT_MS,
    ...(messageId === undefined ? {} : { msgID: messageId }),
    ...(options.headers === undefined ? {} : { headers: toHeaders(options.headers) }),
    ...(expectLastSubjectSequence === undefined
      ? {}
      : { expect: { lastSubjectSequence: expectLastSubjectSequence } }),
  };
}

function toHeaders(values: Readonly<Record<string, string>>): MsgHdrs {
  const result = headers();
  for (const [name, value] of Object.entries(values)) result.set(name, value);
  return result;
}

function tooLarge(subject: string, sizeBytes: number, maxBytes: number): AppError {
  return new AppError(
    "request_too_large",
    `publish to ${subject}: ${sizeBytes} bytes are more than a message of the log may have (${maxBytes})`,
    { data: { sizeBytes, maxBytes } },
  );
}
