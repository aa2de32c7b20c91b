/** Measures how long one piece of work occupies a thread, while other work of its event loop waits. */

import { monitorEventLoopDelay } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

/** Interval in which the event loop's delay is sampled. */
const RESOLUTION_MS = 10;
const NS_PER_S = 1e9;

/**
 * Exports how long the calling thread was held at most since the metrics were read last, as
 * `tailrace_<thread>_longest_turn_seconds`; of several threads the longest. Where two read the metrics, each sees a part.
 */
export function exportLongestTurn(metrics: Metrics, thread: "hub" | "host"): void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const help = "Longest time that one turn of the event loop took since the last read of the metrics.";
  metrics.maximum(`tailrace_${thread}_longest_turn_seconds`, help, () => {
    // The interval of the samples is part of what is measured. Without a sample the maximum is 0.
    const seconds = Math.max(0, delay.max / NS_PER_S - RESOLUTION_MS / 1_000);
    delay.reset();
    return seconds;
  });
}
