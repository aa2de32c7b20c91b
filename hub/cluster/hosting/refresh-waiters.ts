/** Callers that wait for the next refresh of indices. */

/** Waits for a refresh of each index in `pending`, by uuid. */
interface RefreshWaiter {
  readonly pending: Set<string>;
  readonly done: () => void;
}

export class RefreshWaiters {
  readonly #waiters = new Set<RefreshWaiter>();

  /** Resolves when each of `uuids` was refreshed or `signal` is aborted. */
  async wait(uuids: Iterable<string>, signal: AbortSignal): Promise<void> {
    const pending = new Set(uuids);
    if (pending.size === 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiter = { pending, done: resolve };
    const giveUp = (): void => resolve();
    this.#waiters.add(waiter);
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      await promise;
    } finally {
      this.#waiters.delete(waiter);
      signal.removeEventListener("abort", giveUp);
    }
  }

  /** Returns true if a caller waits for a refresh of the index. */
  has(uuid: string): boolean {
    for (const { pending } of this.#waiters) if (pending.has(uuid)) return true;
    return false;
  }

  /** Resolves waiters when an index was refreshed or is gone. */
  refreshed(uuid: string): void {
    for (const { pending, done } of this.#waiters) {
      if (pending.delete(uuid) && pending.size === 0) done();
    }
  }

  /** Resolves all waiters. */
  release(): void {
    for (const { done } of this.#waiters) done();
  }
}
