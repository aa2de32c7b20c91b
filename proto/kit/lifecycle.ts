/** Start and stop of parts: in order, in reverse, each with a deadline. */

import type { Clock } from "./clock.ts";
import { AppError } from "./errors.ts";

/**
 * A part with a life. `start` resolves when it works and rejects with nothing left running.
 * `stop` must be safe without a start and when called twice; it resolves when every task of the part has ended.
 */
export interface Component {
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Work that runs beside its owner, a component, from its start until its stop. */
export class BackgroundTask {
  #abort = new AbortController();
  #running: Promise<void> = Promise.resolve();

  /** Aborted from a stop until the next start: what the owner does for the task ends as well. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** `run` returns soon after its signal is aborted, and never rejects. May be called again after a stop. */
  start(run: (signal: AbortSignal) => Promise<void>): void {
    if (this.#abort.signal.aborted) this.#abort = new AbortController();
    this.#running = run(this.#abort.signal);
  }

  /** Calls `run` at once, and again `pauseMs` after each end, until a stop. `run` never rejects. */
  repeat(clock: Clock, pauseMs: number, run: (signal: AbortSignal) => Promise<void>): void {
    this.start(async (signal) => {
      while (!signal.aborted) {
        await run(signal);
        await clock.sleep(pauseMs, signal);
      }
    });
  }

  /** Aborts the signal at once, and resolves when the work has ended. */
  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#running;
  }
}

/** What a component gets to stop unless told otherwise, ms. */
const STOP_MS = 10_000;
/** What a component gets to stop although the deadline of all is over, ms. */
const LEAST_STOP_MS = 1_000;

interface Started {
  readonly name: string;
  readonly component: Component;
  readonly leastStopMs: number;
}

/** Starts components in order and stops them in reverse, each within a deadline. */
export class Lifecycle {
  readonly #started: Started[] = [];
  readonly #onStopError: (name: string, error: unknown) => void;
  #stopping: Promise<void> | undefined;

  /** `onStopError` is called for a component that failed to stop or took too long; the others are stopped anyway. */
  constructor(onStopError: (name: string, error: unknown) => void) {
    this.#onStopError = onStopError;
  }

  /**
   * Starts `component`; on a failure everything started before is stopped and the error is thrown. `leastStopMs`: time
   * that it always gets to stop. A component that works only after `stop` was called is stopped; throws closed then.
   */
  async start(name: string, component: Component, leastStopMs = LEAST_STOP_MS): Promise<void> {
    try {
      await component.start();
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#started.push({ name, component, leastStopMs });
    if (this.#stopping === undefined) return;
    await this.#stopping;
    await this.#stopAll(STOP_MS, Number.POSITIVE_INFINITY);
    throw new AppError("closed", `${name} was stopped when it had just started`);
  }

  /**
   * Stops in reverse order; each component has `deadlineMs`, and all of them together `totalMs`. Further calls wait for
   * the first.
   */
  stop(deadlineMs = STOP_MS, totalMs = Number.POSITIVE_INFINITY): Promise<void> {
    this.#stopping ??= this.#stopAll(deadlineMs, totalMs);
    return this.#stopping;
  }

  async #stopAll(deadlineMs: number, totalMs: number): Promise<void> {
    const end = performance.now() + totalMs;
    for (let entry = this.#started.pop(); entry !== undefined; entry = this.#started.pop()) {
      const ownMs = Math.max(entry.leastStopMs, Math.min(deadlineMs, end - performance.now()));
      try {
        await withDeadline(entry.component.stop(), ownMs, `stop of ${entry.name}`);
      } catch (error) {
        this.#onStopError(entry.name, error);
      }
    }
  }
}

/** Resolves like `promise`; throws `timeout` when `deadlineMs` pass first. */
export async function withDeadline<T>(promise: Promise<T>, deadlineMs: number, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new AppError("timeout", `${what} took longer than ${deadlineMs} ms`)),
    deadlineMs,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
