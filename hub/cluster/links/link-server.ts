/** The answering end of links: the requests of other hubs that connected to this one's `transport.port`. */

import type { TLSSocket } from "node:tls";
import { toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import { MIB } from "#proto/kit/units.ts";
import type { HubAnswer } from "./hub-transport.ts";
import { type Frame, FrameKind, FrameReader, unpackRequest, writeFrame } from "./link-frames.ts";

/** A caller that sends nothing for this long is gone: it pings every second. */
const IDLE_MS = 15_000;
/** Above these nothing more is read from a link until answers have been sent: the caller sends or reads too slowly. */
const MAX_OPEN = 1_024;
const MAX_OPEN_BYTES = 32 * MIB;
const MAX_UNSENT_BYTES = 32 * MIB;

/** Requests of one link without an answer yet. */
interface Open {
  count: number;
  bytes: number;
}

export class LinkServer {
  readonly #node: string;
  readonly #log: Logger;
  readonly #served = new Map<string, HubAnswer>();
  readonly #sockets = new Set<TLSSocket>();
  #isClosed = false;

  /** `node`: id of this hub. */
  constructor(node: string, log: Logger) {
    this.#node = node;
    this.#log = log;
  }

  /** Links of other hubs to this one. */
  get count(): number {
    return this.#sockets.size;
  }

  /** Answers requests to a subject until the returned function is called. */
  serve(subject: string, answer: HubAnswer): () => void {
    this.#served.set(subject, answer);
    return () => this.#served.delete(subject);
  }

  /** Takes a connection whose other end has proved that it has the secret. */
  accept(socket: TLSSocket): void {
    if (this.#isClosed) {
      socket.destroy();
      return;
    }
    this.#sockets.add(socket);
    const open: Open = { count: 0, bytes: 0 };
    const reader = new FrameReader((frame) => this.#take(socket, open, frame));
    socket.setNoDelay(true);
    socket.setTimeout(IDLE_MS, () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("drain", () => throttle(socket, open));
    socket.on("data", (chunk: Buffer) => {
      try {
        reader.push(chunk);
      } catch (error) {
        this.#log.warn({ err: toAppError(error) }, "a link of another hub is closed");
        socket.destroy();
      }
    });
    writeFrame(socket, FrameKind.HELLO, 0, Buffer.from(this.#node));
  }

  /** Ends all links; further ones are refused. */
  close(): void {
    this.#isClosed = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  #take(socket: TLSSocket, open: Open, { kind, id, data }: Frame): void {
    if (kind === FrameKind.PING) writeFrame(socket, FrameKind.PONG);
    else if (kind === FrameKind.REQUEST) void this.#answer(socket, open, id, data);
  }

  async #answer(socket: TLSSocket, open: Open, id: number, data: Buffer): Promise<void> {
    const { subject, message } = unpackRequest(data);
    const answer = this.#served.get(subject);
    if (answer === undefined) {
      writeFrame(socket, FrameKind.UNSERVED, id);
      return;
    }
    open.count++;
    open.bytes += data.length;
    throttle(socket, open);
    try {
      const answered = await answer({ data: message });
      if (!socket.destroyed) writeFrame(socket, FrameKind.ANSWER, id, answered);
    } catch (error) {
      this.#log.error({ err: error, subject }, "a request of another hub could not be answered");
    }
    open.count--;
    open.bytes -= data.length;
    throttle(socket, open);
  }
}

/** Stops or continues reading. */
function throttle(socket: TLSSocket, { count, bytes }: Open): void {
  const isFull = count > MAX_OPEN || bytes > MAX_OPEN_BYTES || socket.writableLength > MAX_UNSENT_BYTES;
  if (isFull) socket.pause();
  else if (socket.isPaused()) socket.resume();
}
