/** Whose merge it is to go on: one shard after the other, so that no more than one holds the thread and memory at a time. */

/** What can merge. */
export interface Merging {
  /** Does a slice of work (a few ms); true where there is more. */
  mergeStep(): boolean;
}

/** See the file's comment. */
export class MergeTurns<T extends Merging> {
  #current: T | undefined;

  /**
   * Gives the shard at hand a slice, or, where it has no more to do, the ones behind it until one has; returns true where
   * there is more. A shard whose merge throws passes its turn on.
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
