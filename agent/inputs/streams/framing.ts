/** Cuts a byte stream into messages: at newlines, or as senders of syslog frame them (RFC 6587 section 3.4). */

import { FrameEnds } from "#proto/codec/syslog-frames.ts";
import { KeptBytes } from "#proto/kit/byte-parts.ts";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
/** "MSG-LEN SP": no message has a length of more digits. */
const COUNT_DIGITS_MAX = 8;

/** A message, and where the bytes after it begin. */
interface Frame {
  readonly message: Buffer;
  readonly end: number;
}

export interface FramerOptions {
  /** Longest message, bytes; longer ones are split. */
  readonly maxBytes: number;
  /** True: a message that begins with a digit begins with its octet count, and others may end with a zero byte. */
  readonly octetCounting: boolean;
}

/** Keeps the incomplete message of a stream: at most `maxBytes` and one chunk. */
export class Framer {
  readonly #options: FramerOptions;
  readonly #rest = new KeptBytes();
  /** The rest isn't parsed again until it has this many bytes, or until a line ends if an end of line is awaited. */
  #awaited = { bytes: 0, isLine: false };
  /** Bytes that the current counted message still has. */
  #countedBytes = 0;

  constructor(options: FramerOptions) {
    this.#options = options;
  }

  /** Takes a chunk and yields the messages that are complete now, without their line ends. */
  *push(chunk: Buffer): Generator<Buffer> {
    const { bytes: least, isLine } = this.#awaited;
    if (this.#rest.length + chunk.length < least && !(isLine && this.#lineEnds(chunk)(0) >= 0)) {
      this.#rest.keep(chunk);
      return;
    }
    const bytes = this.#rest.take(chunk);
    const lineEnd = this.#lineEnds(bytes);
    let at = 0;
    const next = (): Frame | null => this.#next(bytes.subarray(at), () => lineEnd(at) - at);
    for (let frame = next(); frame !== null; frame = next()) {
      if (frame.message.length > 0) yield frame.message;
      at += frame.end;
    }
    if (at < bytes.length) this.#rest.keep(bytes.subarray(at));
  }

  /** Yields the rest at the end of the stream. */
  *end(): Generator<Buffer> {
    const rest = this.#rest.take();
    if (rest.length > 0) yield withoutLineEnd(rest);
  }

  /** Returns a function that finds the next line end at or after a place, -1 if there is none. The place must not decrease. */
  #lineEnds(bytes: Buffer): (from: number) => number {
    if (!this.#options.octetCounting) return (from) => bytes.indexOf(NEWLINE, from);
    const ends = new FrameEnds(bytes);
    return (from) => ends.next(from);
  }

  /** Returns the next message of bytes whose first line ends at `lineEnd()`. */
  #next(bytes: Buffer, lineEnd: () => number): Frame | null {
    const { maxBytes, octetCounting } = this.#options;
    this.#awaited = { bytes: 0, isLine: false };
    if (this.#countedBytes > 0) return this.#nextCounted(bytes);
    const count = octetCounting ? octetCount(bytes, maxBytes) : null;
    if (count === "more") return null;
    if (count !== null) {
      this.#countedBytes = count.length;
      return { message: bytes.subarray(0, 0), end: count.start };
    }
    const end = lineEnd();
    if (end >= 0 && end <= maxBytes) return { message: withoutLineEnd(bytes.subarray(0, end)), end: end + 1 };
    if (bytes.length > maxBytes) return { message: bytes.subarray(0, maxBytes), end: maxBytes };
    if (bytes.length > 0) this.#awaited = { bytes: maxBytes + 1, isLine: true };
    return null;
  }

  /** Returns the next piece of a counted message; a long one has several. */
  #nextCounted(bytes: Buffer): Frame | null {
    const end = Math.min(this.#countedBytes, this.#options.maxBytes);
    if (bytes.length < end) {
      this.#awaited = { bytes: end, isLine: false };
      return null;
    }
    this.#countedBytes -= end;
    const piece = bytes.subarray(0, end);
    return { message: this.#countedBytes === 0 ? withoutLineEnd(piece) : piece, end };
  }
}

/** What follows a longer count than messages may have, where it is one of syslog. */
const PRIORITY_START = 0x3c;

/** Returns the message's length and where it begins, "more" if the count is incomplete, null if there is none. */
function octetCount(bytes: Buffer, maxBytes: number): { length: number; start: number } | "more" | null {
  const first = bytes[0];
  if (first === undefined || first <= DIGIT_ZERO || first > DIGIT_NINE) return null;
  let length = 0;
  for (let at = 0; at <= COUNT_DIGITS_MAX; at++) {
    const byte = bytes[at];
    if (byte === undefined) return "more";
    if (byte === SPACE) {
      if (length <= maxBytes) return { length, start: at + 1 };
      if (at + 1 === bytes.length) return "more";
      return bytes[at + 1] === PRIORITY_START ? { length, start: at + 1 } : null;
    }
    if (byte < DIGIT_ZERO || byte > DIGIT_NINE) return null;
    length = length * 10 + byte - DIGIT_ZERO;
  }
  return null;
}

function withoutLineEnd(message: Buffer): Buffer {
  let end = message.length;
  if (message[end - 1] === NEWLINE) end--;
  if (message[end - 1] === CARRIAGE_RETURN) end--;
  return message.subarray(0, end);
}
