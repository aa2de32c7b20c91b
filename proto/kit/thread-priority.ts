/**
 * The priority of threads. A thread that works in bulk gives way to the main thread, which answers requests: else it gets the
 * CPU only after the time slices of all others.
 */

import { getPriority, setPriority } from "node:os";

/**
 * How much nicer such a thread is. Linux gives it a third of the time of a normal thread that wants the same CPU. That is
 * enough for a thread that wakes up to go first, and little enough that other programs can't stop this one: with 19 it would
 * get a seventieth. A CPU that nobody else wants it has completely. All such threads have the same value, as each feeds the
 * next: documents would pile up before a thread that gets less than the one before it.
 */
const NICER = 5;
/** The largest nice value of Linux. */
const MAX_NICE = 19;

/**
 * Lowers the priority of the calling thread, for good; a second call lowers it further. Linux has a nice value for each
 * thread. Elsewhere it is the process's and stays as it is. Linux compares the values of threads in one session or control
 * group only, so what other services get doesn't change.
 */
export function lowerThreadPriority(): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, Math.min(MAX_NICE, getPriority(0) + NICER)); // 0: the calling thread, see setpriority(2)
  } catch {
    // A sandbox may forbid it; the thread then works as before.
  }
}
