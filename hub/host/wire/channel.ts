/**
 * Connects the front thread and a host: the channel that carries frames, a port to a thread of this process, and the shared
 * memory in which the front sees whether the thread is alive.
 */

import type { MessagePort } from "node:worker_threads";

/** In words of 32 bits. */
export const BUSY_WORDS = 3;
/** Counts the turns of the thread's event loop, several a second. */
export const TURNS = 0;
/** 1 during a commit, which may wait long for a slow disk. */
export const COMMITTING = 1;
/** 1 while a few documents are in transit to the thread: searches yield it to them. */
export const DOCUMENTS = 2;

/** A frame in transit: its bytes (HostFrame) and the binary data that follows it. */
export interface Packet {
  readonly frame: Uint8Array;
  readonly parts: readonly Uint8Array[];
}

/** An ordered way for packets in both directions. */
export interface Channel {
  /** `handsOver`: the memory of the parts is transferred, and is empty here from now on; else the parts are copied. */
  send(packet: Packet, handsOver: boolean): void;
  /** Called once, before anything arrives. */
  receive(listener: (packet: Packet) => void): void;
  close(): void;
}

/** Returns the channel over a port; a worker's `parentPort` and a Worker are ports too. */
export function portChannel(
  port: Pick<MessagePort, "postMessage"> & {
    on(event: "message", listener: (message: Packet) => void): void;
  },
  close: () => void,
): Channel {
  return {
    send({ frame, parts }, handsOver) {
      const own = ownMemory(frame);
      const given = parts.map((part) => (handsOver ? ownMemory(part) : new Uint8Array(part)));
      port.postMessage(
        { frame: own, parts: given } satisfies Packet,
        [own, ...given].map(({ buffer }) => buffer),
      );
    },
    receive: (listener) => port.on("message", listener),
    close,
  };
}

/** Returns bytes that don't share their memory: a post would send all of the memory that they are part of. */
function ownMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}

/** Returns the shared memory of one thread. */
export function newPulse(): SharedArrayBuffer {
  return new SharedArrayBuffer(BUSY_WORDS * Int32Array.BYTES_PER_ELEMENT);
}
