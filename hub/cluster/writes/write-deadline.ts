/** The deadline of a whole write: it ends every wait within the write. */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { WriteOptions } from "./writes.ts";

/** Longest time that a write may request. */
const LONGEST_WAIT_MS = 10 * 60_000;
/** A write that takes no longer doesn't count as waiting: a request may have any number of them. */
const PROMPT_MS = 1_000;

export class WriteDeadline {
  /** Aborted with a TimeoutError when the time is over, or like the request's signal. */
  readonly signal: AbortSignal;
  readonly #over = new AbortController();
  readonly #timer: NodeJS.Timeout;
  readonly #endMs: number;

  constructor({ timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal }) {
    this.signal = AbortSignal.any([signal, this.#over.signal]);
    this.#endMs = performance.now() + timeoutMs;
    this.#timer = setTimeout(() => {
      this.#over.abort(new DOMException(`nothing within ${timeoutMs} ms`, "TimeoutError"));
    }, timeoutMs);
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  /** Time that is left, ms. */
  get leftMs(): number {
    return Math.max(0, this.#endMs - performance.now());
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
      "what the write needs of its index could not be read or changed in time; nothing was written, send it again";
    return new AppError("timeout", text, { cause: this.#over.signal.reason });
  }
}

/** Resolves as `work` does. Throws timeout or cancelled when it is given up; the work itself continues. */
export async function inTime<T>(
  options: Pick<WriteOptions, "timeoutMs" | "signal">,
  work: () => Promise<T>,
): Promise<T> {
  const deadline = new WriteDeadline(options);
  try {
    return await deadline.within(work());
  } finally {
    deadline.end();
  }
}

/** Like `inTime`, but resolves too when the time is over. */
export async function doneOrLate(
  options: Pick<WriteOptions, "timeoutMs" | "signal">,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await inTime(options, work);
  } catch (error) {
    if (toAppError(error).code !== "timeout") throw error;
  }
}

/** Returns the request's options with the timeout limited to the longest wait. */
export function withinReason<T extends { readonly timeoutMs: number }>(given: T): T {
  return { ...given, timeoutMs: Math.min(Math.max(given.timeoutMs, 0), LONGEST_WAIT_MS) };
}

/**
 * The total time for which the writes of one request may wait, as they run one after another: otherwise each could wait
 * for its whole `timeout`. The wait for the request's turn counts, the wait for a refresh doesn't.
 */
export class WritePatience {
  readonly #options: WriteOptions;
  readonly #clock: Clock;
  #leftMs: number;

  constructor(options: WriteOptions, clock: Clock) {
    this.#options = options;
    this.#clock = clock;
    this.#leftMs = options.timeoutMs;
  }

  /** Restores the whole time for the following writes, unless earlier ones have used theirs up. */
  renew(): void {
    if (this.#leftMs >= PROMPT_MS) this.#leftMs = this.#options.timeoutMs;
  }

  /** Resolves as `wait` does, which may take `leftMs`, ms, at least 0. */
  async whileWaiting(wait: (leftMs: number) => Promise<void>): Promise<void> {
    const startedMs = this.#clock.monotonic();
    try {
      await wait(Math.max(0, this.#leftMs));
    } finally {
      this.#spend(this.#clock.monotonic() - startedMs);
    }
  }

  /**
   * Resolves as `write` does, which gets the remaining time. Throws timeout if none is left: nothing was tried then.
   */
  async during<T>(write: (options: WriteOptions) => Promise<T>): Promise<T> {
    if (this.#leftMs < PROMPT_MS) {
      const text =
        "the writes before this one took all the time that the request had; it was not tried, send it again";
      throw new AppError("timeout", text);
    }
    const startedMs = this.#clock.monotonic();
    let writtenMs: number | undefined;
    const onWritten = (): void => {
      writtenMs ??= this.#clock.monotonic();
      this.#options.onWritten?.();
    };
    try {
      return await write({ ...this.#options, timeoutMs: this.#leftMs, onWritten });
    } finally {
      this.#spend((writtenMs ?? this.#clock.monotonic()) - startedMs);
    }
  }

  #spend(tookMs: number): void {
    if (tookMs > PROMPT_MS) this.#leftMs -= tookMs;
  }
}
