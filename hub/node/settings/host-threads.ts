/** The setting hub.threads. */

import { availableParallelism } from "node:os";

/** Returns the number of threads that host the shards; 0 means the machine's cores minus one. */
export function hostThreads(setting: number): number {
  return setting === 0 ? Math.max(1, availableParallelism() - 1) : setting;
}
