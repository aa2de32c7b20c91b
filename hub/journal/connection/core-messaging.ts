/** Core NATS messaging: fast, not stored, lost without a subscriber. */

import {
  createInbox,
  errors,
  type Msg,
  type NatsConnection,
  type Subscription,
} from "@nats-io/transport-node";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";
import type { Connection } from "./connection.ts";
import { toJournalError } from "./nats-errors.ts";

/** Requests served concurrently per subscription; others are dropped and time out at the sender. */
const MAX_SERVED = 1_024;

/**
 * Bytes that may wait for a slow server. What is sent meanwhile is dropped, as it is without a connection: it would be of no use
 * any more when it arrives, and fill the memory.
 */
const MAX_UNSENT_BYTES = 64 * MIB;

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface CoreMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers a request; does nothing when the sender expects no answer. */
  respond(data: Uint8Array): void;
}

/** Publish, subscribe, request and serve. Subscriptions survive reconnects. */
export class CoreMessaging {
  readonly #connection: Connection;
  readonly #log: Logger;
  readonly #onDropped: () => void;
  #inbox: Inbox | undefined;
  #isDropping = false;

  /** `onDropped` is called for each message that isn't sent because the server is too slow. */
  constructor(connection: Connection, log: Logger, onDropped: () => void = () => undefined) {
    this.#connection = connection;
    this.#log = log;
    this.#onDropped = onDropped;
  }

  /**
   * Sends without an acknowledgement; messages are dropped while disconnected, and while 64 MiB wait for a slow server. Throws
   * request_too_large or closed.
   */
  publish(subject: string, data: Uint8Array): void {
    const { nats, connected } = this.#connection;
    if (!connected) return; // the client would buffer it and discard it at the reconnect
    if (this.#isCongested()) return;
    try {
      nats.publish(subject, data);
    } catch (error) {
      throw toJournalError(error, `publish to ${subject}`);
    }
  }

  /**
   * Resolves with the first answer. Throws timeout, unavailable (no responder, or 64 MiB wait for a slow server), cancelled or
   * closed.
   */
  async request(subject: string, data: Uint8Array, options: RequestOptions): Promise<Uint8Array> {
    const what = `request to ${subject}`;
    try {
      if (this.#isCongested()) throw new AppError("unavailable", `${what}: NATS takes messages too slowly`);
      const { nats } = this.#connection;
      if (this.#inbox?.nats !== nats || this.#inbox.isClosed) this.#inbox = new Inbox(nats);
      const answer = await this.#inbox.request(subject, data, options);
      this.#connection.answered();
      return answer;
    } catch (error) {
      if (options.signal?.aborted) throw new AppError("cancelled", `${what} was cancelled`, { cause: error });
      throw toJournalError(error, what);
    }
  }

  /**
   * Calls `take` for every message on `subject` (wildcards allowed) until the returned function is called. With
   * `queue`, each message goes to one subscriber of that queue group. Errors that `take` throws are logged.
   */
  subscribe(subject: string, take: (message: CoreMessage) => void, queue?: string): () => void {
    const callback = (error: Error | null, message: Msg): void => {
      if (error !== null) {
        this.#log.error({ err: error, subject }, "NATS rejects a subscription");
        return;
      }
      try {
        const respond = (data: Uint8Array): void => void (this.#isCongested() || message.respond(data));
        take({ subject: message.subject, data: message.data, respond });
      } catch (thrown) {
        this.#log.error({ err: thrown, subject }, "a NATS message could not be handled");
      }
    };
    const options = queue === undefined ? { callback } : { callback, queue };
    const subscription = this.#connection.nats.subscribe(subject, options);
    return () => subscription.unsubscribe();
  }

  /** Returns whether so much waits for the server that a message is dropped; logs when that begins. */
  #isCongested(): boolean {
    const { unsentBytes } = this.#connection;
    if (unsentBytes < MAX_UNSENT_BYTES) {
      // Just below the limit the next message is dropped again, which isn't news.
      if (unsentBytes < MAX_UNSENT_BYTES / 2) this.#isDropping = false;
      return false;
    }
    if (!this.#isDropping)
      this.#log.warn("the link to NATS is too slow for the messages between hubs; messages are dropped");
    this.#isDropping = true;
    this.#onDropped();
    return true;
  }

  /** Answers requests with the result of `answer`. A failure is logged, and the request times out. */
  serve(subject: string, answer: (message: CoreMessage) => Promise<Uint8Array>, queue?: string): () => void {
    let served = 0;
    const take = async (message: CoreMessage): Promise<void> => {
      served++;
      try {
        message.respond(await answer(message));
      } catch (error) {
        this.#log.error(
          { err: error, subject: message.subject },
          "a request over NATS could not be answered",
        );
      } finally {
        served--;
      }
    };
    const begin = (message: CoreMessage): void => {
      if (served >= MAX_SERVED)
        this.#log.warn({ subject: message.subject }, "too many concurrent requests; one is dropped");
      else void take(message);
    };
    return this.subscribe(subject, begin, queue);
  }
}

/**
 * Takes the answers to all requests of one connection. The client's own requests would do, but make an error with a stack and
 * several promises for each: a third of what a request costs here.
 */
class Inbox {
  readonly nats: NatsConnection;
  readonly #prefix: string;
  readonly #subscription: Subscription;
  readonly #waiting = new Map<string, (answer: Msg | Error) => void>();
  #last = 0;

  constructor(nats: NatsConnection) {
    this.nats = nats;
    this.#prefix = `${createInbox()}.`;
    const callback = (error: Error | null, answer: Msg): void => {
      if (error === null) this.#waiting.get(answer.subject)?.(answer);
      else this.#fail(new errors.RequestError(error.message, { cause: error }));
    };
    this.#subscription = nats.subscribe(`${this.#prefix}*`, { callback });
    void this.#subscription.closed.then(() => this.#fail(new errors.RequestError("connection closed")));
  }

  /** The connection was closed, or the server refused the subscription: permissions may have changed for a while. */
  get isClosed(): boolean {
    return this.#subscription.isClosed();
  }

  request(subject: string, data: Uint8Array, { timeoutMs, signal }: RequestOptions): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const reply = this.#prefix + (++this.#last).toString(36);
      const end = (answer: Msg | Error): void => {
        this.#waiting.delete(reply);
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if (answer instanceof Error) reject(answer);
        else if (isUnserved(answer)) reject(new errors.NoRespondersError(subject));
        else resolve(answer.data);
      };
      const cancel = (): void => end(new errors.RequestError("cancelled"));
      this.nats.publish(subject, data, { reply });
      const timer = setTimeout(() => end(new errors.TimeoutError()), timeoutMs);
      this.#waiting.set(reply, end);
      signal?.addEventListener("abort", cancel, { once: true });
    });
  }

  #fail(error: Error): void {
    for (const end of this.#waiting.values()) end(error);
  }
}

/** Returns whether the server answered that nobody serves the subject. */
function isUnserved({ data, headers }: Msg): boolean {
  return data.length === 0 && headers?.code === 503;
}
