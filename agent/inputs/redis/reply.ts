/** Reads replies of the Redis protocol, version 2 (https://redis.io/docs/latest/develop/reference/protocol-spec). */

import { addPart } from "#proto/kit/byte-parts.ts";

/** An error reply, as a value: one command of many may fail. */
export class ReplyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ReplyError";
  }
}

/** A reply; texts are bytes as they came. */
export type Reply = Buffer | number | null | ReplyError | Reply[];

const LINE_END = Buffer.from("\r\n");
const PLUS = 0x2b;
const MINUS = 0x2d;
const COLON = 0x3a;
const DOLLAR = 0x24;
const STAR = 0x2a;

/** Longest reply that is kept, bytes; a value of 512 MB, which the server allows, isn't a log line. */
const REPLY_BYTES_MAX = 64 * 1_024 * 1_024;
const DEPTH_MAX = 8;
/** Longest line of the protocol: a number, a status, an error. */
const LINE_BYTES_MAX = 65_536;

const MORE = Symbol("more");

/** Assembles replies from the chunks of a connection. */
export class ReplyReader {
  #bytes: Buffer = Buffer.alloc(0);
  #at = 0;
  /** Bytes needed before another try makes sense: a long value isn't parsed again for each chunk. */
  #wanted = 0;
  #chunks: Uint8Array[] = [];
  #length = 0;

  /** Takes a chunk and returns the replies that are complete now. Throws for invalid or too long ones. */
  push(chunk: Buffer): Reply[] {
    addPart(this.#chunks, chunk);
    this.#length += chunk.length;
    if (this.#length > REPLY_BYTES_MAX) throw new Error("a reply is longer than 64 MB");
    if (this.#length < this.#wanted) return [];
    this.#bytes = Buffer.concat(this.#chunks);
    const replies: Reply[] = [];
    this.#wanted = 0;
    for (;;) {
      const start = this.#at;
      const reply = this.#read(0);
      if (reply === MORE) {
        this.#at = start;
        break;
      }
      replies.push(reply);
    }
    this.#bytes = this.#bytes.subarray(this.#at);
    this.#wanted = Math.max(0, this.#wanted - this.#at);
    this.#at = 0;
    this.#chunks = this.#bytes.length === 0 ? [] : [this.#bytes];
    this.#length = this.#bytes.length;
    return replies;
  }

  #read(depth: number): Reply | typeof MORE {
    if (depth > DEPTH_MAX) throw new Error("a reply is nested too deeply");
    const line = this.#line();
    if (line === MORE) return MORE;
    const text = line.toString("latin1", 1);
    switch (line[0]) {
      case PLUS:
        return Buffer.from(line.subarray(1));
      case MINUS:
        return new ReplyError(line.toString("utf8", 1));
      case COLON:
        return count(text);
      case DOLLAR:
        return this.#bulk(count(text));
      case STAR:
        return this.#array(count(text), depth);
      default:
        throw new Error("the server doesn't speak the Redis protocol");
    }
  }

  #bulk(length: number): Reply | typeof MORE {
    if (length < 0) return null;
    const end = this.#at + length;
    if (this.#bytes.length < end + LINE_END.length) {
      this.#wanted = end + LINE_END.length;
      return MORE;
    }
    const value = Buffer.from(this.#bytes.subarray(this.#at, end));
    this.#at = end + LINE_END.length;
    return value;
  }

  #array(length: number, depth: number): Reply | typeof MORE {
    if (length < 0) return null;
    const values: Reply[] = [];
    for (let index = 0; index < length; index++) {
      const value = this.#read(depth + 1);
      if (value === MORE) return MORE;
      values.push(value);
    }
    return values;
  }

  #line(): Buffer | typeof MORE {
    const end = this.#bytes.indexOf(LINE_END, this.#at);
    if (end < 0) {
      if (this.#bytes.length - this.#at > LINE_BYTES_MAX) throw new Error("a line of a reply is too long");
      return MORE;
    }
    const line = this.#bytes.subarray(this.#at, end);
    this.#at = end + LINE_END.length;
    return line;
  }
}

function count(text: string): number {
  const value = Number(text);
  if (text === "" || !Number.isSafeInteger(value)) throw new Error(`"${text}" isn't a length of a reply`);
  return value;
}
