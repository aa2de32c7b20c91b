/** One tail over the tab's connection: credit, reconnects with growing pauses, and resuming after an interruption. */

import { msg, str } from "@lit/localize";
import {
  type ClientMessage,
  type Cursor,
  FINAL_CLOSES,
  type HubMessage,
  type LiveError,
  type Row,
  type RowSource,
  START_CREDIT_ROWS,
  type TailGap,
  type TailRows,
  type TailStats,
  UsedCredit,
} from "#proto/live.ts";
import type { TailSocket, TailTransport } from "./tail-channel.ts";
import { RecentKeys } from "./tail-ring.ts";

export interface TailRequest {
  readonly query: string;
  readonly index: readonly string[];
  /** Lines a second at most; undefined: the hub's default. */
  readonly maxRate?: number | undefined;
}

/** A line as it arrived. */
export interface TailLine {
  readonly row: Row;
  readonly source: RowSource;
}

export type TailState =
  | { readonly name: "connecting" }
  | { readonly name: "open" }
  /** The connection broke; the next try is at `retryAtMs`, wall time. */
  | { readonly name: "waiting"; readonly retryAtMs: number; readonly reason: string }
  /** The hub ended it, and trying again would end the same. */
  | { readonly name: "ended"; readonly reason: string };

export interface TailListener {
  onLines(lines: readonly TailLine[]): void;
  onGap(gap: TailGap): void;
  onStats(stats: TailStats): void;
  onState(state: TailState): void;
  /** The hub refused the filter. */
  onRefused(error: LiveError): void;
}

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;
/** Lines remembered, as a line can come twice around a reconnect. */
const REMEMBERED_LINES = 2_000;

export class TailClient {
  readonly #transport: TailTransport;
  readonly #listener: TailListener;
  readonly #seen = new RecentKeys(REMEMBERED_LINES);
  #socket: TailSocket | undefined;
  #request: TailRequest | undefined;
  #cursor: Cursor | undefined;
  readonly #credit = new UsedCredit();
  #failures = 0;
  /** Another one for each tail: lines of the tail before it may still be in flight. */
  #sub = 0;
  #isPaused = false;
  #retryAfterMs = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(listener: TailListener, transport: TailTransport) {
    this.#listener = listener;
    this.#transport = transport;
  }

  /** Begins, or starts again with another filter. */
  start(request: TailRequest): void {
    const last = this.#sub;
    this.#sub = this.#transport.nextSub();
    this.#request = request;
    this.#cursor = undefined;
    this.#isPaused = false;
    this.#seen.clear();
    if (this.#socket?.isOpen === true) {
      this.#send({ t: "tail.close", sub: last });
      this.#open();
    } else if (this.#socket === undefined) this.#dial();
  }

  /** Ends; `start` begins again. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#request = undefined;
    this.#send({ t: "tail.close", sub: this.#sub });
    this.#socket?.close();
    this.#socket = undefined;
  }

  /** Takes note of lines that came another way; returns those that were new. */
  remember(lines: readonly TailLine[]): TailLine[] {
    return lines.filter(({ row, source }) => this.#seen.add(`${source[0]}/${row[0]}`));
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#send({ t: "tail.pause", sub: this.#sub });
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#send({ t: "tail.resume", sub: this.#sub });
  }

  /** Tries at once where it waits: the network is back, the page is in sight. */
  retryNow(): void {
    if (this.#socket !== undefined || this.#request === undefined) return;
    clearTimeout(this.#timer);
    this.#dial();
  }

  #dial(): void {
    this.#listener.onState({ name: "connecting" });
    const socket = this.#transport.connect();
    this.#socket = socket;
    socket.onopen = () => this.#open();
    socket.onmessage = (message) => this.#receive(message);
    socket.onclose = (code, reason) => this.#closed(code, reason);
  }

  #open(): void {
    if (this.#request === undefined) return;
    const { query, index, maxRate } = this.#request;
    this.#credit.reset();
    this.#send({
      t: "tail.open",
      sub: this.#sub,
      index: [...index],
      q: query,
      credit: START_CREDIT_ROWS,
      ...(maxRate === undefined ? {} : { maxRate }),
      ...(this.#cursor === undefined ? {} : { from: this.#cursor }),
    });
    if (this.#isPaused) this.#send({ t: "tail.pause", sub: this.#sub });
  }

  #receive(message: HubMessage): void {
    if ("sub" in message && message.sub !== undefined && message.sub !== this.#sub) return;
    switch (message.t) {
      case "tail.opened":
        this.#failures = 0;
        this.#cursor ??= message.cursor;
        this.#listener.onState({ name: "open" });
        break;
      case "tail.rows":
        this.#takeRows(message);
        break;
      case "tail.gap":
        this.#listener.onGap(message);
        break;
      case "tail.stats":
        this.#listener.onStats(message);
        break;
      case "error":
        this.#listener.onRefused(message);
        break;
      case "bye":
        this.#retryAfterMs = message.retryAfterMs;
        break;
      default:
    }
  }

  #takeRows({ srcs, rows, cursor }: TailRows): void {
    this.#cursor = cursor;
    const lines = this.remember(rows.map((row) => ({ row, source: srcs[row[3]] ?? ["", "", ""] })));
    if (lines.length > 0) this.#listener.onLines(lines);
    const add = this.#credit.take(rows.length);
    if (add > 0) this.#send({ t: "tail.credit", sub: this.#sub, add });
  }

  #closed(code: number, reason: string): void {
    this.#socket = undefined;
    const text =
      reason ||
      (code === 1006
        ? msg("The connection to the hub broke")
        : msg(str`The hub closed the connection (${code})`));
    if (FINAL_CLOSES.has(code)) {
      this.#request = undefined;
      this.#listener.onState({ name: "ended", reason: text });
      return;
    }
    const waitMs = Math.max(
      this.#retryAfterMs,
      Math.random() * Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures),
    );
    this.#failures += 1;
    this.#retryAfterMs = 0;
    this.#listener.onState({ name: "waiting", retryAtMs: Date.now() + waitMs, reason: text });
    this.#timer = setTimeout(() => this.#dial(), waitMs);
  }

  #send(message: ClientMessage): void {
    if (this.#socket?.isOpen === true) this.#socket.send(message);
  }
}
