/**
 * One ephemeral consumer and the pulls on it. This speaks JetStream's pull protocol directly: the reader must bound
 * the bytes ahead, see every status, and restart at once after a reconnect.
 */

import { AckPolicy, type ConsumerConfig, jetstreamManager, ReplayPolicy } from "@nats-io/jetstream";
import {
  createInbox,
  type Msg,
  type NatsConnection,
  nanos,
  nuid,
  type Subscription,
} from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { pullStatus } from "./pull-status.ts";

/** Default time that the server holds a pull open. Short, because its expiry reveals a consumer that the server forgot. */
const PULL_EXPIRES_MS = 2_000;

/** Time after the expiry within which the server must report the end of a pull, at the first attempt. */
const PULL_GRACE_MS = 1_500;

/** The server removes a consumer without pulls after this time. */
const INACTIVE_MS = 15_000;

/** The grace doubles with each failed attempt, up to twice: otherwise no attempt would wait long enough for a slow server. */
const MAX_DOUBLINGS = 2;

/**
 * Time to create the consumer; it normally takes milliseconds. An attempt that began before a leader was elected, for up to 9 s,
 * gets no answer. For minutes after a server of a cluster has died, the leader may choose the dead one for the consumer;
 * another attempt chooses again. So the time doubles only after these attempts, up to three times. A listing has 30 s.
 */
const CREATE_TIMEOUT_MS = 600;
const SHORT_TRIES = 12;
const MAX_CREATE_DOUBLINGS = 3;

/** Upper bound of messages per pull. */
const MAX_PULL_MESSAGES = 1_024;

export interface Delivery {
  readonly subject: string;
  readonly sequence: number;
  /** When the stream stored it, ms since 1970. */
  readonly timeMs: number;
  /** Messages that the consumer still had to deliver after this one. */
  readonly pending: number;
  /** Shares memory with other messages of the same network read. */
  readonly data: Uint8Array;
  readonly header: (name: string) => string;
  readonly sizeBytes: number;
}

/** The server had nothing to deliver for the length of a pull. */
export const IDLE = Symbol("idle");

/** The session can't continue; `message` says why. Open another one at the last sequence + 1. */
export class SessionEnded extends Error {
  /** True if the connection was lost. */
  readonly lost: boolean;

  constructor(reason: string, lost = false) {
    super(reason);
    this.lost = lost;
  }
}

export interface PullSessionOptions {
  readonly connection: Connection;
  readonly stream: string;
  /** Start position and filter. */
  readonly consumer: Partial<ConsumerConfig>;
  /** Maximum bytes pulled ahead; 0: only messages are counted. A single message may be larger. */
  readonly maxBytes: number;
  /** Maximum messages pulled ahead. */
  readonly maxMessages: number;
  /** How long the server holds a pull open, ms; default 2 s. */
  readonly expiresMs?: number;
  /** The same for a pull after one that got nothing; default: `expiresMs`. */
  readonly idleExpiresMs?: number;
  /** Failed attempts since the last delivery; waits grow with them. */
  readonly tries: number;
  /** Ends the session, even if `next` isn't called. */
  readonly signal: AbortSignal;
}

/** Delivers the messages of a consumer in order, without a gap in what the consumer has sent. */
export class PullSession {
  readonly #options: PullSessionOptions;
  readonly #nats: NatsConnection;
  readonly #name = `tailrace_${nuid.next()}`;
  readonly #inbox: string;
  readonly #queue: Delivery[] = [];
  readonly #abort = (): void => this.#end(new SessionEnded("aborted"));
  readonly #unwatch: () => void;
  #subscription: Subscription | undefined;
  #pending = 0;
  #queuedBytes = 0;
  #consumerSequence = 0;
  #pull: { messagesLeft: number; bytesLeft: number; got: number; timer: NodeJS.Timeout } | undefined;
  #oneLarge = false;
  #idle = false;
  /** The last pull got nothing, and nothing has come since. */
  #isQuiet = false;
  #ended: SessionEnded | undefined;
  #wake = Promise.withResolvers<void>();

  private constructor(options: PullSessionOptions) {
    this.#options = options;
    this.#nats = options.connection.nats;
    this.#inbox = createInbox();
    this.#unwatch = options.connection.onChange(() => this.#end(new SessionEnded("disconnected", true)));
    options.signal.addEventListener("abort", this.#abort, { once: true });
  }

  /** Creates the consumer. Throws SessionEnded, the reason of the signal or client errors. */
  static async open(options: PullSessionOptions): Promise<PullSession> {
    options.signal.throwIfAborted();
    const session = new PullSession(options);
    try {
      const doublings = Math.min(Math.max(0, options.tries - SHORT_TRIES), MAX_CREATE_DOUBLINGS);
      const timeout = CREATE_TIMEOUT_MS * 2 ** doublings;
      const manager = await jetstreamManager(session.#nats, { checkAPI: false, timeout });
      const { num_pending: pending } = await manager.consumers.add(options.stream, {
        name: session.#name,
        ack_policy: AckPolicy.None,
        replay_policy: ReplayPolicy.Instant,
        inactive_threshold: nanos(INACTIVE_MS),
        mem_storage: true,
        num_replicas: 1,
        ...options.consumer,
      });
      session.#pending = pending;
      const callback = (error: Error | null, message: Msg): void => session.#take(error, message);
      if (session.#ended !== undefined) throw session.#ended;
      session.#subscription = session.#nats.subscribe(session.#inbox, { callback });
      return session;
    } catch (error) {
      session.#end(new SessionEnded("never opened"));
      throw error;
    }
  }

  /** Messages to deliver when the consumer was made. */
  get pending(): number {
    return this.#pending;
  }

  /** Resolves with the next message, or IDLE. Throws SessionEnded. */
  async next(): Promise<Delivery | typeof IDLE> {
    for (;;) {
      const delivery = this.#queue.shift();
      if (delivery !== undefined) {
        this.#queuedBytes -= delivery.sizeBytes;
        this.#ask();
        return delivery;
      }
      if (this.#ended !== undefined) throw this.#ended;
      if (this.#idle) {
        this.#idle = false;
        return IDLE;
      }
      this.#ask();
      this.#wake = Promise.withResolvers();
      await this.#wake.promise;
    }
  }

  /** Returns what has already arrived, without waiting. */
  takeQueued(): Delivery[] {
    this.#queuedBytes = 0;
    return this.#queue.splice(0);
  }

  /** Ends the session and removes the consumer if the server can be reached. */
  async close(): Promise<void> {
    this.#end(new SessionEnded("closed"));
    if (!this.#options.connection.connected) return;
    try {
      const manager = await jetstreamManager(this.#nats, { checkAPI: false, timeout: CREATE_TIMEOUT_MS });
      await manager.consumers.delete(this.#options.stream, this.#name);
    } catch {
      // the server removes it after INACTIVE_MS
    }
  }

  get #patience(): number {
    return 2 ** Math.min(this.#options.tries, MAX_DOUBLINGS);
  }

  #take(error: Error | null, message: Msg): void {
    if (this.#ended !== undefined) return;
    if (error !== null) {
      this.#end(new SessionEnded(error.message));
    } else if (message.reply?.startsWith("$JS.ACK.")) {
      this.#deliver(message);
    } else {
      this.#takeStatus(message.headers?.code ?? 0, message.headers?.description ?? "");
    }
    this.#wake.resolve();
  }

  #deliver(message: Msg): void {
    const delivery = parseDelivery(message);
    if (delivery.consumerSequence !== this.#consumerSequence + 1) {
      this.#end(new SessionEnded("a delivery went missing"));
      return;
    }
    this.#consumerSequence++;
    this.#idle = false;
    this.#isQuiet = false;
    this.#queue.push(delivery);
    this.#queuedBytes += delivery.sizeBytes;
    const pull = this.#pull;
    if (pull !== undefined) {
      pull.got++;
      pull.messagesLeft--;
      pull.bytesLeft -= delivery.sizeBytes;
      if (pull.messagesLeft === 0 || pull.bytesLeft <= 0) this.#endPull();
    }
    this.#ask();
  }

  #takeStatus(code: number, description: string): void {
    const got = this.#pull?.got ?? 0;
    const status = pullStatus(code, description);
    if (status === "alive") return;
    this.#endPull();
    if (status === "over") this.#idle = this.#isQuiet = got === 0;
    else if (status === "too-large") this.#oneLarge = got === 0;
    else {
      this.#end(new SessionEnded(code === 503 ? "the server forgot the consumer" : `${code} ${description}`));
      return;
    }
    this.#ask();
  }

  /** Pulls when less than half of the permitted amount is ahead. */
  #ask(): void {
    const { maxBytes, maxMessages, stream, expiresMs: usualMs = PULL_EXPIRES_MS } = this.#options;
    if (this.#pull !== undefined || this.#ended !== undefined) return;
    if (this.#oneLarge && this.#queue.length > 0) return; // it is pulled when the queue is empty
    const messages = Math.min(MAX_PULL_MESSAGES, maxMessages - this.#queue.length);
    const bytes = maxBytes - this.#queuedBytes;
    if (messages < maxMessages / 2 && messages < MAX_PULL_MESSAGES) return;
    if (maxBytes > 0 && bytes < maxBytes / 2) return;
    const bounded = maxBytes > 0 && !this.#oneLarge;
    const batch = this.#oneLarge ? 1 : messages; // a message larger than the bound is pulled alone
    const expiresMs = this.#isQuiet ? (this.#options.idleExpiresMs ?? usualMs) : usualMs;
    const request = { batch, expires: nanos(expiresMs), ...(bounded ? { max_bytes: bytes } : {}) };
    const late = (): void => this.#end(new SessionEnded("the server didn't answer a pull"));
    const timer = setTimeout(late, expiresMs + PULL_GRACE_MS * this.#patience);
    this.#pull = {
      messagesLeft: batch,
      bytesLeft: bounded ? bytes : Number.POSITIVE_INFINITY,
      got: 0,
      timer,
    };
    this.#oneLarge = false;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#name}`;
    this.#nats.publish(subject, JSON.stringify(request), { reply: this.#inbox });
  }

  #endPull(): void {
    clearTimeout(this.#pull?.timer);
    this.#pull = undefined;
  }

  #end(reason: SessionEnded): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#endPull();
    this.#unwatch();
    this.#options.signal.removeEventListener("abort", this.#abort);
    this.#subscription?.unsubscribe();
    this.#wake.resolve();
  }
}

/**
 * Parses `$JS.ACK.<stream>.<consumer>.<deliveries>.<stream seq>.<consumer seq>.<time ns>.<pending>`, which newer
 * servers may extend with `<domain>.<account>` before the stream and a random token at the end.
 */
function parseDelivery(message: Msg): Delivery & { consumerSequence: number } {
  const tokens = message.reply!.split(".");
  const at = tokens.length === 9 ? 5 : 7;
  return {
    subject: message.subject,
    sequence: Number(tokens[at]),
    consumerSequence: Number(tokens[at + 1]),
    timeMs: Number(tokens[at + 2]!.slice(0, -6)),
    pending: Number(tokens[at + 3]),
    data: message.data,
    header: (name) => message.headers?.get(name) ?? "",
    sizeBytes: deliveredBytes(message),
  };
}

/** Counts bytes as the server does against max_bytes: subject, reply, headers and data. */
function deliveredBytes(message: Msg): number {
  const { size } = message as Msg & { size?: () => number };
  if (typeof size === "function") return size.call(message);
  return message.subject.length + message.reply!.length + message.data.length;
}
