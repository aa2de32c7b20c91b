/** How many shards the searches under way have collected here, by the name that the caller gave the search. */

/** Searches that are counted at a time; the oldest makes way. Callers have a lower limit of their own. */
const MAX_COUNTED = 1_000;

export class SearchProgress {
  readonly #done = new Map<string, number>();

  /** A shard of a search was collected. */
  note(id: string): void {
    this.#done.set(id, this.of(id) + 1);
    const [oldest] = this.#done.keys();
    if (this.#done.size > MAX_COUNTED && oldest !== undefined) this.#done.delete(oldest);
  }

  /** Returns the shards that a search has collected. */
  of(id: string): number {
    return this.#done.get(id) ?? 0;
  }

  forget(ids: readonly string[]): void {
    for (const id of ids) this.#done.delete(id);
  }
}
