/**
 * When an index is refreshed that nobody has set an interval for. While it is searched, once a second; a search may bring
 * the next one forward, as long as refreshing takes a small part of the time. While nobody searches it, a refresh would
 * only make small segments that must be merged: it waits for a commit, or for the search that comes.
 */

import type { RefreshInterval } from "#hub/cluster/catalog/refresh-interval.ts";

/** So long after a search an index still counts as searched. */
const SEARCHED_MS = 30_000;

/** Least time between two refreshes, the second of which a search has asked for. */
const LEAST_MS = 400;

/** That time must be so many times what the last refresh took. */
const LEAST_SHARE = 40;

/** Of one index. Times are those of a monotonic clock, ms. */
export class RefreshPace {
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  #searchedAtMs = Number.NEGATIVE_INFINITY;

  /** Whether the time for a refresh has come, for an index that is searched, or is to be refreshed `anyway`. */
  isDue({ ms, isSet }: RefreshInterval, anyway: boolean, nowMs: number): boolean {
    // Told apart, as the time since a refresh that never was is infinite, too.
    if (ms === Number.POSITIVE_INFINITY || nowMs - this.#refreshedAtMs < ms) return false;
    return isSet || anyway || nowMs - this.#searchedAtMs < SEARCHED_MS;
  }

  /** A search comes; returns whether it should see what came since the last refresh. */
  search({ isSet }: RefreshInterval, nowMs: number): boolean {
    this.#searchedAtMs = nowMs;
    return !isSet && nowMs - this.#refreshedAtMs >= Math.max(LEAST_MS, LEAST_SHARE * this.#tookMs);
  }

  /** Notes a refresh that ended at `nowMs` and took `tookMs`. */
  refreshed(nowMs: number, tookMs: number): void {
    this.#refreshedAtMs = nowMs;
    this.#tookMs = tookMs;
  }
}
