/** Messages of core NATS: fast, kept nowhere, lost where nobody listens. */

import type { Msg } from "@nats-io/transport-node";
import { AppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Connection } from "./connection.ts";
import { toJournalError } from "./nats-errors.ts";
import { abortable } from "./waits.ts";

/** Requests that one server answers at the same time; further ones are left to time out. */
const MAX_SERVED = 1_024;

export interface RequestOptions {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface CoreMessage {
  readonly subject: string;
  readonly data: Uint8Array;
  /** Answers a request; does nothing where the sender wants no answer. */
  respond(data: Uint8Array): void;
}

/** Publishes, subscribes, asks and answers. Subscriptions live on over reconnects. */
export class CoreMessaging {
  readonly #connection: Connection;
  readonly #log: Logger;

  constructor(connection: Connection, log: Logger) {
    this.#connection = connection;
    this.#log = log;
  }

  /** Sends without an acknowledgement; dropped while the connection is away. Throws request_too_large or closed. */
  publish(subject: string, data: Uint8Array): void {
    const { nats, connected } = this.#connection;
    if (!connected) return; // the client would gather what it throws away at the reconnect
    try {
      nats.publish(subject, data);
    } catch (error) {
      throw toJournalError(error, `publish to ${subject}`);
    }
  }

  /** Resolves with the first answer. Throws timeout, unavailable (nobody serves it), cancelled or closed. */
  async request(
    subject: string,
    data: Uint8Array,
    { timeoutMs, signal }: RequestOptions,
  ): Promise<Uint8Array> {
    const what = `request to ${subject}`;
    try {
      const answer = this.#connection.nats.request(subject, data, { timeout: timeoutMs });
      return (await (signal === undefined ? answer : abortable(answer, signal))).data;
    } catch (error) {
      if (signal?.aborted) throw new AppError("cancelled", `${what} was given up`, { cause: error });
      throw toJournalError(error, what);
    }
  }

  /**
   * Calls `take` for every message on `subject` (which may hold wildcards) until the returned function is called.
   * With `queue` only one of all subscribers of that name gets a message. What `take` throws is logged.
   */
  subscribe(subject: string, take: (message: CoreMessage) => void, queue?: string): () => void {
    const callback = (error: Error | null, message: Msg): void => {
      if (error !== null) {
        this.#log.error({ err: error, subject }, "NATS refuses a subscription");
        return;
      }
      try {
        take({ subject: message.subject, data: message.data, respond: (data) => void message.respond(data) });
      } catch (thrown) {
        this.#log.error({ err: thrown, subject }, "a message of NATS could not be handled");
      }
    };
    const options = queue === undefined ? { callback } : { callback, queue };
    const subscription = this.#connection.nats.subscribe(subject, options);
    return () => subscription.unsubscribe();
  }

  /** Answers requests with what `answer` resolves to; a failure is logged and the request left to time out. */
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
        this.#log.warn({ subject: message.subject }, "too many requests at once; one is dropped");
      else void take(message);
    };
    return this.subscribe(subject, begin, queue);
  }
}
