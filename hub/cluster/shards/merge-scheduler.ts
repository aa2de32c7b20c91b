/** Schedules merges round-robin: one shard at a time, so that only one merge occupies the thread and memory. */

/** A shard that can merge. */
export interface Merging {
  /** Does a slice of work (a few ms); true if there is more. */
  mergeStep(): boolean;
}

/** Chooses which shard merges next. */
export class MergeScheduler<T extends Merging> {
  #current: T | undefined;

  /**
   * Gives the current shard a slice or, if it has nothing to do, the shards after it until one has; returns true if
   * there is more. A shard whose merge throws loses its turn.
   */
  step(shards: readonly T[]): boolean {
    const first = Math.max(0, this.#current === undefined ? 0 : shards.indexOf(this.#current));
    for (let turn = 0; turn < shards.length; turn++) {
      const shard = shards[(first + turn) % shards.length]!;
      this.#current = shards[(first + turn + 1) % shards.length];
      if (!shard.mergeStep()) continue;
      this.#current = shard;
      return true;
    }
    return false;
  }
}
