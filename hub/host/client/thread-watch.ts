/**
 * Decides from regular checks of a thread whether it is stuck: it had the processor and didn't answer. If the machine is
 * overloaded, or the process was paused, a late answer isn't the thread's fault, and a restart would cost more.
 */

/** Interval of the checks. */
export const WATCH_MS = 500;
/** Time for the answer to a call that was cancelled. */
const CANCEL_MS = 2_000;
/** Processor time in which a thread could have answered. It is known up to one interval of checks later. */
const CANCEL_CPU_MS = CANCEL_MS - 2 * WATCH_MS;
/** Turns of the thread's event loop in which it could have answered. An idle thread makes twenty in CANCEL_MS. */
const CANCEL_TURNS = 10;
/** Maximum time for a turn of the thread's event loop, and for one in which it waits for the disk or for a processor. */
const TURN_LIMIT_MS = 30_000;
const LONG_TURN_LIMIT_MS = 120_000;
/** A thread that got less processor time during TURN_LIMIT_MS, but some, waits for a processor. */
const TURN_CPU_MS = TURN_LIMIT_MS / 2;

/** The findings of a check. */
export interface ThreadState {
  /** Monotonic. */
  readonly nowMs: number;
  /** Processor time that the thread last reported. */
  readonly cpuMs: number;
  /** Turns of the thread's event loop. */
  readonly turns: number;
  /** True during a commit, which may wait long for a slow disk. */
  readonly isCommitting: boolean;
  /** The call that was cancelled first and has no answer yet. */
  readonly overdue: { readonly operation: string; readonly cancelledMs: number } | undefined;
}

export class ThreadWatch {
  #last: Pick<ThreadState, "nowMs" | "turns"> | undefined;
  /** Time since the thread's last turn; a pause of the process counts as one check. */
  #stillMs = 0;
  /** Processor time of the thread at its last turn. */
  #turnCpuMs = 0;
  /** The findings when the overdue call was first seen. */
  #since: ThreadState | undefined;

  /** Returns why the thread must be ended; undefined while it needn't. */
  look(state: ThreadState): string | undefined {
    const { nowMs, cpuMs, turns, isCommitting, overdue } = state;
    const last = this.#last ?? state;
    const passedMs = Math.min(nowMs - last.nowMs, 2 * WATCH_MS);
    this.#stillMs = turns === last.turns ? this.#stillMs + passedMs : 0;
    if (this.#stillMs === 0) this.#turnCpuMs = cpuMs;
    this.#last = state;
    if (overdue === undefined) this.#since = undefined;
    else if (overdue.cancelledMs !== this.#since?.overdue?.cancelledMs) this.#since = state;
    if (!isCommitting && this.#isIgnored(state))
      return `a ${overdue!.operation} did not end when it was cancelled`;
    const usedMs = cpuMs - this.#turnCpuMs;
    const mayTakeLong = isCommitting || (usedMs > 0 && usedMs < TURN_CPU_MS);
    if (this.#stillMs <= (mayTakeLong ? LONG_TURN_LIMIT_MS : TURN_LIMIT_MS)) return undefined;
    return `it did not react for ${Math.round(this.#stillMs / 1_000)} s`;
  }

  #isIgnored({ nowMs, cpuMs, turns, overdue }: ThreadState): boolean {
    const since = this.#since;
    if (since === undefined || overdue === undefined || nowMs - overdue.cancelledMs <= CANCEL_MS)
      return false;
    return turns - since.turns >= CANCEL_TURNS || cpuMs - since.cpuMs >= CANCEL_CPU_MS;
  }
}
