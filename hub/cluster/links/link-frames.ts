/** Frames on a link, the direct connection of two hubs. README.md has the format. */

import type { Duplex } from "node:stream";
import { AppError } from "#proto/kit/errors.ts";
import { MIB } from "#proto/kit/units.ts";

/** Maximum bytes of a frame after its length: above the largest message of hubs, 7 MiB. A longer one ends the link. */
export const MAX_FRAME_BYTES = 8 * MIB;

/** `hello` is the first frame of the called hub. `unserved` answers a request to a subject that the hub doesn't serve. */
export const FrameKind = { HELLO: 1, REQUEST: 2, ANSWER: 3, UNSERVED: 4, PING: 5, PONG: 6 } as const;

export type FrameKind = (typeof FrameKind)[keyof typeof FrameKind];

export interface Frame {
  readonly kind: number;
  /** Number of the request; 0 for frames of none. */
  readonly id: number;
  readonly data: Buffer;
}

const NOTHING = new Uint8Array();
const LENGTH_BYTES = 4;
/** Kind and id. */
const FIXED_BYTES = 5;
const HEAD_BYTES = LENGTH_BYTES + FIXED_BYTES;
/** Longer data isn't copied into one buffer with its header. */
const COPIED_BYTES = 16 * 1_024;

/** Writes a frame. `data` must not change afterwards. */
export function writeFrame(socket: Duplex, kind: FrameKind, id = 0, data: Uint8Array = NOTHING): void {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  head.writeUInt32BE(FIXED_BYTES + data.length);
  head.writeUInt8(kind, LENGTH_BYTES);
  head.writeUInt32BE(id, LENGTH_BYTES + 1);
  if (data.length <= COPIED_BYTES) {
    socket.write(Buffer.concat([head, data]));
    return;
  }
  socket.cork();
  socket.write(head);
  socket.write(data);
  socket.uncork();
}

/** Returns the data of a request: a byte with the length of the subject, the subject, the message. */
export function packRequest(subject: string, message: Uint8Array): Buffer {
  const name = Buffer.from(subject, "latin1");
  return Buffer.concat([Buffer.of(name.length), name, message]);
}

export function unpackRequest(data: Buffer): { readonly subject: string; readonly message: Buffer } {
  const end = 1 + (data[0] ?? 0);
  return { subject: data.toString("latin1", 1, end), message: data.subarray(end) };
}

/** Cuts a stream of bytes into frames. */
export class FrameReader {
  readonly #take: (frame: Frame) => void;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Bytes until something can be read. */
  #wanted = HEAD_BYTES;

  constructor(take: (frame: Frame) => void) {
    this.#take = take;
  }

  /** Takes the next bytes. Throws data_corrupt if a frame has an impossible length; the reader can't be used any more then. */
  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes < this.#wanted) return;
    const all = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks);
    let at = 0;
    for (;;) {
      this.#wanted = HEAD_BYTES;
      if (all.length - at < HEAD_BYTES) break;
      const length = all.readUInt32BE(at);
      if (length < FIXED_BYTES || length > MAX_FRAME_BYTES)
        throw new AppError("data_corrupt", `a frame of another hub has ${length} bytes`);
      this.#wanted = LENGTH_BYTES + length;
      if (all.length - at < this.#wanted) break;
      const end = at + this.#wanted;
      const id = all.readUInt32BE(at + LENGTH_BYTES + 1);
      this.#take({ kind: all[at + LENGTH_BYTES]!, id, data: all.subarray(at + HEAD_BYTES, end) });
      at = end;
    }
    this.#chunks = at === all.length ? [] : [all.subarray(at)];
    this.#bytes = all.length - at;
  }
}
