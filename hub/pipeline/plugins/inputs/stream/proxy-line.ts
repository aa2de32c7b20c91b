/** The line with which a load balancer says whose connection it hands on: the PROXY protocol, version 1. */

import { AppError } from "#proto/kit/errors.ts";

/** Longest line that the protocol has, bytes. */
const MAX_LINE_BYTES = 107;

/** Who sends. */
export interface Sender {
  readonly ip: string;
  readonly port: number;
}

/** Takes the line off the beginning of a connection. */
export class ProxyLine {
  #head: Buffer = Buffer.alloc(0);
  #sender: Sender;
  #isRead: boolean;

  /** `peer`: who the connection is from; `isExpected` false: there is no line, and all bytes are the sender's. */
  constructor(peer: Sender, isExpected: boolean) {
    this.#sender = peer;
    this.#isRead = !isExpected;
  }

  /** As the line says, or the peer. */
  get sender(): Sender {
    return this.#sender;
  }

  /** Returns what of `chunk` is behind the line; undefined where the line goes on. Throws parsing where there is none. */
  take(chunk: Buffer): Buffer | undefined {
    if (this.#isRead) return chunk;
    this.#head = Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf("\r\n");
    if (end < 0 && this.#head.length < MAX_LINE_BYTES) return undefined;
    this.#read(this.#head.toString("latin1", 0, Math.max(end, 0)));
    this.#isRead = true;
    return this.#head.subarray(end + 2);
  }

  /** `PROXY TCP4 192.0.2.1 198.51.100.1 5678 443` */
  #read(line: string): void {
    const [word, family, ip, , port] = line.split(" ");
    if (word !== "PROXY")
      throw new AppError("parsing", "the connection doesn't begin with a line of the PROXY protocol");
    if (family !== "UNKNOWN" && ip !== undefined) this.#sender = { ip, port: Number(port ?? 0) };
  }
}
