/**
 * Whether this thread has to wait for a processor: other threads of this machine have work too. It then gets less processor
 * time than it is busy.
 */

/** Least busy time between two measurements, ms. */
const BUSY_MS = 50;
/** Share of its busy time in which a thread that nobody disturbs runs. The rest goes to interrupts and helpers of the collector. */
const UNDISTURBED = 0.8;

/** Times of the thread since it began, ms. */
export interface ThreadTimes {
  /** With something to do, whether it ran or not. */
  readonly busyMs: number;
  /** On a processor. */
  readonly ranMs: number;
}

function ownTimes(): ThreadTimes {
  const { user, system } = process.threadCpuUsage();
  return { busyMs: performance.eventLoopUtilization().active, ranMs: (user + system) / 1_000 };
}

export class ThreadContention {
  readonly #times: () => ThreadTimes;
  #last: ThreadTimes;
  #isContended = false;

  constructor(times: () => ThreadTimes = ownTimes) {
    this.#times = times;
    this.#last = times();
  }

  /** True where the thread had to wait for more than a fifth of its busy time of late. */
  get isContended(): boolean {
    const times = this.#times();
    const busyMs = times.busyMs - this.#last.busyMs;
    if (busyMs < BUSY_MS) return this.#isContended;
    this.#isContended = (times.ranMs - this.#last.ranMs) / busyMs < UNDISTURBED;
    this.#last = times;
    return this.#isContended;
  }
}
