/** When the hub is asked again after a page's call failed, and whether calls fail although the hub reports that it is ready. */

/** A restarting hub is back after about a second. All tabs of all users must not ask a failing one each second. */
const FIRST_WAIT_MS = 1_500;
const MAX_WAIT_MS = 60_000;
/** Calls that fail do so within 5 s: without one for this long the hub works again. */
const CALM_MS = 10_000;
/** So many misses in a row aren't those of a hub that was just restarted. */
const FAILING_MISSES = 3;

export class MissedCalls {
  /** Misses in a row. */
  #misses = 0;
  /** When the hub was last ready after a miss. */
  #backMs = Number.NEGATIVE_INFINITY;
  /** Whether a call has worked since the last miss. */
  #hasAnswered = false;

  /**
   * Records that a call failed. Returns how long to wait before the hub is asked, ms; more each time while calls keep
   * failing.
   */
  miss(nowMs: number): number {
    if (this.#isCalm(nowMs)) this.#misses = 0;
    this.#hasAnswered = false;
    const longestMs = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#misses++);
    // Tabs that missed the hub at once come back one by one.
    return (longestMs * (1 + Math.random())) / 2;
  }

  /** Records that the hub is ready, so that pages repeat their calls. */
  back(nowMs: number): void {
    this.#backMs = nowMs;
  }

  /** Records that a call has worked. Other calls may still fail: the waits grow on if the next one does soon. */
  answered(): void {
    this.#hasAnswered = true;
  }

  /** Returns whether calls fail again and again, although the hub reports that it is ready. */
  isFailing(nowMs: number): boolean {
    return this.#misses >= FAILING_MISSES && !this.#hasAnswered && !this.#isCalm(nowMs);
  }

  #isCalm(nowMs: number): boolean {
    return nowMs - this.#backMs > CALM_MS;
  }
}
