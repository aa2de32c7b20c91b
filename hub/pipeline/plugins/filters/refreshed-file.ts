/** A value computed from a file, and computed again when the file may have changed. Used by `cidr` and `translate`. */

import type { Clock } from "#proto/kit/clock.ts";
import { SECOND_MS } from "#proto/kit/units.ts";

/**
 * Returns a function that returns the newest value. `load` gets the value before and is called at once, which may throw,
 * and then every `intervalSeconds` at most, by the call that finds it due; 0: never again. When a later `load` throws
 * (the file is away, or half written), the value stays as it was until the next interval.
 */
export function refreshed<T>(
  clock: Pick<Clock, "monotonic">,
  intervalSeconds: number,
  load: (before: T | undefined) => T,
): () => T {
  let value = load(undefined);
  let loadedMs = clock.monotonic();
  return () => {
    if (intervalSeconds <= 0 || clock.monotonic() - loadedMs <= intervalSeconds * SECOND_MS) return value;
    loadedMs = clock.monotonic();
    try {
      value = load(value);
    } catch {
      // The event is filtered with the value before.
    }
    return value;
  };
}
