/** What carries frames between the front thread and a host: a port to a thread of this process. */

import type { MessagePort } from "node:worker_threads";

/** A frame on its way: its bytes (HostFrame) and the binary data that follows it. */
export interface Packet {
  readonly frame: Uint8Array;
  readonly parts: readonly Uint8Array[];
}

/** An ordered way for packets in both directions. */
export interface Channel {
  /** `handsOver`: the memory of the parts goes along and is empty here from now on; else they are copied. */
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

/** Returns bytes that have their memory to themselves: a post would send all of the memory that they are a part of. */
function ownMemory(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength;
  return isWhole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
