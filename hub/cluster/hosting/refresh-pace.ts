/**
 * Schedules refreshes of an index without an explicit interval. While it is searched it is refreshed once a second; a
 * search may bring the next refresh forward, as long as refreshing takes a small share of the time. While nobody
 * searches it, a refresh would only create small segments to merge: it waits for a commit, or for the next search.
 */

import type { RefreshInterval } from "#hub/cluster/catalog/refresh-interval.ts";

/** For this long after a search an index counts as searched. */
const SEARCHED_MS = 30_000;

/** Minimum time between two refreshes when a search requests the second. */
const LEAST_MS = 400;

/** That time must also be at least this many times the duration of the last refresh. */
const LEAST_SHARE = 40;

/** Schedule of one index. Times are monotonic, ms. */
export class RefreshPace {
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  #searchedAtMs = Number.NEGATIVE_INFINITY;

  /** Returns true if a refresh is due, for an index that is searched or is to be refreshed `anyway`. */
  isDue({ ms, isSet }: RefreshInterval, anyway: boolean, nowMs: number): boolean {
    // Checked first: the time since a refresh that never happened is infinite, too.
    if (ms === Number.POSITIVE_INFINITY || nowMs - this.#refreshedAtMs < ms) return false;
    return isSet || anyway || nowMs - this.#searchedAtMs < SEARCHED_MS;
  }

  /** Records a search; returns whether to refresh before it. */
  search({ isSet }: RefreshInterval, nowMs: number): boolean {
    this.#searchedAtMs = nowMs;
    return !isSet && nowMs - this.#refreshedAtMs >= Math.max(LEAST_MS, LEAST_SHARE * this.#tookMs);
  }

  /** Records a refresh that ended at `nowMs` and took `tookMs`. */
  refreshed(nowMs: number, tookMs: number): void {
    this.#refreshedAtMs = nowMs;
    this.#tookMs = tookMs;
  }
}
