/** Cuts a byte stream into messages: at newlines, or by octet counts (RFC 6587 section 3.4.1). */

import { addPart } from "#proto/kit/byte-parts.ts";

const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const DIGIT_ZERO = 0x30;
const DIGIT_NINE = 0x39;
/** "MSG-LEN SP": no message has a length of more digits. */
const COUNT_DIGITS_MAX = 8;

export interface FramerOptions {
  /** Longest message, bytes; longer ones are split. */
  readonly maxBytes: number;
  /** True: a message that begins with a digit begins with its octet count. */
  readonly octetCounting: boolean;
}

/** Keeps the incomplete message of a stream: at most `maxBytes` and one chunk. */
export class Framer {
  readonly #options: FramerOptions;
  #rest: Uint8Array[] = [];
  #restBytes = 0;
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
    if (this.#restBytes + chunk.length < least && !(isLine && chunk.includes(NEWLINE))) {
      this.#keep(chunk);
      return;
    }
    let bytes = this.#taken(chunk);
    for (let frame = this.#next(bytes); frame !== null; frame = this.#next(bytes)) {
      if (frame.message.length > 0) yield frame.message;
      bytes = bytes.subarray(frame.end);
    }
    if (bytes.length > 0) this.#keep(bytes);
  }

  /** Yields the rest at the end of the stream. */
  *end(): Generator<Buffer> {
    const rest = this.#taken(Buffer.alloc(0));
    if (rest.length > 0) yield withoutLineEnd(rest);
  }

  /** A copy, as the chunk is the socket's. */
  #keep(bytes: Buffer): void {
    addPart(this.#rest, Buffer.from(bytes));
    this.#restBytes += bytes.length;
  }

  /** Takes the rest, and `more` behind it. */
  #taken(more: Buffer): Buffer {
    const whole = this.#restBytes === 0 ? more : Buffer.concat([...this.#rest, more]);
    this.#rest = [];
    this.#restBytes = 0;
    return whole;
  }

  #next(bytes: Buffer): { message: Buffer; end: number } | null {
    const { maxBytes, octetCounting } = this.#options;
    this.#awaited = { bytes: 0, isLine: false };
    if (this.#countedBytes > 0) return this.#nextCounted(bytes);
    const count = octetCounting ? octetCount(bytes, maxBytes) : null;
    if (count === "more") return null;
    if (count !== null) {
      this.#countedBytes = count.length;
      return { message: bytes.subarray(0, 0), end: count.start };
    }
    const newline = bytes.indexOf(NEWLINE);
    if (newline >= 0 && newline <= maxBytes)
      return { message: withoutLineEnd(bytes.subarray(0, newline)), end: newline + 1 };
    if (bytes.length > maxBytes) return { message: bytes.subarray(0, maxBytes), end: maxBytes };
    if (bytes.length > 0) this.#awaited = { bytes: maxBytes + 1, isLine: true };
    return null;
  }

  /** Returns the next piece of a counted message; a long one has several. */
  #nextCounted(bytes: Buffer): { message: Buffer; end: number } | null {
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
