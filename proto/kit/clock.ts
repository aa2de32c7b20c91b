/** Time as a dependency, so that tests move it by hand. */

export interface Clock {
  /** Wall time, ms since 1970-01-01 UTC. */
  now(): number;
  /** Time that never jumps, ms. For waits, leases and ages. */
  monotonic(): number;
  /** Resolves after `ms`, or immediately when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep(ms, signal) {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener("abort", done, { once: true });
    });
  },
};
