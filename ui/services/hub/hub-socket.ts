/**
 * The tab's connection to the hub: connects, detects a hub that doesn't answer, and reconnects with growing pauses. Its
 * listeners handle the messages.
 */

import { type ClientMessage, FINAL_CLOSES, type HubMessage, LIVE_PATH, LIVE_PROTOCOL } from "#proto/live.ts";

/**
 * `silent`: open, but nothing arrives; `http`: no socket was ever opened, for example because of a proxy; `ended`: the
 * hub closed it permanently.
 */
export type SocketState = "idle" | "connecting" | "open" | "silent" | "waiting" | "http" | "ended";

/** The required part of a browser's WebSocket. */
export type SocketLike = Pick<WebSocket, "send" | "close" | "readyState"> & {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
};

export interface SocketListener {
  readonly onOpen?: () => void;
  /** `body`: what follows the message's line; undefined if nothing does. */
  readonly onMessage?: (message: HubMessage, body: string | undefined) => void;
  /** The connection ended, or could not be opened. */
  readonly onClose?: (code: number, reason: string) => void;
  readonly onState?: (state: SocketState) => void;
}

const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 15_000;
/** Interval of the pings, and of the checks whether they were answered. */
const PING_MS = 1_000;
/** A hub that answers nothing for this long is shown as silent. */
export const SILENT_AFTER_MS = 3_000;
/** After this many failures in a row without any success a proxy is taken to let no socket through. */
const BLOCKED_AFTER = 3;
/** Larger messages are refused by the hub, whose limit counts bytes. */
const MAX_MESSAGE_CHARACTERS = 20_000;
const OPEN = 1;

export class HubSocket {
  readonly #connect: () => SocketLike;
  /** Replaced at each change: a listener that is added during a call isn't called in it. */
  #listeners: readonly SocketListener[] = [];
  #socket: SocketLike | undefined;
  #state: SocketState = "idle";
  #failures = 0;
  #hasOpened = false;
  #retryAfterMs = 0;
  #retryTimer: ReturnType<typeof setTimeout> | undefined;
  #pingTimer: ReturnType<typeof setInterval> | undefined;
  /** When the oldest ping without an answer was sent; undefined: none is. */
  #askedMs: number | undefined;

  constructor(connect: () => SocketLike = connectHere) {
    this.#connect = connect;
  }

  get state(): SocketState {
    return this.#state;
  }

  get isOpen(): boolean {
    return this.#socket?.readyState === OPEN;
  }

  /** Calls a listener from now on; returns a function that ends it. */
  listen(listener: SocketListener): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((one) => one !== listener);
    };
  }

  /** Dials unless it is connected or about to be; after the hub has ended it only with `again`, at a user's wish. */
  start(again = false): void {
    if (this.#socket !== undefined || (this.#state === "ended" && !again)) return;
    clearTimeout(this.#retryTimer);
    this.#dial();
  }

  /** Returns true if a message was small enough and the socket open. */
  send(message: ClientMessage): boolean {
    const text = JSON.stringify(message);
    if (this.#socket?.readyState !== OPEN || text.length > MAX_MESSAGE_CHARACTERS) return false;
    this.#socket.send(text);
    return true;
  }

  /** Closes; `start` dials again. */
  stop(): void {
    clearTimeout(this.#retryTimer);
    clearInterval(this.#pingTimer);
    const socket = this.#socket;
    this.#socket = undefined;
    if (socket !== undefined) {
      socket.onopen = socket.onmessage = socket.onclose = null;
      socket.close(1000);
    }
    this.#setState("idle");
  }

  #dial(): void {
    if (this.#state !== "http") this.#setState("connecting");
    const socket = this.#connect();
    this.#socket = socket;
    socket.onopen = () => {
      this.#pingTimer = setInterval(() => this.#ping(), PING_MS);
      for (const { onOpen } of this.#listeners) onOpen?.();
    };
    socket.onmessage = ({ data }) => this.#receive(String(data));
    socket.onclose = ({ code, reason }) => this.#closed(code, reason);
  }

  #receive(text: string): void {
    this.#askedMs = undefined;
    const cut = text.indexOf("\n");
    const message = JSON.parse(cut < 0 ? text : text.slice(0, cut)) as HubMessage;
    if (message.t === "welcome") {
      this.#failures = 0;
      this.#hasOpened = true;
    }
    if (message.t === "bye") this.#retryAfterMs = message.retryAfterMs;
    this.#setState("open");
    const body = cut < 0 ? undefined : text.slice(cut + 1);
    for (const { onMessage } of this.#listeners) onMessage?.(message, body);
  }

  #ping(): void {
    const nowMs = performance.now();
    if (this.#askedMs === undefined) {
      this.#askedMs = nowMs;
      this.send({ t: "ping", n: 1 });
    } else if (nowMs - this.#askedMs >= SILENT_AFTER_MS - PING_MS) this.#setState("silent");
  }

  #closed(code: number, reason: string): void {
    clearInterval(this.#pingTimer);
    this.#socket = undefined;
    this.#askedMs = undefined;
    this.#failures += 1;
    const waitMs = Math.max(
      this.#retryAfterMs,
      Math.random() * Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#failures),
    );
    this.#retryAfterMs = 0;
    const isFinal = FINAL_CLOSES.has(code);
    const isBlocked = !this.#hasOpened && this.#failures >= BLOCKED_AFTER;
    this.#setState(isFinal ? "ended" : isBlocked ? "http" : "waiting");
    if (!isFinal) this.#retryTimer = setTimeout(() => this.#dial(), waitMs);
    for (const { onClose } of this.#listeners) onClose?.(code, reason);
  }

  #setState(state: SocketState): void {
    if (state === this.#state) return;
    this.#state = state;
    for (const { onState } of this.#listeners) onState?.(state);
  }
}

function connectHere(): SocketLike {
  return new WebSocket(
    `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${LIVE_PATH}`,
    LIVE_PROTOCOL,
  );
}
