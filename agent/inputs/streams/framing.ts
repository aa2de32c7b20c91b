/** Cuts a byte stream into messages: at newlines, or by octet counts (RFC 6587 section 3.4.1). */

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

/** Keeps what of a stream is no whole message yet: at most `maxBytes` and one chunk. */
export class Framer {
  readonly #options: FramerOptions;
  #rest: Buffer = Buffer.alloc(0);

  constructor(options: FramerOptions) {
    this.#options = options;
  }

  /** Takes a chunk and yields the messages that are whole now, without their line ends. */
  *push(chunk: Buffer): Generator<Buffer> {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let frame = this.#next(bytes); frame !== null; frame = this.#next(bytes)) {
      if (frame.message.length > 0) yield frame.message;
      bytes = bytes.subarray(frame.end);
    }
    // A copy, as the chunk is the socket's.
    this.#rest = bytes.length === 0 ? bytes : Buffer.from(bytes);
  }

  /** Yields what is left at the end of the stream. */
  *end(): Generator<Buffer> {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    if (rest.length > 0) yield withoutLineEnd(rest);
  }

  #next(bytes: Buffer): { message: Buffer; end: number } | null {
    const { maxBytes, octetCounting } = this.#options;
    const count = octetCounting ? octetCount(bytes) : null;
    if (count === "more") return null;
    if (count !== null) {
      const end = count.start + Math.min(count.length, maxBytes);
      return bytes.length < end ? null : { message: withoutLineEnd(bytes.subarray(count.start, end)), end };
    }
    const newline = bytes.indexOf(NEWLINE);
    if (newline >= 0 && newline <= maxBytes)
      return { message: withoutLineEnd(bytes.subarray(0, newline)), end: newline + 1 };
    return bytes.length > maxBytes ? { message: bytes.subarray(0, maxBytes), end: maxBytes } : null;
  }
}

/** Returns the message's length and where it begins, "more" where the count isn't whole, null if there is none. */
function octetCount(bytes: Buffer): { length: number; start: number } | "more" | null {
  const first = bytes[0];
  if (first === undefined || first <= DIGIT_ZERO || first > DIGIT_NINE) return null;
  let length = 0;
  for (let at = 0; at <= COUNT_DIGITS_MAX; at++) {
    const byte = bytes[at];
    if (byte === undefined) return "more";
    if (byte === SPACE) return { length, start: at + 1 };
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
