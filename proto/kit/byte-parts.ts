/** Pieces of a body, line or frame that isn't whole yet. */

/** Pieces are joined up to this size: each takes some 400 bytes beside its own, which nobody charges. */
const JOINED_BYTES = 4_096;

/**
 * Adds a piece to those before it. Small ones are joined, each byte a few times, so that a sender of single bytes takes no
 * more memory than its bytes say.
 */
export function addPart(parts: Uint8Array[], part: Uint8Array): void {
  let last = part;
  for (;;) {
    const before = parts.at(-1);
    if (before === undefined || before.length > last.length) break;
    if (before.length + last.length > JOINED_BYTES) break;
    parts.pop();
    last = Buffer.concat([before, last]);
  }
  parts.push(last);
}

/** The bytes of a stream behind its last whole message. */
export class KeptBytes {
  #parts: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Keeps bytes behind those before: a copy, as a chunk is the socket's. */
  keep(bytes: Uint8Array): void {
    addPart(this.#parts, Buffer.from(bytes));
    this.#length += bytes.length;
  }

  /** Returns what is kept and `more` behind it, without a copy if nothing was kept; nothing is kept after it. */
  take(more: Buffer = Buffer.alloc(0)): Buffer {
    const whole = this.#length === 0 ? more : Buffer.concat([...this.#parts, more]);
    this.#parts = [];
    this.#length = 0;
    return whole;
  }
}
