/** A buffer that grows with the chunks of a body. Memory of the chunks is freed immediately. */

import { freeBytes } from "#proto/kit/free-bytes.ts";

/** An announced length may be false: memory is allocated for this many bytes, or this multiple of what has arrived. */
const TRUSTED_BYTES = 1024 * 1024;
const TRUSTED_TIMES = 8;

const NOTHING = Buffer.alloc(0);

export class GrowingBytes {
  length = 0;
  #bytes: Buffer = NOTHING;
  readonly #announced: number;

  /** `announced`: Content-Length; 0 where there is none. */
  constructor(announced: number) {
    this.#announced = announced;
  }

  /** All bytes so far. Valid until the next `take`. */
  get view(): Buffer {
    return this.#bytes.subarray(0, this.length);
  }

  /** Appends a chunk, whose memory is taken over. */
  take(chunk: Buffer): void {
    if (this.length === 0 && chunk.length >= this.#announced) {
      this.#bytes = chunk;
      this.length = chunk.length;
      return;
    }
    const length = this.length + chunk.length;
    if (length > this.#bytes.length) this.#grow(length);
    this.#bytes.set(chunk, this.length);
    this.length = length;
    freeBytes(chunk);
  }

  #grow(least: number): void {
    const trusted = Math.max(TRUSTED_BYTES, TRUSTED_TIMES * least);
    const isTrusted = this.#announced >= least && this.#announced <= trusted;
    const larger = Buffer.allocUnsafeSlow(isTrusted ? this.#announced : Math.max(least, 2 * this.length));
    larger.set(this.view);
    freeBytes(this.#bytes);
    this.#bytes = larger;
  }
}
