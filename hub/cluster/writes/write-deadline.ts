/** The time that a write may take altogether: every wait within it ends with it. */

import { AppError } from "#proto/kit/errors.ts";

/** Longest time that a write may ask for. */
const LONGEST_WAIT_MS = 10 * 60_000;

export class WriteDeadline {
  /** Aborted with a TimeoutError when the time is over, or as the request's signal. */
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor({ timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal }) {
    this.signal = AbortSignal.any([signal, this.#over.signal]);
    this.#timer = setTimeout(() => {
      this.#over.abort(new DOMException(`nothing within ${timeoutMs} ms`, "TimeoutError"));
    }, timeoutMs);
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Resolves as `work` does. Throws timeout or cancelled when it is given up; the work itself continues. */
  async within<T>(work: Promise<T>): Promise<T> {
    const given = Promise.withResolvers<never>();
    const giveUp = (): void => given.reject(this.#reason());
    if (this.signal.aborted) giveUp();
    else this.signal.addEventListener("abort", giveUp, { once: true });
    try {
      return await Promise.race([work, given.promise]);
    } finally {
      this.signal.removeEventListener("abort", giveUp);
    }
  }

  /** Must be called in the end. */
  end(): void {
    clearTimeout(this.#timer);
  }

  #reason(): AppError {
    if (!this.isOver) return new AppError("cancelled", "the write was given up by its client");
    const text =
      "the index's metadata could not be read or changed in time; nothing was written, send it again";
    return new AppError("timeout", text, { cause: this.#over.signal.reason });
  }
}

/** Returns what was asked for with its timeout limited to the longest wait. */
export function withinReason<T extends { readonly timeoutMs: number }>(given: T): T {
  return { ...given, timeoutMs: Math.min(Math.max(given.timeoutMs, 0), LONGEST_WAIT_MS) };
}
