/** Publishes to streams. Retries without limit, with the same message id so that the stream deduplicates. */

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
import { isInProcess, isTimeout, judge, toJournalError } from "./nats-errors.ts";
import { ENDED, firstAnswer } from "./retried-call.ts";

/**
 * Waits between attempts that failed at once. Without a leader no server takes messages for a stream: then the waits stay short,
 * as each adds to the pause that the election makes. A full stream has space again when something was processed.
 */
const RETRY = {
  retry: { firstMs: 50, capMs: 500 },
  full: { firstMs: 50, capMs: 5_000 },
};

/**
 * Then a message is sent again, while the answer to the first one counts as well. What a leader got that then died is lost, and
 * a cluster elects another one within 4 to 9 s: a hub must reach that one before its membership lapses.
 */
const AGAIN_MS = 1_000;
/** A message without an answer is forgotten then. */
const ANSWER_TIMEOUT_MS = 60_000;

/** Allowance for the protocol's own headers in a message. */
const HEADER_BYTES = 1024;

export interface PublishOptions {
  /**
   * Nats-Msg-Id: a second message with the same id within 10 minutes is not stored. Without an id it may be stored
   * twice.
   */
  readonly messageId?: string;
  /** Stores only if the last message on this subject has this sequence; 0: only if there is none. */
  readonly expectLastSubjectSequence?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** false: a full stream throws journal_full at once. The call still waits for a lost connection. */
  readonly wait?: boolean;
  /** Cancels the call; the message may be stored nevertheless. Without a signal the call waits without limit. */
  readonly signal?: AbortSignal;
}

export interface Published {
  readonly stream: string;
  readonly sequence: number;
  /** The stream already had a message with this id; `sequence` is that message's. */
  readonly duplicate: boolean;
}

export interface PublisherOptions {
  readonly connection: Connection;
  readonly metrics: JournalMetrics;
  readonly clock: Clock;
  /** Called when a call starts (true) or stops (false) waiting for space. */
  readonly onFull: (subject: string, begins: boolean) => void;
}

/**
 * Publishes to streams. Concurrent calls may be stored in any order: a caller that needs an order awaits each before
 * the next.
 */
export class Publisher {
  readonly #options: PublisherOptions;
  #clientOf: { readonly nats: NatsConnection; readonly client: JetStreamClient } | undefined;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  /** Largest message that can be published, bytes, as reported by the server. */
  get maxMessageBytes(): number {
    return (this.#options.connection.nats.info?.max_payload ?? 1024 ** 2) - HEADER_BYTES;
  }

  /**
   * Resolves when the stream has stored the message. Throws journal_conflict (the expectation doesn't hold),
   * request_too_large, closed; when `signal` is aborted: journal_full if it was waiting for space, timeout if the
   * signal is a deadline, else cancelled; with `wait: false` also journal_full at once.
   */
  async publish(subject: string, data: Uint8Array, options: PublishOptions = {}): Promise<Published> {
    const what = `publish to ${subject}`;
    const { signal } = options;
    const sent = messageOptions(options);
    const waits = { retry: new Backoff(RETRY.retry), full: new Backoff(RETRY.full) };
    const full = new FullWait(subject, this.#options);
    try {
      for (;;) {
        try {
          return this.#stored(await this.#send(subject, data, sent, signal), data);
        } catch (error) {
          if (signal?.aborted) throw givenUp(what, signal, full.waiting);
          await this.#beforeRetry(error, what, full, options.wait ?? true, waits, signal);
        }
      }
    } finally {
      full.end();
    }
  }

  /** Resolves when a retry makes sense; throws what the caller must handle. */
  async #beforeRetry(
    error: unknown,
    what: string,
    full: FullWait,
    wait: boolean,
    waits: Readonly<Record<"retry" | "full", Backoff>>,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const { metrics, clock } = this.#options;
    const verdict = judge(error);
    if (verdict === "fatal" || (verdict === "full" && !wait)) throw toJournalError(error, what);
    metrics.publishRetried(verdict);
    if (verdict === "full") full.begin();
    await clock.sleep(waits[verdict].next(), signal);
  }

  /** Sends until there is an answer; at once after a reconnect, which loses the acknowledgements in flight. */
  async #send(
    subject: string,
    data: Uint8Array,
    options: Partial<JetStreamPublishOptions>,
    signal: AbortSignal | undefined,
  ): Promise<PubAck> {
    const { connection, metrics, clock } = this.#options;
    const isConnected = (): boolean => connection.connected;
    let sending = new AbortController();
    const call = async (nats: NatsConnection): Promise<PubAck> => {
      sending.abort(ENDED);
      sending = new AbortController();
      if (data.length > this.maxMessageBytes) throw tooLarge(subject, data.length, this.maxMessageBytes);
      let sent = 0;
      const send = (): Promise<PubAck> => {
        if (sent++ > 0) metrics.publishRetried("retry");
        return this.#client(nats).publish(subject, data, options);
      };
      const ping = (): Promise<void> => nats.flush();
      const again = {
        isPassing: isTimeout,
        isPending: isInProcess,
        isConnected,
        ping,
        againMs: AGAIN_MS,
        clock,
      };
      return firstAnswer(send, again, sending.signal);
    };
    try {
      return await connection.repeatable(call, signal, () => metrics.publishRetried("reconnect"));
    } finally {
      sending.abort(ENDED);
    }
  }

  /** One client per connection: creating one costs as much as a publish. */
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

/** Reports once that a publisher starts waiting for space, and once that it stops. */
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

/** Counts waiting publishers per stream and reports the first and the last. */
export class FullStreams {
  readonly #metrics: JournalMetrics;
  readonly #waiting = new Map<string, number>();
  readonly #listeners = new Set<(stream: string, full: boolean) => void>();

  constructor(metrics: JournalMetrics) {
    this.#metrics = metrics;
  }

  /** Streams with waiting publishers. */
  get names(): string[] {
    return [...this.#waiting.keys()];
  }

  /** A publisher of `subject` starts (true) or stops waiting. */
  count(subject: string, begins: boolean): void {
    const stream = streamOf(subject);
    const before = this.#waiting.get(stream) ?? 0;
    const after = before + (begins ? 1 : -1);
    if (begins) this.#metrics.fullWait(stream);
    if (after === 0) this.#waiting.delete(stream);
    else this.#waiting.set(stream, after);
    if (before === 0 || after === 0) for (const listener of this.#listeners) listener(stream, after > 0);
  }

  /** Calls `listener` until the returned function is called. It must not throw. */
  onChange(listener: (stream: string, full: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** Subjects of the log's streams begin with the stream's name; those of buckets with `$KV.<name>`. */
function streamOf(subject: string): string {
  const [first = "", second = ""] = subject.split(".");
  return first === "$KV" ? `KV_${second}` : first.toUpperCase();
}
