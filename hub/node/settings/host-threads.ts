/** The setting hub.threads. */

import { availableParallelism } from "node:os";

/** Returns how many threads host the shards; 0 means one less than the machine has cores. */
export function hostThreads(setting: number): number {
  return setting === 0 ? Math.max(1, availableParallelism() - 1) : setting;
}
