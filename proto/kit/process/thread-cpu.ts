/** Processor time of the calling thread: unlike the clock, it doesn't count while the thread waits for a processor. */

import { readFileSync } from "node:fs";

/** What Linux counts of the calling thread: nanoseconds that it ran and that it waited for a processor, and how often it ran. */
const COUNTS = "/proc/thread-self/schedstat";
const NS_PER_MS = 1e6;

/** Returns the processor time that this thread has used since it began, ms. */
export function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}

/**
 * Returns how long this thread has waited for a processor since it began although it had something to do, ms; also after it
 * was woken up. Undefined where the system doesn't count that. `counts`: the file with the counts, for tests.
 */
export function threadWaitMs(counts = COUNTS): number | undefined {
  try {
    const [ranNs, waitedNs] = readFileSync(counts, "latin1").split(" ").map(Number);
    // A kernel that doesn't count has 0 for all three.
    return ranNs === 0 || waitedNs === undefined ? undefined : waitedNs / NS_PER_MS;
  } catch {
    return undefined;
  }
}
