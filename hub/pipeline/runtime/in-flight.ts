/** Bounds the data between the log and the sink: the reader waits here. */

/** A single message above the limit passes when nothing else is in flight. */
export class InFlight {
  readonly #limitBytes: number;
  readonly #limitMessages: number;
  #bytes = 0;
  #messages = 0;
  #wake: PromiseWithResolvers<void> | undefined;

  constructor(limitBytes: number, limitMessages: number) {
    this.#limitBytes = limitBytes;
    this.#limitMessages = limitMessages;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get messages(): number {
    return this.#messages;
  }

  /** Takes capacity for a message; resolves when there is enough, or with false when `signal` is aborted. One caller at a time. */
  async acquire(bytes: number, signal: AbortSignal): Promise<boolean> {
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

  release(bytes: number): void {
    this.#bytes -= bytes;
    this.#messages--;
    this.#wake?.resolve();
    this.#wake = undefined;
  }

  #isFull(bytes: number): boolean {
    if (this.#messages === 0) return false;
    return this.#messages >= this.#limitMessages || this.#bytes + bytes > this.#limitBytes;
  }
}
