/** Bounds the data between the log and the sink: readers wait here, and so do batches that would make more documents. */

/** Documents are usually about four times as large as what they are made of. */
const MADE_PER_BYTE = 4;

/** A single message above the limit passes when nothing else is in flight. */
export class InFlight {
  readonly #limitBytes: number;
  readonly #limitMessages: number;
  #bytes = 0;
  #messages = 0;
  #wake: PromiseWithResolvers<void> | undefined;
  /**
   * The readers that wait, in their order: one with a large message would wait indefinitely behind others with small
   * ones.
   */
  #takers: Promise<unknown> = Promise.resolve();
  #madeBytes = 0;
  /** The batches that wait, in their order. */
  #makers: Promise<void> = Promise.resolve();
  #wakeMaker: (() => void) | undefined;

  constructor(limitBytes: number, limitMessages: number) {
    this.#limitBytes = limitBytes;
    this.#limitMessages = limitMessages;
  }

  /** Of messages, unpacked, and of what was made of them. */
  get bytes(): number {
    return this.#bytes + this.#madeBytes;
  }

  /** Takes capacity for a message; resolves when there is enough, or with false when `signal` is aborted. */
  acquire(bytes: number, signal: AbortSignal): Promise<boolean> {
    const taken = this.#takers.then(() => this.#untilTaken(bytes, signal));
    this.#takers = taken;
    return taken;
  }

  async #untilTaken(bytes: number, signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted && this.#isFull(bytes)) {
      this.#wake = Promise.withResolvers<void>();
      const { resolve } = this.#wake;
      const wake = (): void => resolve();
      signal.addEventListener("abort", wake, { once: true });
      await this.#wake.promise;
      signal.removeEventListener("abort", wake);
    }
    if (signal.aborted) return false;
    this.#bytes += bytes;
    this.#messages++;
    return true;
  }

  /** Counts what was made of a message until it is released: documents and records may be far larger than it. */
  made(bytes: number): void {
    this.#madeBytes += bytes;
  }

  /**
   * Resolves when another batch may be processed, or `signal` is aborted; batches in the order of the calls. What waits to be
   * written is of earlier batches, so it never waits for this one.
   */
  mayMake(signal: AbortSignal): Promise<void> {
    this.#makers = this.#makers.then(() => this.#untilMade(signal));
    return this.#makers;
  }

  async #untilMade(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.#madeBytes > this.#limitBytes * MADE_PER_BYTE) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wake = (): void => resolve();
      this.#wakeMaker = wake;
      signal.addEventListener("abort", wake, { once: true });
      await promise;
      signal.removeEventListener("abort", wake);
    }
  }

  /** `madeBytes`: what was counted as made of the message. */
  release(bytes: number, madeBytes = 0): void {
    this.#bytes -= bytes;
    this.#madeBytes -= madeBytes;
    this.#wakeMaker?.();
    this.#wakeMaker = undefined;
    this.#messages--;
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  #isFull(bytes: number): boolean {
    if (this.#messages === 0) return false;
    return this.#messages >= this.#limitMessages || this.#bytes + bytes > this.#limitBytes;
  }
}
