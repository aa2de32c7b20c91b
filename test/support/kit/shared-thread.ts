/** For tests of long work that lets others have its thread. */

import assert from "node:assert/strict";

/** Work may use the thread for so long at a time on average, ms: some slices, as a step may take longer than one. */
const MOST_KEPT_MS = 30;

/**
 * Asserts that others get the thread again and again until `work` is done, as often as the CPU time that it takes on this
 * machine asks for. `name` says which work it was.
 */
export async function assertSharesThread(work: () => Promise<void>, name = "the work"): Promise<void> {
  let turns = 0;
  let pending = setImmediate(function next() {
    turns++;
    pending = setImmediate(next);
  });
  // Not by a clock: a thread that waits for a CPU has no turns either, and keeps nobody waiting.
  const start = process.threadCpuUsage();
  try {
    await work();
  } finally {
    clearImmediate(pending);
  }
  const { user, system } = process.threadCpuUsage(start);
  const usedMs = (user + system) / 1_000;
  assert.ok(
    turns >= Math.max(1, usedMs / MOST_KEPT_MS),
    `${name} had ${turns} turns in ${usedMs} ms of CPU time`,
  );
}
