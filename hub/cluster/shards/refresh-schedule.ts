/**
 * When indices are refreshed. An index with an interval is refreshed at that interval. One without is refreshed once a
 * second while it is searched; a search may bring the next refresh forward, as long as refreshing takes a
 * small share of the time. An index that isn't searched waits for a commit or for the next search: a refresh would only
 * create small segments to merge.
 */

import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import { parseDuration } from "#proto/kit/units.ts";

/** An index counts as searched for this long after a search. */
const SEARCHED_MS = 30_000;

/** Minimum time between two refreshes when a search requests the second. */
const LEAST_MS = 400;

/** That time must also be at least this many times the duration of the last refresh. */
const LEAST_SHARE = 40;

/** Schedule of one index. Times are monotonic, ms. */
export class RefreshSchedule {
  #refreshedAtMs = Number.NEGATIVE_INFINITY;
  #tookMs = 0;
  #searchedAtMs = Number.NEGATIVE_INFINITY;

  /** Returns true if a refresh is due: the index is searched, or `anyway` is set. */
  isDue({ ms, isSet }: RefreshInterval, anyway: boolean, nowMs: number): boolean {
    // Checked first: without an earlier refresh, the time since the last one is infinite, too.
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

const DEFAULT_REFRESH_MS = 1_000;
const MIN_REFRESH_MS = 10;

export interface RefreshInterval {
  /** Infinity without automatic refresh. */
  readonly ms: number;
  /** Set explicitly: the interval is followed exactly. */
  readonly isSet: boolean;
}

const DEFAULT: RefreshInterval = { ms: DEFAULT_REFRESH_MS, isSet: false };

/** Returns the setting `refresh_interval` of an index. */
export function refreshInterval(index: IndexMetadata | undefined): RefreshInterval {
  const value = index?.settings.raw["refresh_interval"];
  if (typeof value !== "string" && typeof value !== "number") return DEFAULT;
  if (Number(value) === -1) return { ms: Number.POSITIVE_INFINITY, isSet: true };
  try {
    return { ms: Math.max(parseDuration(`${value}`), MIN_REFRESH_MS), isSet: true };
  } catch {
    return DEFAULT;
  }
}
