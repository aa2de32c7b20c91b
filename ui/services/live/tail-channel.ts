/** A tail's share of the tab's connection, which opens and breaks with it. */

import type { ClientMessage, HubMessage } from "#proto/live.ts";
import type { HubSocket } from "#ui/services/hub/hub-socket.ts";

/** A connection as a tail needs it: it opens once and closes once. */
export interface TailSocket {
  readonly isOpen: boolean;
  onopen: (() => void) | undefined;
  onmessage: ((message: HubMessage) => void) | undefined;
  onclose: ((code: number, reason: string) => void) | undefined;
  send(message: ClientMessage): void;
  /** Nothing is called any more. */
  close(): void;
}

/** Where a tail gets its connection, and numbers that no other tail of the tab has. */
export interface TailTransport {
  connect(): TailSocket;
  nextSub(): number;
}

/** Tails of the tab so far. */
let tails = 0;

/** Returns the transport of tails over a connection. */
export function tailsOver(socket: HubSocket): TailTransport {
  return { connect: () => new TailChannel(socket), nextSub: () => ++tails };
}

class TailChannel implements TailSocket {
  onopen: TailSocket["onopen"];
  onmessage: TailSocket["onmessage"];
  onclose: TailSocket["onclose"];
  readonly #socket: HubSocket;
  readonly #unlisten: () => void;
  #state: "connecting" | "open" | "closed" = "connecting";

  constructor(socket: HubSocket) {
    this.#socket = socket;
    this.#unlisten = socket.listen({
      onOpen: () => this.#open(),
      onMessage: (message) => this.onmessage?.(message),
      onClose: (code, reason) => {
        this.close();
        this.onclose?.(code, reason);
      },
    });
    if (socket.isOpen) queueMicrotask(() => this.#open());
    else socket.start(true);
  }

  get isOpen(): boolean {
    return this.#state === "open";
  }

  send(message: ClientMessage): void {
    this.#socket.send(message);
  }

  close(): void {
    this.#unlisten();
    this.#state = "closed";
  }

  #open(): void {
    if (this.#state !== "connecting") return;
    this.#state = "open";
    this.onopen?.();
  }
}
