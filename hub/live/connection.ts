/** One viewer's socket: reads messages, opens tails, runs calls, and closes with a code and a reason when a rule is broken. */

import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { FairShares } from "#proto/kit/fair-shares.ts";
import type { Logger } from "#proto/kit/log.ts";
import { CLOSE, type ClientMessage, type HubMessage, type LiveLimits, type TailOpen } from "#proto/live.ts";
import { parseClientMessage } from "#proto/live-check.ts";
import type { LiveMetrics } from "./live-metrics.ts";
import type { LiveTail } from "./live-tail.ts";
import type { RunCall } from "./run-call.ts";
import type { Subscription } from "./subscription.ts";
import { ViewerCalls } from "./viewer-calls.ts";
import { ViewerSocket, type ViewerSocketOptions } from "./viewer-socket.ts";

export interface ConnectionOptions extends ViewerSocketOptions {
  readonly session: string;
  readonly tail: LiveTail;
  /** Undefined: calls aren't supported. */
  readonly run: RunCall | undefined;
  /** Of the hub's tails. */
  readonly shares: FairShares;
}

export class Connection {
  readonly socket: ViewerSocket;
  readonly #tail: LiveTail;
  readonly #limits: LiveLimits;
  readonly #metrics: LiveMetrics;
  readonly #log: Logger;
  readonly #subscriptions = new Map<number, Subscription>();
  readonly #calls: ViewerCalls;
  readonly #shares: FairShares;
  #messagesLeft: number;
  #messagesAtMs = performance.now();

  constructor(options: ConnectionOptions) {
    const { socket, session, tail, run, limits, metrics, log } = options;
    this.socket = new ViewerSocket(options, () => this.release());
    this.#tail = tail;
    this.#shares = options.shares;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#log = log;
    this.#messagesLeft = limits.inboundRate * 2;
    const isReady = (): boolean => this.socket.isReady();
    this.#calls = new ViewerCalls({
      run,
      limits,
      metrics,
      isReady,
      send: (frame) => this.socket.send(frame),
    });
    socket.on("message", (data, isBinary) => this.#receive((data as Buffer).toString(), isBinary));
    const calls = run !== undefined;
    this.#sendMessage({ t: "welcome", v: 1, session, limits, serverTime: Date.now(), calls });
  }

  /** Announces the hub's stop and closes. */
  closeForRestart(reason: string, retryAfterMs: number): void {
    this.#sendMessage({ t: "bye", reason, retryAfterMs });
    this.socket.end(CLOSE.goingAway, reason);
  }

  /** Ends all tails and calls; doesn't touch the socket itself. */
  release(): void {
    this.#calls.release();
    for (const sub of this.#subscriptions.keys()) this.#close(sub);
  }

  #receive(text: string, isBinary: boolean): void {
    if (!this.socket.isOpen) return;
    if (!this.#isWithinRate()) {
      this.socket.end(CLOSE.tooFast, "too many messages; reload the page");
      return;
    }
    const message = isBinary ? "binary frames aren't used here" : parseClientMessage(text);
    if (typeof message === "string") {
      this.#metrics.refused.inc({ reason: "bad_message" });
      this.socket.end(CLOSE.badMessage, message);
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
      this.#subscriptions.set(sub, this.#subscribe(open));
    } catch (cause) {
      this.#refuse(sub, toAppError(cause));
    }
  }

  /** Throws overloaded, and `parsing` for an invalid filter. */
  #subscribe(open: TailOpen): Subscription {
    const { viewer } = this.socket;
    this.#shares.take(viewer.id);
    try {
      return this.#tail.open(open, {
        sink: this.socket,
        mayRead: (index) => viewer.mayRead(index),
        onOpened: (cursor) => this.#sendMessage({ t: "tail.opened", sub: open.sub, cursor }),
      });
    } catch (error) {
      this.#shares.give(viewer.id);
      throw error;
    }
  }

  /**
   * Throws forbidden for an index that is named without a wildcard and may not be read. The tail leaves out such
   * indices of a pattern.
   */
  #checkRights(names: readonly string[]): void {
    const refused = names.find(
      (name) =>
        !name.startsWith("-") && !name.includes("*") && name !== "_all" && !this.socket.viewer.mayRead(name),
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
    this.#shares.give(this.socket.viewer.id);
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
    this.socket.send(JSON.stringify(message));
  }
}
