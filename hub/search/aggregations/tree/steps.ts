/** Work in steps: the thread serves other work between two steps. */

import type { SearchControl } from "#hub/search/query/search-control.ts";

/** Pauses may be made where it yields; none of its steps takes longer than a millisecond or so. */
export type Steps<T> = Generator<void, T>;

/**
 * Runs steps to their end, with pauses; a step that yields "waits" goes on in another turn. Throws cancelled, memory_limit;
 * the steps are ended then, so that they give back what they hold.
 */
export async function withPauses<T>(
  steps: Steps<T> | Generator<undefined | "waits", T>,
  control: SearchControl,
): Promise<T> {
  try {
    for (;;) {
      const { done, value } = steps.next();
      if (done === true) return value;
      if (value === "waits" || control.isDue) await control.pause();
    }
  } finally {
    steps.return(undefined as never);
  }
}

/** Runs steps to their end. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}
