/**
 * One ephemeral consumer and the pulls on it. This speaks JetStream's pull protocol directly: the reader must bound
 * the bytes ahead, see every status, and restart at once after a reconnect.
 */

import { type ConsumerConfig, jetstreamManager } from "@nats-io/jetstream";
import {
  createInbox,
  type Msg,
  type NatsConnection,
  nanos,
  type Subscription,
} from "@nats-io/transport-node";
import type { Connection } from "#hub/journal/connection/connection.ts";
import { isTimeout } from "#hub/journal/connection/nats-errors.ts";
import { createConsumer, type PullConsumer } from "./pull-consumer.ts";
import { pullStatus } from "./pull-status.ts";

/** Default time that the server holds a pull open. Short, because its expiry reveals a consumer that the server forgot. */
const PULL_EXPIRES_MS = 2_000;

/** Time after the expiry within which the server must report the end of a pull, at the first attempt. */
const PULL_GRACE_MS = 1_500;

/** A consumer with heartbeats is lost when so many are missing, at the first attempt. A busy server may be late with one or two. */
const HEARTBEATS_MISSED = 3;

/** The grace doubles with each failed attempt, up to twice: otherwise no attempt would wait long enough for a slow server. */
const MAX_DOUBLINGS = 2;

/** Time to remove the consumer of a session that is closed; the server removes others by itself. */
const DELETE_TIMEOUT_MS = 600;

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
  /** Interval at which the server shows that it has the consumer, ms; at most half of the pulls' time. Default: only their end does. */
  readonly heartbeatMs?: number;
  /** Failed attempts since the last delivery; waits grow with them. */
  readonly tries: number;
  /** Ends the session, even if `next` isn't called. */
  readonly signal: AbortSignal;
}

/** A pull that the server holds open. */
interface Pull {
  messagesLeft: number;
  bytesLeft: number;
  /** Messages that it has got. */
  got: number;
  timer: NodeJS.Timeout | undefined;
}

/** Delivers the messages of a consumer in order, without a gap in what the consumer has sent. */
export class PullSession {
  readonly #options: PullSessionOptions;
  readonly #nats: NatsConnection;
  readonly #inbox: string;
  readonly #queue: Delivery[] = [];
  readonly #closing = new AbortController();
  readonly #abort = (): void => this.#end(new SessionEnded("aborted"));
  readonly #unwatch: () => void;
  #subscription: Subscription | undefined;
  #consumer: PullConsumer = { name: "", pending: 0 };
  /** When the last pull was sent, and when the server sent something for the session, ms of `performance.now`. */
  #pulledMs = 0;
  #heardMs = 0;
  #queuedBytes = 0;
  #consumerSequence = 0;
  #pull: Pull | undefined;
  #oneLarge = false;
  #idle = false;
  /** The last pull got nothing, and nothing has come since. */
  #isQuiet = false;
  /** The server's first heartbeat or message came within the usual time: it isn't slow. */
  #isQuick = false;
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
      const { stream, consumer: config, tries } = options;
      const { signal } = session.#closing;
      session.#consumer = await createConsumer(session.#nats, { stream, config, tries, signal });
      if (session.#ended !== undefined) throw session.#ended;
      const callback = (error: Error | null, message: Msg): void => session.#take(error, message);
      session.#subscription = session.#nats.subscribe(session.#inbox, { callback });
      return session;
    } catch (error) {
      const why = isTimeout(error) ? new SessionEnded("no server made the consumer in time") : error;
      const reason = session.#ended ?? why;
      session.#end(new SessionEnded("never opened"));
      throw reason;
    }
  }

  /** Messages to deliver when the consumer was made. */
  get pending(): number {
    return this.#consumer.pending;
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

  /** Ends the session and removes the consumer, unless the session has failed: the server that has it may be lost. */
  async close(): Promise<void> {
    const { connection, signal } = this.#options;
    const hasFailed = this.#ended !== undefined && !signal.aborted;
    this.#end(new SessionEnded("closed"));
    if (hasFailed || !connection.connected) return;
    try {
      const manager = await jetstreamManager(this.#nats, { checkAPI: false, timeout: DELETE_TIMEOUT_MS });
      await manager.consumers.delete(this.#options.stream, this.#consumer.name);
    } catch {
      // the server removes it without pulls
    }
  }

  get #patience(): number {
    return this.#isQuick ? 1 : 2 ** Math.min(this.#options.tries, MAX_DOUBLINGS);
  }

  #take(error: Error | null, message: Msg): void {
    if (this.#ended !== undefined) return;
    this.#noteHeard();
    if (error !== null) {
      this.#end(new SessionEnded(error.message));
    } else if (message.reply?.startsWith("$JS.ACK.")) {
      this.#deliver(message);
    } else {
      this.#takeStatus(message.headers?.code ?? 0, message.headers?.description ?? "");
    }
    this.#wake.resolve();
  }

  #noteHeard(): void {
    const { heartbeatMs = 0 } = this.#options;
    const isFirst = this.#heardMs === 0;
    this.#heardMs = performance.now();
    if (isFirst) this.#isQuick = this.#heardMs - this.#pulledMs < HEARTBEATS_MISSED * heartbeatMs;
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
    this.#options.connection.answered();
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
    const { heartbeatMs } = this.#options;
    const request = {
      batch,
      expires: nanos(expiresMs),
      ...(bounded ? { max_bytes: bytes } : {}),
      ...(heartbeatMs === undefined ? {} : { idle_heartbeat: nanos(heartbeatMs) }),
    };
    this.#pull = {
      messagesLeft: batch,
      bytesLeft: bounded ? bytes : Number.POSITIVE_INFINITY,
      got: 0,
      timer: undefined,
    };
    this.#watchPull(this.#pull, expiresMs);
    this.#oneLarge = false;
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${stream}.${this.#consumer.name}`;
    this.#nats.publish(subject, JSON.stringify(request), { reply: this.#inbox });
  }

  /** Ends the session when the server stops answering: at the next missing heartbeats, without any after the end of the pull. */
  #watchPull(pull: Pull, expiresMs: number): void {
    const { heartbeatMs } = this.#options;
    const usualMs = heartbeatMs === undefined ? expiresMs : HEARTBEATS_MISSED * heartbeatMs;
    const limitMs = (): number =>
      heartbeatMs === undefined ? expiresMs + PULL_GRACE_MS * this.#patience : usualMs * this.#patience;
    this.#pulledMs = performance.now();
    const heardMs = (): number => this.#heardMs - (heartbeatMs === undefined ? expiresMs : 0); // the end comes after that
    const quietMs = (): number => performance.now() - Math.max(this.#pulledMs, heardMs());
    // What the server sent before it answers a ping is taken before the server counts as silent: it may wait on a slow link.
    const check = async (): Promise<void> => {
      if (quietMs() >= limitMs()) await this.#nats.flush().catch(() => undefined); // a lost connection ends the session itself
      if (this.#pull !== pull) return;
      if (quietMs() >= limitMs()) this.#end(new SessionEnded("the server didn't answer a pull"));
      else wait();
    };
    const wait = (): void => {
      pull.timer = setTimeout(() => void check(), Math.min(usualMs, limitMs() - quietMs()));
    };
    wait();
  }

  #endPull(): void {
    clearTimeout(this.#pull?.timer);
    this.#pull = undefined;
  }

  #end(reason: SessionEnded): void {
    if (this.#ended !== undefined) return;
    this.#ended = reason;
    this.#closing.abort(reason);
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
