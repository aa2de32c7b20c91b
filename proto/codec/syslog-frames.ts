/** Ends of messages of syslog that have no octet count (RFC 6587 section 3.4.2). */

const NEWLINE = 0x0a;
const PRIORITY_START = 0x3c;

/**
 * Finds the ends in a piece of a connection: newlines, and the zero bytes that some senders write instead, such as
 * Python's SysLogHandler. A zero byte is an end only before the next message or where nothing has come after it yet;
 * else it is text.
 */
export class FrameEnds {
  readonly #bytes: Buffer;
  /** The next newline, or the length where there is none. It is kept so that many messages are cut in linear time. */
  #newline = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Returns the offset of the end byte of the message at `from`, -1 if it isn't here. `from` must not decrease from
   * call to call.
   */
  next(from: number): number {
    const bytes = this.#bytes;
    if (this.#newline < from) {
      const newline = bytes.indexOf(NEWLINE, from);
      this.#newline = newline < 0 ? bytes.length : newline;
    }
    const line = bytes.subarray(from, this.#newline);
    for (let zero = line.indexOf(0); zero >= 0; zero = line.indexOf(0, zero + 1)) {
      const next = bytes[from + zero + 1];
      if (next === undefined || next === PRIORITY_START) return from + zero;
    }
    return this.#newline === bytes.length ? -1 : this.#newline;
  }
}
