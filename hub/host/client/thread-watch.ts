/**
 * Decides from regular looks at a thread whether it is stuck: it had the processor and didn't answer. Where the machine is
 * overloaded, or the process stood still, a thread that answers late isn't to blame, and starting it again would cost more.
 */

/** Interval of the looks. */
export const WATCH_MS = 500;
/** Time for the answer to a call that was cancelled. */
const CANCEL_MS = 2_000;
/** Processor time in which a thread could have answered. It is known later, by up to the interval of looks. */
const CANCEL_CPU_MS = CANCEL_MS - 2 * WATCH_MS;
/** Turns of the thread's loop in which it could have answered. A thread that waits makes twenty in CANCEL_MS. */
const CANCEL_TURNS = 10;
/** Time for a turn of the thread's loop, and for one in which it waits for the disk. */
const TURN_LIMIT_MS = 30_000;
const COMMIT_LIMIT_MS = 120_000;

/** What a look finds. */
export interface ThreadState {
  /** Monotonic. */
  readonly nowMs: number;
  /** Processor time that the thread had used when it last said so. */
  readonly cpuMs: number;
  /** Turns of the thread's loop. */
  readonly turns: number;
  /** It may wait long for a slow disk. */
  readonly isCommitting: boolean;
  /** The call that was cancelled first and has no answer yet. */
  readonly overdue: { readonly operation: string; readonly cancelledMs: number } | undefined;
}

export class ThreadWatch {
  #last: Pick<ThreadState, "nowMs" | "turns"> | undefined;
  /** How long the thread has made no turn; a pause of the process counts as one look. */
  #stillMs = 0;
  /** What was found when the overdue call was first. */
  #since: ThreadState | undefined;

  /** Returns why the thread must be ended; undefined as long as it needn't. */
  look(state: ThreadState): string | undefined {
    const { nowMs, turns, isCommitting, overdue } = state;
    const last = this.#last ?? state;
    const passedMs = Math.min(nowMs - last.nowMs, 2 * WATCH_MS);
    this.#stillMs = turns === last.turns ? this.#stillMs + passedMs : 0;
    this.#last = state;
    if (overdue === undefined) this.#since = undefined;
    else if (overdue.cancelledMs !== this.#since?.overdue?.cancelledMs) this.#since = state;
    if (!isCommitting && this.#isIgnored(state))
      return `a ${overdue!.operation} did not end when it was cancelled`;
    if (this.#stillMs <= (isCommitting ? COMMIT_LIMIT_MS : TURN_LIMIT_MS)) return undefined;
    return `it did not react for ${Math.round(this.#stillMs / 1_000)} s`;
  }

  #isIgnored({ nowMs, cpuMs, turns, overdue }: ThreadState): boolean {
    const since = this.#since;
    if (since === undefined || overdue === undefined || nowMs - overdue.cancelledMs <= CANCEL_MS)
      return false;
    return turns - since.turns >= CANCEL_TURNS || cpuMs - since.cpuMs >= CANCEL_CPU_MS;
  }
}
