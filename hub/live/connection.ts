/** One viewer's socket: reads messages, opens tails, runs calls, and closes with a code and a reason when a rule is broken. */

import type { WebSocket } from "ws";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { CLOSE, type ClientMessage, type HubMessage, type LiveLimits, type TailOpen } from "#proto/live.ts";
import { parseClientMessage } from "#proto/live-check.ts";
import type { LiveMetrics } from "./live-metrics.ts";
import type { LiveTail } from "./live-tail.ts";
import type { RunCall } from "./run-call.ts";
import type { Subscription, TailSink } from "./subscription.ts";
import { ViewerCalls } from "./viewer-calls.ts";

/** The user of a socket. */
export interface Viewer {
  /** Identifies the viewer in the counts of sockets. */
  readonly id: string;
  /** True where a cookie proved it: such a request must carry an allowed Origin. */
  readonly byCookie: boolean;
  /** True where the viewer may see documents of this index. */
  mayRead(index: string): boolean;
  /** Resolves to false when the sign-in has ended since. */
  isStillSignedIn(): Promise<boolean>;
}

export interface ConnectionOptions {
  readonly socket: WebSocket;
  readonly viewer: Viewer;
  readonly session: string;
  readonly tail: LiveTail;
  /** Undefined: calls aren't offered. */
  readonly run: RunCall | undefined;
  readonly limits: LiveLimits;
  readonly metrics: LiveMetrics;
  readonly log: Logger;
}

/** Pings that may stay unanswered. */
const MAX_MISSED_PINGS = 2;
/** Longest reason in a close frame, bytes (RFC 6455 section 5.5), and characters that surely fit. */
const MAX_REASON_BYTES = 123;
const SAFE_REASON_LENGTH = 40;

export class Connection implements TailSink {
  readonly #socket: WebSocket;
  readonly #viewer: Viewer;
  readonly #tail: LiveTail;
  readonly #limits: LiveLimits;
  readonly #metrics: LiveMetrics;
  readonly #log: Logger;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #calls: ViewerCalls;
  #missedPings = 0;
  #blockedSinceMs: number | undefined;
  #messagesLeft: number;
  #messagesAtMs = performance.now();

  constructor({ socket, viewer, session, tail, run, limits, metrics, log }: ConnectionOptions) {
    this.#socket = socket;
    this.#viewer = viewer;
    this.#tail = tail;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#log = log;
    this.#messagesLeft = limits.inboundRate * 2;
    const isReady = (): boolean => this.isReady();
    this.#calls = new ViewerCalls({ run, limits, metrics, isReady, send: (frame) => this.send(frame) });
    socket.on("message", (data, isBinary) => this.#receive((data as Buffer).toString(), isBinary));
    socket.on("pong", () => {
      this.#missedPings = 0;
    });
    // The close event reports why a connection ended.
    socket.on("error", (err) => log.debug({ err }, "live socket failed"));
    const calls = run !== undefined;
    this.#sendMessage({ t: "welcome", v: 1, session, limits, serverTime: Date.now(), calls });
  }

  get viewer(): Viewer {
    return this.#viewer;
  }

  isReady(): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false;
    if (this.#socket.bufferedAmount < this.#limits.bufferedStopBytes) {
      this.#blockedSinceMs = undefined;
      return true;
    }
    const nowMs = performance.now();
    this.#blockedSinceMs ??= nowMs;
    if (nowMs - this.#blockedSinceMs > this.#limits.slowCloseMs)
      this.end(CLOSE.tooSlow, "this connection is too slow for the lines asked for; narrow the filter");
    return false;
  }

  send(frame: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(frame);
  }

  /** Pings; ends a connection that left two pings unanswered. */
  beat(): void {
    if (this.#missedPings >= MAX_MISSED_PINGS) {
      this.#socket.terminate();
      return;
    }
    this.#missedPings += 1;
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  /** Ends the connection when the viewer has been signed out. */
  async checkSignIn(): Promise<void> {
    if (!(await this.#viewer.isStillSignedIn()))
      this.end(CLOSE.signedOut, "you are signed out; sign in again");
  }

  /** Announces the end of the hub and closes. */
  sayBye(reason: string, retryAfterMs: number): void {
    this.#sendMessage({ t: "bye", reason, retryAfterMs });
    this.end(CLOSE.goingAway, reason);
  }

  /** Closes with a code and a sentence; its tails end immediately. */
  end(code: number, reason: string): void {
    this.release();
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    this.#metrics.closed.inc({ code: String(code) });
    const fits = Buffer.byteLength(reason) <= MAX_REASON_BYTES;
    this.#socket.close(code, fits ? reason : reason.slice(0, SAFE_REASON_LENGTH).toWellFormed());
  }

  /** Ends all tails and calls; the socket itself is left alone. */
  release(): void {
    this.#calls.release();
    for (const subscription of this.#subscriptions.values()) this.#tail.close(subscription);
    this.#subscriptions.clear();
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #receive(text: string, isBinary: boolean): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (!this.#isWithinRate()) {
      this.end(CLOSE.tooFast, "too many messages; reload the page");
      return;
    }
    const message = isBinary ? "binary frames aren't used here" : parseClientMessage(text);
    if (typeof message === "string") {
      this.#metrics.refused.inc({ reason: "bad_message" });
      this.end(CLOSE.badMessage, message);
      return;
    }
    this.#handle(message);
  }

  #handle(message: ClientMessage): void {
    switch (message.t) {
      case "hello":
        return;
      case "ping":
        this.#sendMessage({ t: "pong", n: message.n });
        return;
      case "call":
        this.#calls.call(message);
        return;
      case "search":
        this.#calls.search(message);
        return;
      case "call.cancel":
        this.#calls.cancel(message.id);
        return;
      case "watch.open":
        this.#calls.watch(message);
        return;
      case "watch.close":
        this.#calls.unwatch(message.sub);
        return;
      case "tail.open":
        this.#open(message);
        return;
      case "tail.credit":
        this.#subscriptions.get(message.sub)?.addCredit(message.add);
        return;
      case "tail.pause":
        this.#subscriptions.get(message.sub)?.pause();
        return;
      case "tail.resume":
        this.#subscriptions.get(message.sub)?.resume();
        return;
      case "tail.close":
        this.#close(message.sub);
        return;
    }
  }

  #open(open: TailOpen): void {
    const { sub } = open;
    try {
      if (this.#subscriptions.has(sub))
        throw new AppError(
          "request_invalid",
          `tail ${sub} is open already; close it first or use another number`,
        );
      if (this.#subscriptions.size >= this.#limits.subscriptionsPerSocket)
        throw new AppError(
          "overloaded",
          `this page has ${this.#limits.subscriptionsPerSocket} tails open, the limit; close one of them`,
        );
      this.#checkRights(open.index);
      const subscription = this.#tail.open(open, {
        sink: this,
        mayRead: (index) => this.#viewer.mayRead(index),
        onOpened: (cursor) => this.#sendMessage({ t: "tail.opened", sub, cursor }),
      });
      this.#subscriptions.set(sub, subscription);
    } catch (cause) {
      this.#refuse(sub, toAppError(cause));
    }
  }

  /**
   * Throws forbidden for an index that is named without a wildcard and may not be read. The tail leaves out such
   * indices of a pattern.
   */
  #checkRights(names: readonly string[]): void {
    const refused = names.find(
      (name) =>
        !name.startsWith("-") && !name.includes("*") && name !== "_all" && !this.#viewer.mayRead(name),
    );
    if (refused !== undefined)
      throw new AppError(
        "forbidden",
        `you may not read index ${refused}; ask an administrator for the right`,
      );
  }

  #refuse(sub: number, error: AppError): void {
    if (error.code === "internal") this.#log.error({ err: error.cause ?? error }, "a tail failed to open");
    this.#metrics.refused.inc({ reason: error.code });
    const { at, hint } = error.data as { at?: [number, number]; hint?: string };
    this.#sendMessage({
      t: "error",
      sub,
      code: error.code,
      message: error.message,
      ...(at === undefined ? {} : { at }),
      ...(hint === undefined ? {} : { hint }),
    });
  }

  #close(sub: number): void {
    const subscription = this.#subscriptions.get(sub);
    if (subscription === undefined) return;
    this.#subscriptions.delete(sub);
    this.#tail.close(subscription);
  }

  #isWithinRate(): boolean {
    const { inboundRate } = this.#limits;
    const nowMs = performance.now();
    const refill = ((nowMs - this.#messagesAtMs) / 1_000) * inboundRate;
    this.#messagesLeft = Math.min(inboundRate * 2, this.#messagesLeft + refill) - 1;
    this.#messagesAtMs = nowMs;
    return this.#messagesLeft >= 0;
  }

  #sendMessage(message: HubMessage): void {
    this.send(JSON.stringify(message));
  }
}
