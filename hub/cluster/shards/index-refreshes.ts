/** The refreshes of the indices at this hub: those that are due, those on request, and the callers that wait for one. */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { TimeSlices } from "#proto/kit/time-slices.ts";
import type { HostedCatalog, ShardNumbers } from "./contract.ts";
import { beginSlice } from "./host-progress.ts";
import type { HostedIndex, HostedIndices } from "./hosted-index.ts";
import { type RefreshInterval, refreshInterval } from "./refresh-schedule.ts";

export interface IndexRefreshesOptions {
  readonly catalog: Pick<HostedCatalog, "byUuid">;
  readonly hosted: HostedIndices;
  readonly clock: Clock;
}

export class IndexRefreshes {
  readonly #options: IndexRefreshesOptions;
  readonly #waiters = new RefreshWaiters();

  constructor(options: IndexRefreshesOptions) {
    this.#options = options;
  }

  /** Returns the interval of an index; the default if the catalog doesn't have it. */
  interval(uuid: string): RefreshInterval {
    return refreshInterval(this.#options.catalog.byUuid(uuid));
  }

  /** Refreshes indices that are due, for one slice. Returns whether there may be more. */
  due(): boolean {
    const { hosted, clock } = this.#options;
    this.#waiters.forget((uuid) => !hosted.has(uuid));
    const isDue = (uuid: string, index: HostedIndex): boolean =>
      index.isRefreshDue(this.interval(uuid), this.#waiters.has(uuid));
    return hosted.refreshDue(isDue, (uuid) => this.#waiters.refreshed(uuid), beginSlice(clock));
  }

  /** Refreshes indices now, in slices; of those in `only` these shards. */
  async now(indices: readonly IndexMetadata[], only?: ShardNumbers): Promise<void> {
    const slices = new TimeSlices();
    for (const { uuid } of indices) {
      if (slices.isDue) await slices.pause();
      const numbers = only?.get(uuid);
      this.#options.hosted.get(uuid)?.refresh(numbers);
      if (numbers === undefined) this.#waiters.refreshed(uuid);
    }
  }

  /**
   * Resolves when each index had a refresh that began after the call, has no shards here any more, or `signal` is aborted.
   * Indices without automatic refresh are refreshed at once.
   */
  async next(given: readonly IndexMetadata[], signal: AbortSignal): Promise<void> {
    const never = ({ uuid }: IndexMetadata): boolean => this.interval(uuid).ms === Number.POSITIVE_INFINITY;
    await this.now(given.filter(never));
    // Some may be gone by now.
    const others = given.filter((index) => this.#options.hosted.has(index.uuid) && !never(index));
    await this.#waiters.wait(
      others.map(({ uuid }) => uuid),
      signal,
    );
  }

  /** Resolves all callers that wait. */
  release(): void {
    this.#waiters.release();
  }
}

/** Waits for a refresh of each index in `pending`, by uuid. */
interface RefreshWaiter {
  readonly pending: Set<string>;
  readonly done: () => void;
}

class RefreshWaiters {
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

  /** Resolves waiters of indices that are gone, or whose shards have moved away. */
  forget(isGone: (uuid: string) => boolean): void {
    const gone = [...this.#waiters].flatMap(({ pending }) => [...pending].filter(isGone));
    for (const uuid of gone) this.refreshed(uuid);
  }

  /** Resolves waiters when an index was refreshed. */
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
