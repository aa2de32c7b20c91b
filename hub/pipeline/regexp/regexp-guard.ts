/**
 * Runs regular expressions that may never end, with a time limit. A limit costs about 0.2 ms to set up, so it is put
 * around whole batches; an expression that hits the limit is suspect for a while, and then has its own limit for each
 * text, less the time already used. So an event on which an expression runs away delays other events by about that
 * expression's own limit, and not once more for each further event of the kind.
 */

import { type Context, createContext, Script } from "node:vm";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";

/** A batch takes milliseconds; one that takes this long may hold an expression that doesn't end. */
const BATCH_MS = 250;
/** And this many times as long as batches have lately taken. */
const USUAL_BATCHES = 4;
/** Share of the longest batch's duration that is remembered from one batch to the next. */
const REMEMBERED = 0.9;

/** An expression stays suspect for this long after it last ran away, and to the end of the current batch. */
const SUSPICION_MS = 2_000;
/** What a suspect expression gets for a text when its time is used up: many times what others take. */
const LEAST_MS = 20;
/** The same as a part of its limit. */
const LEAST_SHARE = 0.02;
/** Part of its limit in which an expression must have run to be given up. */
const WORKED_SHARE = 0.5;
/** So often is it begun at most where the processor was others'. */
const ATTEMPTS = 4;
/** Texts that are remembered as those on which an expression runs away. */
const MAX_RUNAWAY = 100;

/** An expression that ran away recently. */
interface Suspect {
  /** What its options say, ms; 0: never. */
  readonly timeoutMs: number;
  /** Taken by texts that were given up, ms. */
  spentMs: number;
  /** Monotonic. */
  untilMs: number;
  readonly runaway: Set<string>;
}

export class RegexpGuard {
  /** True: each expression runs within its own limit, and there is no limit around a batch. */
  isCareful: boolean;
  /** Called after an expression was stopped: the thread is slow, not dead. */
  readonly #onTimeout: () => void;
  readonly #suspects = new Map<object, Suspect>();
  /** Takes milliseconds to make; a guard that only compiles pipelines needs none. */
  #context: Context | undefined;
  readonly #script = new Script("run()");
  #work: () => unknown = () => undefined;
  /** What runs now, and since when. */
  #running: object | undefined;
  #runningSinceMs = 0;
  #runningLimitMs = 0;
  /** When the limit of the current batch ends, on the monotonic clock. */
  #batchEndMs = Number.POSITIVE_INFINITY;
  /** When the current batch, which may be repeated, began. */
  #batchSinceMs = Number.POSITIVE_INFINITY;
  #shortestMs = BATCH_MS;
  #usualMs = 0;

  constructor({ careful = false, onTimeout = () => undefined }: GuardOptions = {}) {
    this.isCareful = careful;
    this.#onTimeout = onTimeout;
  }

  /** Announces a limit that `exec` or `run` will be called with, so that batches aren't longer; 0: there is none. */
  expect(timeoutMs: number): void {
    if (timeoutMs > 0) this.#shortestMs = Math.min(this.#shortestMs, timeoutMs);
  }

  /**
   * Returns what `batch` returns. It is done again, from the start, where an expression in it ran away or where it took
   * unusually long; `leastMs` is what it is given at least.
   */
  runBatch<T>(batch: () => T, leastMs = this.#shortestMs): T {
    const startMs = performance.now();
    this.#batchSinceMs = startMs;
    try {
      const result = this.#attempt(batch, Math.max(leastMs, this.#usualMs * USUAL_BATCHES));
      const tookMs = performance.now() - startMs;
      if (this.#suspects.size === 0) this.#usualMs = Math.max(tookMs, this.#usualMs * REMEMBERED);
      return result;
    } finally {
      this.#batchSinceMs = Number.POSITIVE_INFINITY;
    }
  }

  /**
   * Returns what `batch`, which can't be done again, returns. Throws Error if it takes longer than `timeoutMs`: what it
   * changed is half done then. While the guard is careful there is no limit.
   */
  runOnce<T>(batch: () => T, timeoutMs: number): T {
    if (this.isCareful) return batch();
    try {
      return this.limited(batch, timeoutMs);
    } catch (error) {
      if (!(error instanceof RegexpTimeout)) throw error;
      throw new Error(
        `a batch was stopped after ${timeoutMs} ms, and the state of filters was partly changed`,
        {
          cause: error,
        },
      );
    }
  }

  /** Returns the match, or null. Throws RegexpTimeout if it takes longer than `timeoutMs` (0: no limit). */
  exec(expression: RegExp, subject: string, timeoutMs: number): RegExpExecArray | null {
    if (this.isCareful || this.#suspects.size > 0)
      return this.run(expression, subject, timeoutMs, () => expression.exec(subject));
    this.#begin(expression, timeoutMs);
    const match = expression.exec(subject);
    this.#running = undefined;
    return match;
  }

  /** Returns what `work` makes of `subject`; `expression` stands for it. Throws RegexpTimeout as `exec` does. */
  run<T>(expression: object, subject: string, timeoutMs: number, work: () => T): T {
    const suspect = this.#suspect(expression);
    const isLimited = timeoutMs > 0 && (this.isCareful || suspect !== undefined || this.#isBatchOver());
    if (suspect?.runaway.has(subject) === true && isLimited) throw new RegexpTimeout("ran away before");
    this.#begin(expression, timeoutMs);
    try {
      return isLimited ? this.#worked(work, limitOf({ spentMs: 0, ...suspect, timeoutMs })) : work();
    } catch (error) {
      if (error instanceof RegexpTimeout) this.#accuse(expression, subject);
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  /** Returns what `work` returns; throws RegexpTimeout where it takes longer than `timeoutMs`. */
  limited<T>(work: () => T, timeoutMs: number): T {
    this.#work = work;
    this.#context ??= createContext({ run: (): unknown => this.#work() });
    try {
      return this.#script.runInContext(this.#context, { timeout: Math.ceil(timeoutMs) }) as T;
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      this.#onTimeout();
      throw new RegexpTimeout(`not finished after ${Math.round(timeoutMs)} ms`);
    }
  }

  /** As `limited`; the time for which the thread had to wait for a processor doesn't count. */
  #worked<T>(work: () => T, timeoutMs: number): T {
    const workedMs = threadCpuMs();
    for (let attempt = 1; ; attempt++) {
      const startMs = performance.now();
      try {
        return this.limited(work, timeoutMs);
      } catch (error) {
        // What ended sooner was given up within the work.
        const isOver = error instanceof RegexpTimeout && performance.now() - startMs >= timeoutMs;
        if (!isOver || attempt === ATTEMPTS || threadCpuMs() - workedMs > timeoutMs * WORKED_SHARE)
          throw error;
      }
    }
  }

  /** What ran when a limit expired is suspect, unless it had just begun: then the batch itself is long. */
  #attempt<T>(batch: () => T, firstMs: number): T {
    for (let limitMs = firstMs; ; limitMs *= 2) {
      this.#running = undefined;
      const batchMs = limitMs + this.#suspectsMs();
      this.#batchEndMs = performance.now() + batchMs;
      try {
        return this.limited(batch, batchMs);
      } catch (error) {
        if (!(error instanceof RegexpTimeout)) throw error;
        const isRunaway = performance.now() - this.#runningSinceMs > limitMs / 2;
        if (this.#running !== undefined && isRunaway) this.#accuse(this.#running);
      } finally {
        this.#batchEndMs = Number.POSITIVE_INFINITY;
      }
    }
  }

  /** V8 stops once for two limits that end while the thread waits for a processor: the batch continues without its own. */
  #isBatchOver(): boolean {
    return performance.now() > this.#batchEndMs;
  }

  #accuse(expression: object, subject?: string): void {
    const nowMs = performance.now();
    const suspect = this.#suspects.get(expression) ?? {
      timeoutMs: this.#runningLimitMs,
      spentMs: 0,
      untilMs: 0,
      runaway: new Set(),
    };
    suspect.spentMs += nowMs - this.#runningSinceMs;
    suspect.untilMs = nowMs + SUSPICION_MS;
    if (subject !== undefined && suspect.runaway.size < MAX_RUNAWAY) suspect.runaway.add(subject);
    this.#suspects.set(expression, suspect);
  }

  #begin(expression: object, timeoutMs: number): void {
    this.#running = expression;
    this.#runningSinceMs = performance.now();
    this.#runningLimitMs = timeoutMs;
  }

  /** Forgets those that are so no more; returns the time that the others may take for one text each. */
  #suspectsMs(): number {
    let totalMs = 0;
    for (const [expression, suspect] of this.#suspects)
      if (this.#suspect(expression) !== undefined) totalMs += limitOf(suspect);
    return totalMs;
  }

  /** While one expression of a batch takes its limit, which may be longer, the suspicion of another one must not end. */
  #suspect(expression: object): Suspect | undefined {
    const suspect = this.#suspects.get(expression);
    const nowMs = Math.min(performance.now(), this.#batchSinceMs);
    if (suspect === undefined || nowMs < suspect.untilMs) return suspect;
    this.#suspects.delete(expression);
    return undefined;
  }
}

/** Returns what an expression gets for one text: what is left of its limit. */
function limitOf({ timeoutMs, spentMs }: Pick<Suspect, "timeoutMs" | "spentMs">): number {
  const leastMs = Math.max(LEAST_MS, timeoutMs * LEAST_SHARE);
  return Math.min(timeoutMs, Math.max(leastMs, timeoutMs - spentMs));
}

export interface GuardOptions {
  readonly careful?: boolean;
  /** Called after an expression was stopped: the thread is slow, not dead. */
  readonly onTimeout?: () => void;
}

/** Work within a limit was stopped. */
export class RegexpTimeout extends Error {}
