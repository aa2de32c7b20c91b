/** Waits between tries: exponential, with full jitter, never longer than a cap. */

export interface BackoffOptions {
  /** First ceiling, ms. */
  readonly firstMs: number;
  /** Highest ceiling, ms. */
  readonly capMs: number;
}

/** Counts failed tries and returns how long to wait before the next. */
export class Backoff {
  readonly #options: BackoffOptions;
  #tries = 0;

  constructor(options: BackoffOptions) {
    this.#options = options;
  }

  /** Tries since the last reset. */
  get tries(): number {
    return this.#tries;
  }

  /** Returns the next wait, between half the ceiling and the ceiling, ms. */
  next(): number {
    const ceiling = Math.min(this.#options.capMs, this.#options.firstMs * 2 ** Math.min(this.#tries, 30));
    this.#tries++;
    return ceiling / 2 + Math.random() * (ceiling / 2);
  }

  reset(): void {
    this.#tries = 0;
  }
}
