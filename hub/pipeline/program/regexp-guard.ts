/** Runs what a regular expression may never end, with a limit in time. */

import { createContext, Script } from "node:vm";

/** What runs inside of a limit. A limit costs about 0.2 ms to set up: it is put around whole batches first. */
export class RegexpGuard {
  /** True: each expression runs within its own limit, to find the one that doesn't end. */
  careful = false;
  /** Called after an expression was stopped: the thread is slow, not dead. */
  readonly #onTimeout: () => void;
  #work: () => unknown = () => undefined;
  readonly #context = createContext({ run: (): unknown => this.#work() });
  readonly #script = new Script("run()");

  constructor(onTimeout: () => void = () => undefined) {
    this.#onTimeout = onTimeout;
  }

  /** Returns what `work` returns; throws RegexpTimeout where it takes longer than `timeoutMs`. */
  limited<T>(work: () => T, timeoutMs: number): T {
    this.#work = work;
    try {
      return this.#script.runInContext(this.#context, { timeout: timeoutMs }) as T;
    } catch (error) {
      if ((error as { code?: string }).code !== "ERR_SCRIPT_EXECUTION_TIMEOUT") throw error;
      this.#onTimeout();
      throw new RegexpTimeout(`not finished after ${timeoutMs} ms`);
    }
  }

  /** Returns the match, or null; in careful mode throws RegexpTimeout behind `timeoutMs` (0: no limit). */
  exec(expression: RegExp, subject: string, timeoutMs: number): RegExpExecArray | null {
    if (!this.careful || timeoutMs === 0) return expression.exec(subject);
    return this.limited(() => expression.exec(subject), timeoutMs);
  }
}

/** Work within a limit was stopped. */
export class RegexpTimeout extends Error {}
