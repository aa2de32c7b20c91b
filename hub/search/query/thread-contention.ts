/** Whether the machine has more work than processors, as the calling thread sees it. */

import { threadCpuMs, threadWaitMs } from "#proto/kit/process/thread-cpu.ts";

/** Least busy time between two measurements, ms. */
const BUSY_MS = 50;
/** Share of its busy time in which a thread that nobody disturbs runs. The rest goes to interrupts. */
const UNDISTURBED = 0.9;
/** Share of a turn of the event loop in which such a thread is busy. In the rest it waits for helpers of the collector. */
const BUSY_SHARE = 0.9;

/** Times of the thread since it began, ms. */
interface ThreadTimes {
  /** With something to do, whether it ran or not. */
  readonly busyMs: number;
  /** On a processor. */
  readonly ranMs: number;
}

/**
 * Returns true if this thread has to wait for a processor: it gets less processor time than it is busy because others have
 * work too.
 */
export class ThreadContention {
  readonly #times: () => ThreadTimes;
  #last: ThreadTimes;
  #isContended = false;

  constructor(times: () => ThreadTimes = ownTimes) {
    this.#times = times;
    this.#last = times();
  }

  /** True if the thread had to wait for more than a tenth of its busy time recently. */
  get isContended(): boolean {
    const times = this.#times();
    const busyMs = times.busyMs - this.#last.busyMs;
    if (busyMs < BUSY_MS) return this.#isContended;
    this.#isContended = (times.ranMs - this.#last.ranMs) / busyMs < UNDISTURBED;
    this.#last = times;
    return this.#isContended;
  }
}

/**
 * By the system's count of waits. The event loop's own, where there is no other, lacks those before the loop continues:
 * they are most of the waits of a thread that rests often.
 */
function ownTimes(): ThreadTimes {
  const ranMs = threadCpuMs();
  const waitedMs = threadWaitMs();
  if (waitedMs !== undefined) return { busyMs: ranMs + waitedMs, ranMs };
  return { busyMs: performance.eventLoopUtilization().active * BUSY_SHARE, ranMs };
}
