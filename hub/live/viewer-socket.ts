/** A viewer's WebSocket: takes frames while the client reads them, is kept alive, and closes with a code and a reason. */

import type { WebSocket } from "ws";
import type { Logger } from "#proto/kit/log.ts";
import { CLOSE, type LiveLimits } from "#proto/live.ts";
import type { LiveMetrics } from "./live-metrics.ts";
import type { TailSink } from "./subscription.ts";

/** The user of a socket. */
export interface Viewer {
  /** Identifies the viewer in the counts of sockets. */
  readonly id: string;
  /** True if a cookie authenticated the user: such a request must have an allowed Origin. */
  readonly byCookie: boolean;
  /** Returns true if the viewer may see documents of this index. */
  mayRead(index: string): boolean;
  /** Resolves to false if the sign-in has ended since then. */
  isStillSignedIn(): Promise<boolean>;
}

export interface ViewerSocketOptions {
  readonly socket: WebSocket;
  readonly viewer: Viewer;
  readonly limits: LiveLimits;
  readonly metrics: LiveMetrics;
  readonly log: Logger;
}

/** Maximum unanswered pings. */
const MAX_MISSED_PINGS = 2;
/** Longest reason in a close frame, bytes (RFC 6455 section 5.5), and characters that surely fit. */
const MAX_REASON_BYTES = 123;
const SAFE_REASON_LENGTH = 40;

export class ViewerSocket implements TailSink {
  readonly viewer: Viewer;
  readonly #socket: WebSocket;
  readonly #limits: LiveLimits;
  readonly #metrics: LiveMetrics;
  readonly #release: () => void;
  #missedPings = 0;
  #blockedSinceMs: number | undefined;

  /** `release` ends the work for the viewer; it may be called repeatedly. */
  constructor({ socket, viewer, limits, metrics, log }: ViewerSocketOptions, release: () => void) {
    this.viewer = viewer;
    this.#socket = socket;
    this.#limits = limits;
    this.#metrics = metrics;
    this.#release = release;
    socket.on("pong", () => {
      this.#missedPings = 0;
    });
    // The close event reports why a connection ended.
    socket.on("error", (err) => log.debug({ err }, "live socket failed"));
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  isReady(): boolean {
    if (!this.isOpen) return false;
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
    if (this.isOpen) this.#socket.send(frame);
  }

  /** Pings; ends a connection that left two pings unanswered. */
  beat(): void {
    if (this.#missedPings >= MAX_MISSED_PINGS) {
      this.terminate();
      return;
    }
    this.#missedPings += 1;
    if (this.isOpen) this.#socket.ping();
  }

  /** Ends the connection if the viewer has been signed out. */
  async checkSignIn(): Promise<void> {
    if (!(await this.viewer.isStillSignedIn()))
      this.end(CLOSE.signedOut, "you are signed out; sign in again");
  }

  /** Closes with a code and a sentence; work for the viewer ends immediately. */
  end(code: number, reason: string): void {
    this.#release();
    if (!this.isOpen) return;
    this.#metrics.closed.inc({ code: String(code) });
    const fits = Buffer.byteLength(reason) <= MAX_REASON_BYTES;
    this.#socket.close(code, fits ? reason : reason.slice(0, SAFE_REASON_LENGTH).toWellFormed());
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
